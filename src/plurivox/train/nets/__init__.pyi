# made by `make stubs`
from plurivox.train.nets._contract import *
from plurivox.train.nets._contract import methods as methods
from plurivox.train.nets.cifar_resnet import CifarResNet as CifarResNet
from plurivox.train.nets.labelme_head import LabelMeHead as LabelMeHead
from plurivox.train.nets.linear import Linear as Linear
from plurivox.train.nets.mlp import MLP as MLP
from plurivox.train.nets.resnet50 import ResNet50 as ResNet50
from plurivox.train.nets.stem_cnn import StemCNN as StemCNN
from plurivox.train.nets.tagger import Tagger as Tagger
from plurivox.train.nets.vgg11 import VGG11 as VGG11
from plurivox.train.nets.vgg16 import VGG16 as VGG16
