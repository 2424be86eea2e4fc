# made by `make stubs`
from plurivox.simulate._contract import *
from plurivox.simulate._contract import methods as methods
from plurivox.simulate.hammer_spammer import HammerSpammer as HammerSpammer
from plurivox.simulate.independent_confusion import IndependentConfusion as IndependentConfusion
