# made by `make stubs`
from plurivox.aggregate._contract import *
from plurivox.aggregate._contract import methods as methods
from plurivox.aggregate.dirichlet_shares import DirichletShares as DirichletShares
from plurivox.aggregate.iwmv import IWMV as IWMV
from plurivox.aggregate.majority_vote import MajorityVote as MajorityVote
from plurivox.aggregate.plantnet import PlantNet as PlantNet
from plurivox.aggregate.softmax_shares import SoftmaxShares as SoftmaxShares
from plurivox.aggregate.two_third import TwoThird as TwoThird
from plurivox.aggregate.vote_shares import VoteShares as VoteShares
from plurivox.aggregate.wawa import Wawa as Wawa
from plurivox.aggregate.zero_based_skill import ZeroBasedSkill as ZeroBasedSkill
