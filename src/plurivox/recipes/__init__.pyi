# made by `make stubs`
from plurivox.recipes._contract import *
from plurivox.recipes._contract import methods as methods
from plurivox.recipes.ask_next import AskNext as AskNext
from plurivox.recipes.peerannot_tables import PeerannotTables as PeerannotTables
from plurivox.recipes._comparing import Comparison as Comparison
from plurivox.recipes._comparing import compare as compare

HOMES: dict[str, str]
