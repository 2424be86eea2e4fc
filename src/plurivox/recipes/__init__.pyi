# made by `make stubs`
from plurivox.recipes._contract import *
from plurivox.recipes._contract import methods as methods
from plurivox.recipes.active_labelling import ActiveLabelling as ActiveLabelling
from plurivox.recipes.aum import Aum as Aum
from plurivox.recipes.cifar10s import Cifar10s as Cifar10s
from plurivox.recipes.fornaciari2021 import Fornaciari2021 as Fornaciari2021
from plurivox.recipes.labelme import Labelme as Labelme
from plurivox.recipes.peerannot_tables import PeerannotTables as PeerannotTables
from plurivox.recipes.prune_and_compare import PruneAndCompare as PruneAndCompare
from plurivox.recipes.prune_and_train import PruneAndTrain as PruneAndTrain
from plurivox.recipes.rankings import Rankings as Rankings
from plurivox.recipes.report_cards import ReportCards as ReportCards
from plurivox.recipes.waum import Waum as Waum
from plurivox.recipes.waum_per_worker import WaumPerWorker as WaumPerWorker
from plurivox.workflows.answer_cost_in_seconds import Curve as Curve
from plurivox.workflows.answer_cost_in_seconds import break_even as break_even
from plurivox.workflows.answer_cost_in_seconds import curve as curve
from plurivox.workflows.answer_cost_in_seconds import seconds_per_answer as seconds_per_answer
from plurivox.workflows.choose_option_value import Choice as Choice
from plurivox.workflows.choose_option_value import choose as choose
from plurivox.workflows.compare_aggregators import Comparison as Comparison
from plurivox.workflows.compare_aggregators import compare as compare

EXPORTS: dict[str, str]
