"""Numbers of weights of the nets against published ones; nothing is allocated."""

import pytest
import torch
from torch import nn

from plurivox.train import nets
from plurivox.train.nets._shared.vgg_layers import VGG16, make_vgg_convolutions_and_poolings


def size(spec: str, shape: tuple[int, ...], n_labels: int) -> int:
    with torch.device("meta"):
        net = nets.methods.make(spec).build(shape, n_labels)
    return weights_in(net)


def weights_in(net: nn.Module) -> int:
    return sum(one.numel() for one in net.parameters())


@pytest.mark.parametrize(("n", "millions"), [(3, 0.27), (5, 0.46), (7, 0.66), (9, 0.85)])
def test_cifar_resnets_of_he_et_al(n: int, millions: float) -> None:
    assert round(size(f"cifar-resnet[n={n},conv-bias=no]", (3, 32, 32), 10) / 1e6, 2) == millions


def test_the_papers_resnet_34a_is_resnet_44_with_biases() -> None:
    biases = 16 + 14 * (16 + 32 + 64)
    assert size("cifar-resnet", (3, 32, 32), 10) == 658_586 + biases


@pytest.mark.parametrize(
    ("spec", "shape", "n_labels", "weights"),
    [
        ("vgg16[hidden=[4096,4096]]", (3, 224, 224), 1000, 138_357_544),
        ("vgg16[hidden=[4096,4096],batch-norm=yes]", (3, 224, 224), 1000, 138_365_992),
        ("vgg16", (3, 150, 150), 8, 14_714_688 + 8192 * 128 + 128 + 128 * 8 + 8),
        ("resnet50", (3, 32, 32), 10, 23_520_842),
        ("vgg11", (3, 32, 32), 10, 9_231_114),
        ("labelme-head", (8192,), 8, 8192 * 128 + 128 + 128 * 8 + 8),
    ],
)
def test_known_sizes(spec: str, shape: tuple[int, ...], n_labels: int, weights: int) -> None:
    assert size(spec, shape, n_labels) == weights


def test_the_convolutions_of_vgg16() -> None:
    with torch.device("meta"):
        assert weights_in(make_vgg_convolutions_and_poolings(VGG16, 3, width=64, batch_norm=False)) == 14_714_688


def test_the_tagger_has_the_widths_of_the_paper() -> None:
    with torch.device("meta"):
        net = nets.methods.make("tagger[words=100,chars=50]").build((1 + 100 + 15,), 12)
    assert net.head[1].in_features == 1024 and net.head[1].out_features == 512
