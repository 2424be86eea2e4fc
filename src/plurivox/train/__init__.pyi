# made by `make stubs`
from plurivox.train import attacks as attacks
from plurivox.train import heads as heads
from plurivox.train import losses as losses
from plurivox.train import nets as nets
from plurivox.train import targets as targets
from plurivox.train.data import augment as augment
from plurivox.train.data import images as images
from plurivox.train.data import splits as splits
from plurivox.train.data import text as text
from plurivox.train.em.crowdlab import crowdlab as crowdlab
from plurivox.train.em.raykar_em import raykar_em as raykar_em
from plurivox.train.estimator import CrowdClassifier as CrowdClassifier
from plurivox.train.fit_net import fit as fit
from plurivox.train.plan import Plan as Plan
from plurivox.train.result import Trained as Trained
from plurivox.train.targets._contract import Known as Known
from plurivox.train.targets._contract import Supervision as Supervision

EXPORTS: dict[str, str]
