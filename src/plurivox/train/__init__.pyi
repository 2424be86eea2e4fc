# made by `make stubs`
from plurivox.train import attacks as attacks
from plurivox.train import heads as heads
from plurivox.train import losses as losses
from plurivox.train import nets as nets
from plurivox.train import targets as targets
from plurivox.train.data import decode_images as _decode_images
from plurivox.train.data import image_augmentation as _image_augmentation
from plurivox.train.data import splits as splits
from plurivox.train.data import text_encoding as _text_encoding
from plurivox.train.em.crowdlab_from_predictions import crowdlab as crowdlab
from plurivox.train.em.raykar_em import raykar_em as raykar_em
from plurivox.train.fit_net import fit as fit
from plurivox.train.net_as_sklearn_estimator import CrowdClassifier as CrowdClassifier
from plurivox.train.targets._contract import Known as Known
from plurivox.train.targets._contract import Supervision as Supervision
from plurivox.train.trained_net import Trained as Trained
from plurivox.train.training_hyperparameters import Plan as Plan

images = _decode_images
augment = _image_augmentation
text = _text_encoding
EXPORTS: dict[str, str]
