# made by `make stubs`
from plurivox.charts._contract import *
from plurivox.charts._contract import methods as methods
from plurivox.charts.workload import Workload as Workload
