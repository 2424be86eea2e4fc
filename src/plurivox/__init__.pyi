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
from plurivox.core.answers import Answers as Answers
from plurivox.core.audit import Audit as Audit
from plurivox.core.errors import PlurivoxError as PlurivoxError
from plurivox.core.errors import PlurivoxWarning as PlurivoxWarning
from plurivox.core.labels import SoftLabels as SoftLabels
from plurivox.core.results import Confusion as Confusion
from plurivox.core.results import Dynamics as Dynamics
from plurivox.core.results import Fit as Fit
from plurivox.core.results import Scores as Scores
from plurivox.core.sampling import subsample as subsample
from plurivox.core.votes import Votes as Votes
from plurivox.evaluate.describe import describe as describe
from plurivox.io.dataset import Dataset as Dataset
from plurivox.io.entered import answers as answers
from plurivox.io.frames import counts as counts
from plurivox.io.frames import votes as votes
from plurivox.io.reading import read as read
from plurivox.io.soft import read_soft as read_soft
from plurivox.io.soft import write_soft as write_soft
from plurivox.io.writing import write as write
from plurivox.recipes._cleaning import clean_set as clean_set
from plurivox.recipes._doing import fit as fit
from plurivox.recipes._doing import load as load
from plurivox.recipes._doing import simulate_crowd as simulate_crowd
from plurivox.recipes._doing import write_crowd as write_crowd
from plurivox.recipes._eliciting import elicit_votes as elicit_votes
from plurivox.recipes._eliciting import write_elicited as write_elicited
from plurivox.recipes._pruning import prune as prune
from plurivox.recipes._scoring import rank as rank
from plurivox.recipes._scoring import score as score

HOMES: dict[str, str]
__version__: str
