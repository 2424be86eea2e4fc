# made by `make stubs`
from plurivox.recipes._contract import *
from plurivox.recipes._contract import methods as methods
from plurivox.recipes.ask_next import AskNext as AskNext
from plurivox.recipes.cifar10s import Cifar10s as Cifar10s
from plurivox.recipes.peerannot_tables import PeerannotTables as PeerannotTables
from plurivox.recipes.prune_and_compare import PruneAndCompare as PruneAndCompare
from plurivox.recipes.rankings import Rankings as Rankings
from plurivox.recipes._comparing import Comparison as Comparison
from plurivox.recipes._comparing import compare as compare

HOMES: dict[str, str]
