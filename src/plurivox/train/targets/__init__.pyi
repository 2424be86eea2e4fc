# made by `make stubs`
from plurivox.train.targets._contract import *
from plurivox.train.targets._contract import methods as methods
from plurivox.train.targets.all_votes import AllVotes as AllVotes
from plurivox.train.targets.de_aggregated import DeAggregated as DeAggregated
from plurivox.train.targets.gold import Gold as Gold
from plurivox.train.targets.majority import Majority as Majority
from plurivox.train.targets.mixed import Mixed as Mixed
from plurivox.train.targets.pair import Pair as Pair
from plurivox.train.targets.random import Random as Random
from plurivox.train.targets.repeated_labelling import RepeatedLabelling as RepeatedLabelling
from plurivox.train.targets.smoothed import Smoothed as Smoothed
from plurivox.train.targets.soft import Soft as Soft
from plurivox.train.targets.uniform import Uniform as Uniform
