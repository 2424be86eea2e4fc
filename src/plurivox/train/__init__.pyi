# made by `make stubs`
from plurivox.train import attacks as attacks
from plurivox.train import augment as augment
from plurivox.train import heads as heads
from plurivox.train import images as images
from plurivox.train import losses as losses
from plurivox.train import nets as nets
from plurivox.train import splits as splits
from plurivox.train import targets as targets
from plurivox.train import text as text
from plurivox.train.classifying import raykar_em as raykar_em
from plurivox.train.consensus import crowdlab as crowdlab
from plurivox.train.estimator import CrowdClassifier as CrowdClassifier
from plurivox.train.fitting import fit as fit
from plurivox.train.plan import Plan as Plan
from plurivox.train.targets._contract import Known as Known
from plurivox.train.trained import Trained as Trained

HOMES: dict[str, str]
