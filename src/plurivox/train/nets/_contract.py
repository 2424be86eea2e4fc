"""What every net is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from plurivox.core.method import Method, parse_spec
from plurivox.core.registry import Methods

__all__ = ["Net", "methods"]


@dataclass(frozen=True)
class Net(Method, ABC):
    """A network by its name and options; its weights come from torch's generator, which the caller has seeded."""

    example: ClassVar[tuple[int, ...]] = (6,)  # the shape of an input that it can take
    small: ClassVar[Mapping[str, object]] = {}  # options that make it small enough to try
    dense: ClassVar[bool] = False  # a `Headed` chain of dense layers, so that several runs can be stacked to one net

    @abstractmethod
    def build(self, shape: tuple[int, ...], n_labels: int) -> nn.Module:
        """A module that turns inputs (n, *shape) into logits (n, n_labels); never probabilities.

        A module with `features(x)`, `head` and `make_head(n_labels)` says itself where a second head may sit; of others
        the last linear layer is taken. Nothing is read from files here: the same call makes room for saved weights.
        """

    def sized_for(self, x: Tensor) -> Self:
        """The same net with the sizes that only the training inputs tell, such as how many words there are."""
        del x
        return self

    def start(self, module: nn.Module) -> None:
        """Fill a new module with weights from files, before it is trained; not called when it predicts."""
        del module


class Nets(Methods[Net]):
    """The nets of this room, and any other by `torchvision:NAME` or `module:function`."""

    def make(self, method: str | Net, **options: Any) -> Net:
        """The net of that name with these options, which may also stand in the word."""
        if isinstance(method, str) and ":" in (named := parse_spec(method))[0]:
            from plurivox.train.nets._shared.imported_net import NamedNet

            source, given = named
            return NamedNet.from_options({"source": source, **given, **options})
        return super().make(method, **options)


methods = Nets(__package__, Net)
