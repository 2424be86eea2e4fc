# made by `make stubs`
from plurivox.charts._contract import *
from plurivox.charts._contract import methods as methods
from plurivox.charts.agreement import Agreement as Agreement
from plurivox.charts.certainty import Certainty as Certainty
from plurivox.charts.comparison import Comparison as Comparison
from plurivox.charts.confusion import Confusion as Confusion
from plurivox.charts.curve import Curve as Curve
from plurivox.charts.hardest import Hardest as Hardest
from plurivox.charts.label_shift import LabelShift as LabelShift
from plurivox.charts.labels import Labels as Labels
from plurivox.charts.posterior import Posterior as Posterior
from plurivox.charts.reliability import Reliability as Reliability
from plurivox.charts.task_votes import TaskVotes as TaskVotes
from plurivox.charts.training import Training as Training
from plurivox.charts.votes_per_task import VotesPerTask as VotesPerTask
from plurivox.charts.worker_scores import WorkerScores as WorkerScores
from plurivox.charts.workload import Workload as Workload
