# made by `make stubs`
from plurivox.train.heads._contract import *
from plurivox.train.heads._contract import methods as methods
from plurivox.train.heads.two_heads import TwoHeads as TwoHeads
