# made by `make stubs`
from plurivox.clean._contract import *
from plurivox.clean._contract import methods as methods
from plurivox.clean.attention_checks import AttentionChecks as AttentionChecks
from plurivox.clean.collins2022 import Collins2022 as Collins2022
from plurivox.clean.collins2022_released import Collins2022Released as Collins2022Released
from plurivox.clean.contradiction import Contradiction as Contradiction
from plurivox.clean.errors_and_low_accuracy import ErrorsAndLowAccuracy as ErrorsAndLowAccuracy
from plurivox.clean.inconsistent_repeats import InconsistentRepeats as InconsistentRepeats
from plurivox.clean.listed_workers import ListedWorkers as ListedWorkers
from plurivox.clean.missing_percent import MissingPercent as MissingPercent
from plurivox.clean.percent_out_of_range import PercentOutOfRange as PercentOutOfRange
from plurivox.clean.repeats_once import RepeatsOnce as RepeatsOnce
from plurivox.clean.stored_twice import StoredTwice as StoredTwice
from plurivox.clean.straight_lining import StraightLining as StraightLining
from plurivox.clean.too_fast import TooFast as TooFast
from plurivox.clean.unmarked_repeats import UnmarkedRepeats as UnmarkedRepeats
