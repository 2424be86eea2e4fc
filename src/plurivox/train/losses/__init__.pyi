# made by `make stubs`
from plurivox.train.losses._contract import *
from plurivox.train.losses._contract import methods as methods
from plurivox.train.losses.inverse_kl import InverseKL as InverseKL
from plurivox.train.losses.jensen_shannon import JensenShannon as JensenShannon
from plurivox.train.losses.kl import KL as KL
from plurivox.train.losses.mse import MSE as MSE
from plurivox.train.losses.soft_cross_entropy import SoftCrossEntropy as SoftCrossEntropy
