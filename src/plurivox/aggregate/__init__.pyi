# made by `make stubs`
from plurivox.aggregate._contract import *
from plurivox.aggregate._contract import methods as methods
from plurivox.aggregate.majority_vote import MajorityVote as MajorityVote
from plurivox.aggregate.vote_shares import VoteShares as VoteShares
