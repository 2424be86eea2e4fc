"""Nets imported by name, and weights from files."""

import importlib
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from plurivox.core.errors import InputError, MissingExtra, UnknownName
from plurivox.train import nets

MODULE = """
from torch import nn
def small(): return nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 1000))
def odd(): return 3
def early(): return nn.Sequential(nn.Linear(2, 5), nn.Conv2d(3, 4, 1))
constant = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_nets.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_nets", raising=False)


def test_a_users_function_gives_a_net_with_the_right_labels() -> None:
    method = nets.methods.make("my_nets:small", freeze=True)
    net = method.build((3, 2, 2), 7)
    assert net(torch.rand(4, 3, 2, 2)).shape == (4, 7) and net.head.in_features == 5
    assert method.spec == "my_nets:small[freeze=True]" and nets.methods.make(method.spec) == method
    assert nets.methods.make("my_nets:small").spec == "my_nets:small"


def test_a_frozen_trunk_keeps_weights_and_running_means() -> None:
    net = nets.methods.make("my_nets:small[freeze=yes]").build((3, 2, 2), 7).train()
    before = {key: one.clone() for key, one in net.trunk.state_dict().items()}
    net(torch.rand(4, 3, 2, 2)).sum().backward()
    assert [key for key, one in net.named_parameters() if one.grad is not None] == ["head.weight", "head.bias"]
    assert all(torch.equal(one, before[key]) for key, one in net.trunk.state_dict().items())


@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_all_weights_but_the_last_layer_come_from_a_file(ending: str, tmp_path: Path) -> None:
    body, path = importlib.import_module("my_nets").small(), tmp_path / f"w.{ending}"
    save_file(body.state_dict(), path) if ending == "safetensors" else torch.save(body.state_dict(), path)
    method = nets.methods.make("my_nets:small", pretrained=str(path), normalise="none")
    net = method.build((3, 2, 2), 7)
    method.load_pretrained(net)
    x = torch.rand(4, 3, 2, 2)
    torch.testing.assert_close(net.eval().features(x), body.eval()[:4](x))


def test_a_file_of_other_weights_raises_an_error(tmp_path: Path) -> None:
    method = nets.methods.make("my_nets:small", pretrained=str(tmp_path / "w.pt"))
    net = method.build((3, 2, 2), 7)
    for weights, words in (
        ({"1.bias": torch.zeros(5)}, r"lacks 5 of 7 weights: '1.weight'"),
        (
            {**importlib.import_module("my_nets").small().state_dict(), "1.bias": torch.zeros(9)},
            r"shapes: '1.bias'.*\(9,\)",
        ),
        ([1, 2], "contains an object of type list"),
        ({"a": Path}, "does not contain plain weights"),
    ):
        torch.save(weights, tmp_path / "w.pt")
        with pytest.raises(InputError, match=words):
            method.load_pretrained(net)
    (tmp_path / "w.pt").write_bytes(b"nothing")
    with pytest.raises(InputError, match="does not contain plain weights"):
        method.load_pretrained(net)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_nets:none", "has no function 'none'"),
        ("no_such_module:small", "no module 'no_such_module'"),
        ("my_nets:constant", "is not a function"),
        ("my_nets:odd", "returned an object of type int"),
        ("my_nets:early", "cannot take inputs|before its last linear layer"),
        ("torch.nn:Flatten", "no linear layer"),
    ],
)
def test_functions_that_make_no_net_raise_errors(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        nets.methods.make(spec).build((3, 2, 2), 7)


def test_torchvision_nets_or_the_install_command() -> None:
    try:
        importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError):
        with pytest.raises(MissingExtra, match=r"torchvision:resnet18 needs a torchvision .* pip install torchvision"):
            nets.methods.make("torchvision:resnet18").build((3, 64, 64), 4)
    else:
        assert nets.methods.make("torchvision:resnet18").build((3, 64, 64), 4).head.out_features == 4
        with pytest.raises(UnknownName, match="did you mean 'resnet18'"):
            nets.methods.make("torchvision:resnet81").build((3, 64, 64), 4)


def test_vgg16_loads_convolutions_of_torchvision_and_freezes_them(tmp_path: Path) -> None:
    method = nets.methods.make(
        "vgg16[hidden=4,width=2,freeze=yes,batch-norm=yes]", pretrained=str(tmp_path / "v.safetensors")
    )
    net = method.build((3, 32, 32), 2)
    given = {f"features.{key}": torch.rand_like(one.float()) for key, one in net.trunk.see[1].state_dict().items()}
    given = {key: one for key, one in given.items() if not key.endswith("tracked")}
    save_file({**given, "classifier.0.weight": torch.zeros(2)}, tmp_path / "v.safetensors")
    method.load_pretrained(net)
    assert torch.equal(net.trunk.see[1][0].weight, given["features.0.weight"])
    net.train()(torch.rand(2, 3, 32, 32)).sum().backward()
    assert all(one.grad is None for one in net.trunk.see.parameters())
    assert torch.equal(net.trunk.see[1][1].running_mean, given["features.1.running_mean"])
    assert all(one.grad is not None for one in net.trunk.learn.parameters())


def test_images_are_resized_and_wrong_shapes_raise_errors() -> None:
    net = nets.methods.make("vgg16[hidden=4,width=2,image-size=32]").build((3, 8, 8), 2)
    assert net(torch.rand(1, 3, 8, 8)).shape == (1, 2)
    for shape, words in (((3, 8, 8), "32 pixels per side"), ((1, 32, 32), "normalise=none"), ((5,), "takes images")):
        with pytest.raises(InputError, match=words):
            nets.methods.make("vgg16").build(shape, 2)
    assert isinstance(nets.methods.make("vgg11[width=2,normalise=none]").build((1, 32, 32), 2), nn.Module)
