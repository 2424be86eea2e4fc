# made by `make stubs`
from plurivox.identify._contract import *
from plurivox.identify._contract import methods as methods
from plurivox.identify.aum import Aum as Aum
from plurivox.identify.disagreement import Disagreement as Disagreement
from plurivox.identify.entropy import Entropy as Entropy
from plurivox.identify.glad_difficulty import GladDifficulty as GladDifficulty
from plurivox.identify.kurtosis import Kurtosis as Kurtosis
from plurivox.identify.label_quality import LabelQuality as LabelQuality
from plurivox.identify.method_distance import MethodDistance as MethodDistance
from plurivox.identify.posterior_entropy import PosteriorEntropy as PosteriorEntropy
from plurivox.identify.waum import Waum as Waum
from plurivox.identify.waum_per_worker import WaumPerWorker as WaumPerWorker
