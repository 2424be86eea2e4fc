"""Nets imported by name: `torchvision:resnet18`, or a user's `module:function`."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, MissingExtra, OptionError, unknown_name_error
from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixel_normalisation import NORMALISE_HELP, Normalisation, NormalisePixels
from plurivox.train.nets._shared.pretrained_weights import load_weights, read_weights
from plurivox.train.nets._shared.trunk_head import TrunkHeadNet, linear_head_factory


@dataclass(frozen=True)
class NamedNet(Net):
    """A net imported by name: torchvision:NAME, or module:function.

    The function is called without arguments and must return a torch module whose last linear layer has one output per label;
    that layer is replaced by one of the right size. The other weights may be loaded from a file and frozen. The module is
    imported and its function run: name only code that you trust.

    >>> NamedNet("torch.nn:Identity").build((4,), n_labels=2)
    Traceback (most recent call last):
    plurivox.core.errors.InputError: torch.nn:Identity has no linear layer to replace by one of 2 labels
    """

    source: str = option("torchvision:resnet18", "name of the net: torchvision:NAME, or module:function")
    pretrained: str = option("", "file of pretrained weights of all layers but the last")
    freeze: bool = option(False, "keep all layers but the last fixed and train only the last")
    image_size: int = option(0, "resize images to this many pixels per side; 0: no resizing", low=0)
    normalise: Normalisation = option("imagenet", NORMALISE_HELP)

    example: ClassVar[tuple[int, ...]] = (3, 64, 64)

    @property
    def spec(self) -> str:
        """The net with its options as text, such as `torchvision:resnet18[freeze=True]`."""
        plain = super().spec.removeprefix(self.name()).replace(f"source={self.source}", "").replace("[,", "[")
        return self.source + plain.removesuffix("[]")

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        body = _import_net_factory(self.source)()
        if not isinstance(body, nn.Module):
            raise InputError(
                f"{self.source} returned an object of type {type(body).__name__}; it must return a torch module"
            )
        width = _replace_last_linear_by_identity_get_width(body, self.source, n_labels)
        # only images are normalised, features are not
        trunk = nn.Sequential(
            NormalisePixels(self.normalise, self.image_size) if len(shape) == 3 else nn.Identity(), body
        )
        _check_trunk_output(trunk, shape, width, self.source)
        return TrunkHeadNet(trunk, linear_head_factory(width), n_labels, self.freeze)

    def load_pretrained(self, module: nn.Module) -> None:
        """Load pretrained weights from the file of the option `pretrained`, if set, into all layers but the last, in place."""
        if self.pretrained:
            load_weights(module.get_submodule("trunk.1"), read_weights(self.pretrained), self.pretrained)


def _import_net_factory(import_path: str) -> Callable[[], Any]:
    """Import and return the function that makes the net `import_path`; InputError or OptionError if there is none."""
    home, colon, name = import_path.partition(":")
    if not colon or not home or not name:
        raise OptionError(f"an imported net is torchvision:NAME or module:function; got {import_path!r}")
    if home == "torchvision":
        return _torchvision_factory_without_weights(name)
    try:
        found = importlib.import_module(home)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as cause:
        if cause.name is None or not f"{home}.".startswith(f"{cause.name}."):
            raise  # the module exists, but a module that it imports does not
        raise InputError(
            f"there is no module {home!r} for the net {import_path}; install it or set PYTHONPATH"
        ) from None
    except AttributeError:
        raise InputError(f"the module {home} has no function {name!r} for the net {import_path}") from None
    if not callable(found):
        raise InputError(f"{import_path} is not a function; it must return a net when called without arguments")
    made: Callable[[], Any] = found
    return made


def _torchvision_factory_without_weights(name: str) -> Callable[[], Any]:
    """Return a function that makes torchvision's model `name` without weights; MissingExtra without torchvision."""
    try:
        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError) as cause:  # it also fails if it was built for another version of torch
        reason = " ".join(str(cause).split())
        raise MissingExtra(
            f"torchvision:{name} needs a torchvision that fits torch {torch.__version__} ({reason}); "
            "run: pip install torchvision, or use vgg16, resnet50 or cifar-resnet, which do not need it"
        ) from cause
    if name not in models.list_models():
        raise unknown_name_error("torchvision net", name, models.list_models())
    return lambda: models.get_model(name, weights=None)


def _replace_last_linear_by_identity_get_width(body: nn.Module, source: str, n_labels: int) -> int:
    """Replace the net's last linear layer by the identity, in place; return the number of its input features."""
    layers = [(name, one) for name, one in body.named_modules() if isinstance(one, nn.Linear) and name]
    if not layers:
        raise InputError(f"{source} has no linear layer to replace by one of {n_labels} labels")
    name, last = layers[-1]
    parent, _, attribute = name.rpartition(".")
    setattr(body.get_submodule(parent), attribute, nn.Identity())
    return last.in_features


@torch.no_grad()
def _check_trunk_output(trunk: nn.Module, shape: tuple[int, ...], width: int, source: str) -> None:
    """Run the trunk on one input of zeros; InputError if it fails or does not return features (1, width)."""
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
        what = (
            f"the shape {tuple(found.shape)}"
            if isinstance(found, Tensor)
            else f"an object of type {type(found).__name__}"
        )
        raise InputError(f"{source} returns {what} before its last linear layer; expected {width} features per input")
