"""Base class of nets, and their registry."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from torch import Tensor, nn

from plurivox.core.method import Method, parse_spec
from plurivox.core.registry import Methods
from plurivox.train.data.text_encoding import Vocabulary

__all__ = ["Net", "methods"]


@dataclass(frozen=True)
class Net(Method, ABC):
    """A network architecture with its options; `build` makes its torch module; base class."""

    example: ClassVar[tuple[int, ...]] = (6,)  # an input shape that it accepts, for tests
    small: ClassVar[Mapping[str, object]] = {}  # options that make it small, for tests
    reads: ClassVar[Literal["words", "tokens", "word pairs"]] = "words"  # what it reads of texts: see `input_encodings`
    dense: ClassVar[bool] = (
        False  # a `TrunkHeadNet` chain of dense layers, so that several runs can be stacked to one net
    )

    @abstractmethod
    def build(self, shape: tuple[int, ...], n_labels: int) -> nn.Module:
        """Return a new module that maps inputs (n, *shape) to logits (n, n_labels), not probabilities.

        Initial weights come from torch's generator, seeded by the caller; no files are read (see `load_pretrained`). A second
        head is attached before the module's `head`, made by its `make_head(n_labels)`; without these, before its last linear
        layer.
        """

    def with_input_sizes(self, x: Tensor) -> Self:
        """Return a copy of this net with sizes, such as the number of words, taken from the inputs x; default: unchanged."""
        del x
        return self

    def load_pretrained(self, module: nn.Module) -> None:
        """Load pretrained weights from files into a new module, in place; called before training only; default: nothing."""
        del module

    def load_pretrained_and_vectors(self, module: nn.Module, words: Vocabulary | None) -> None:
        """Load pretrained weights, and vectors of the words of the inputs if they are given, into a new module, in place."""
        del words
        self.load_pretrained(module)


class Nets(Methods[Net]):
    """Registry of nets, which also makes nets named `torchvision:NAME` or `module:function`."""

    def make(self, method: str | Net, **options: Any) -> Net:
        """Return the net of a name or spec with these options; a `Net` object is returned unchanged."""
        if isinstance(method, str) and ":" in (parsed := parse_spec(method))[0]:
            from plurivox.train.nets._shared.imported_net import NamedNet

            source, given = parsed
            return NamedNet.from_options({"source": source, **given, **options})
        return super().make(method, **options)


methods = Nets(__package__, Net)
