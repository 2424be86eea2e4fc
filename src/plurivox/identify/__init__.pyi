# made by `make stubs`
from plurivox.identify._contract import *
from plurivox.identify._contract import methods as methods
from plurivox.identify.disagreement import Disagreement as Disagreement
