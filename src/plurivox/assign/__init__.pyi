# made by `make stubs`
from plurivox.assign._contract import *
from plurivox.assign._contract import methods as methods
from plurivox.assign.next_best import NextBest as NextBest
