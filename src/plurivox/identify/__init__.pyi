# made by `make stubs`
from plurivox.identify._contract import *
from plurivox.identify._contract import methods as methods
from plurivox.identify.disagreement import Disagreement as Disagreement
from plurivox.identify.entropy import Entropy as Entropy
from plurivox.identify.glad_difficulty import GladDifficulty as GladDifficulty
from plurivox.identify.posterior_entropy import PosteriorEntropy as PosteriorEntropy
