"""Nets by name: `torchvision:resnet18`, or `module:function` of your own."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, MissingExtra, OptionError, unknown_name
from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixels import Pixels, Scale
from plurivox.train.nets._shared.pretrained import load_weights, read_weights
from plurivox.train.nets._shared.trunk_head import Headed, linear_head


@dataclass(frozen=True)
class NamedNet(Net):
    """Any net by its name: torchvision:NAME, or module:function.

    The function is called without arguments and must return a torch module whose last linear layer gives one number a
    label; that layer is exchanged for one of the right size. Weights of the rest may come from a file, and may be kept.
    The module is imported and its function run: name only what you trust.

    >>> NamedNet("torch.nn:Identity").build((4,), n_labels=2)
    Traceback (most recent call last):
    plurivox.core.errors.InputError: torch.nn:Identity has no linear layer to exchange for one of 2 labels
    """

    source: str = option("torchvision:resnet18", "torchvision:NAME, or module:function")
    pretrained: str = option("", "file of weights, for all but the last layer")
    freeze: bool = option(False, "train the last layer alone")
    image_size: int = option(0, "resize images to this many pixels a side; 0: as they are", low=0)
    normalise: Scale = option("imagenet", "mean and spread that pixels from 0 to 1 are brought to zero and one by")

    example: ClassVar[tuple[int, ...]] = (3, 64, 64)

    @property
    def spec(self) -> str:
        """The net in one word, such as `torchvision:resnet18[freeze=True]`."""
        plain = super().spec.removeprefix(self.name()).replace(f"source={self.source}", "").replace("[,", "[")
        return self.source + plain.removesuffix("[]")

    def build(self, shape: tuple[int, ...], n_labels: int) -> Headed:
        body = _maker(self.source)()
        if not isinstance(body, nn.Module):
            raise InputError(f"{self.source} gave {type(body).__name__}; it must give a torch module")
        width = _take_last_linear(body, self.source, n_labels)
        # only images are made of pixels; features go in as they are
        trunk = nn.Sequential(Pixels(self.normalise, self.image_size) if len(shape) == 3 else nn.Identity(), body)
        _check(trunk, shape, width, self.source)
        return Headed(trunk, linear_head(width), n_labels, self.freeze)

    def start(self, module: nn.Module) -> None:
        if self.pretrained:
            load_weights(module.get_submodule("trunk.1"), read_weights(self.pretrained), self.pretrained)


def _maker(source: str) -> Callable[[], Any]:
    """What makes the net that `source` names."""
    home, colon, name = source.partition(":")
    if not colon or not home or not name:
        raise OptionError(f"a net by name is torchvision:NAME or module:function; got {source!r}")
    if home == "torchvision":
        return _torchvision(name)
    try:
        found = importlib.import_module(home)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as cause:
        if cause.name is None or not f"{home}.".startswith(f"{cause.name}."):
            raise  # the module is there; something that it imports is not
        raise InputError(f"there is no module {home!r} for the net {source}; install it or set PYTHONPATH") from None
    except AttributeError:
        raise InputError(f"the module {home} has no {name!r} to make a net with") from None
    if not callable(found):
        raise InputError(f"{source} is no function; it must make a net when called without arguments")
    made: Callable[[], Any] = found
    return made


def _torchvision(name: str) -> Callable[[], Any]:
    try:
        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError) as cause:  # it also fails where it was built for another torch
        reason = " ".join(str(cause).split())
        raise MissingExtra(
            f"torchvision:{name} needs a torchvision that fits torch {torch.__version__} ({reason}); "
            "run: pip install torchvision, or take vgg16, resnet50 or cifar-resnet, which need none"
        ) from cause
    if name not in models.list_models():
        raise unknown_name("net in torchvision called", name, models.list_models())
    return lambda: models.get_model(name, weights=None)


def _take_last_linear(body: nn.Module, source: str, n_labels: int) -> int:
    """Put nothing in the place of the net's last linear layer; the number of features that layer took."""
    layers = [(name, one) for name, one in body.named_modules() if isinstance(one, nn.Linear) and name]
    if not layers:
        raise InputError(f"{source} has no linear layer to exchange for one of {n_labels} labels")
    name, last = layers[-1]
    home, _, mine = name.rpartition(".")
    setattr(body.get_submodule(home), mine, nn.Identity())
    return last.in_features


@torch.no_grad()
def _check(trunk: nn.Module, shape: tuple[int, ...], width: int, source: str) -> None:
    """Try the net on an empty input of this shape: what comes out must be one row of features an input."""
    trunk.eval()
    try:
        found = trunk(torch.zeros(1, *shape))
    except (RuntimeError, ValueError, IndexError, AssertionError) as cause:
        reason = " ".join(str(cause).split())[:160]
        raise InputError(
            f"{source} cannot take inputs of the shape {shape}: {reason}; try another image-size"
        ) from cause
    finally:
        trunk.train()
    if not isinstance(found, Tensor) or found.shape != (1, width):
        what = f"the shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
        raise InputError(f"{source} gives {what} before its last linear layer; a row of {width} numbers was expected")
