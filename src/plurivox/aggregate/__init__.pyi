# made by `make stubs`
from plurivox.aggregate._contract import *
from plurivox.aggregate._contract import methods as methods
from plurivox.aggregate.average import Average as Average
from plurivox.aggregate.calibrated_shares import CalibratedShares as CalibratedShares
from plurivox.aggregate.dawid_skene import DawidSkene as DawidSkene
from plurivox.aggregate.dawid_skene_clusters import DawidSkeneClusters as DawidSkeneClusters
from plurivox.aggregate.dirichlet_shares import DirichletShares as DirichletShares
from plurivox.aggregate.ebcc import Ebcc as Ebcc
from plurivox.aggregate.fast_dawid_skene import FastDawidSkene as FastDawidSkene
from plurivox.aggregate.glad import Glad as Glad
from plurivox.aggregate.ibcc import Ibcc as Ibcc
from plurivox.aggregate.iwmv import IWMV as IWMV
from plurivox.aggregate.log_pool import LogPool as LogPool
from plurivox.aggregate.mace import Mace as Mace
from plurivox.aggregate.majority_vote import MajorityVote as MajorityVote
from plurivox.aggregate.one_coin import OneCoin as OneCoin
from plurivox.aggregate.plantnet import PlantNet as PlantNet
from plurivox.aggregate.softmax_shares import SoftmaxShares as SoftmaxShares
from plurivox.aggregate.temperature import Temperature as Temperature
from plurivox.aggregate.two_third import TwoThird as TwoThird
from plurivox.aggregate.vote_shares import VoteShares as VoteShares
from plurivox.aggregate.wawa import Wawa as Wawa
from plurivox.aggregate.weighted_dawid_skene import WeightedDawidSkene as WeightedDawidSkene
from plurivox.aggregate.zero_based_skill import ZeroBasedSkill as ZeroBasedSkill
