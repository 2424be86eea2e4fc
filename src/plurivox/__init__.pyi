# made by `make stubs`
from plurivox import aggregate as aggregate
from plurivox import assign as assign
from plurivox import clean as clean
from plurivox import core as core
from plurivox import elicit as elicit
from plurivox import engine as engine
from plurivox import evaluate as evaluate
from plurivox import identify as identify
from plurivox import io as io
from plurivox import recipes as recipes
from plurivox import simulate as simulate
from plurivox import train as train
from plurivox import workflows as workflows
from plurivox.core.answers import Answers as Answers
from plurivox.core.audit import Audit as Audit
from plurivox.core.errors import PlurivoxError as PlurivoxError
from plurivox.core.errors import PlurivoxWarning as PlurivoxWarning
from plurivox.core.results import Confusion as Confusion
from plurivox.core.results import Dynamics as Dynamics
from plurivox.core.results import Fit as Fit
from plurivox.core.results import Scores as Scores
from plurivox.core.sampling import subsample as subsample
from plurivox.core.soft_labels import SoftLabels as SoftLabels
from plurivox.core.votes import Votes as Votes
from plurivox.evaluate.describe import describe as describe
from plurivox.io.answer_frames import answers as answers
from plurivox.io.dataset import Dataset as Dataset
from plurivox.io.dataset_reader import read as read
from plurivox.io.folder_writer import write as write
from plurivox.io.frames import counts as counts
from plurivox.io.frames import votes as votes
from plurivox.io.soft_files import read_soft as read_soft
from plurivox.io.soft_files import write_soft as write_soft
from plurivox.workflows.api import fit as fit
from plurivox.workflows.api import load as load
from plurivox.workflows.api import simulate_crowd as simulate_crowd
from plurivox.workflows.api import write_crowd as write_crowd
from plurivox.workflows.clean import clean_set as clean_set
from plurivox.workflows.elicit import elicit_votes as elicit_votes
from plurivox.workflows.elicit import write_elicited as write_elicited
from plurivox.workflows.prune_crowd import prune as prune
from plurivox.workflows.score_crowd import rank as rank
from plurivox.workflows.score_crowd import score as score

HOMES: dict[str, str]
__version__: str
