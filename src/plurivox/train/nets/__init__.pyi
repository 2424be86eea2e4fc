# made by `make stubs`
from plurivox.train.nets._contract import *
from plurivox.train.nets._contract import methods as methods
