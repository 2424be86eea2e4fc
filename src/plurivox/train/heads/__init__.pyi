# made by `make stubs`
from plurivox.train.heads._contract import *
from plurivox.train.heads._contract import methods as methods
from plurivox.train.heads.annot_mix import AnnotMix as AnnotMix
from plurivox.train.heads.conal import CoNAL as CoNAL
from plurivox.train.heads.crowd_layer import CrowdLayer as CrowdLayer
from plurivox.train.heads.geo_crowd_net import GeoCrowdNet as GeoCrowdNet
from plurivox.train.heads.raykar import Raykar as Raykar
from plurivox.train.heads.trace_regularised import TraceRegularised as TraceRegularised
from plurivox.train.heads.two_heads import TwoHeads as TwoHeads
from plurivox.train.heads.union_net import UnionNet as UnionNet
