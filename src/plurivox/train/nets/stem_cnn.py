"""The stemming net of Fornaciari et al."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option
from plurivox.train.data.text import PAD, check_codes, known
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.attention_encoder import Encoder
from plurivox.train.nets._shared.trunk_head import Headed, linear_head

WINDOWS = (3, 4, 5)  # letters that a convolution sees at once


@dataclass(frozen=True)
class StemCNN(Net):
    """Two words, letter by letter: convolutions of 3, 4 and 5 letters, and attention for each word.

    An input is a row of whole numbers (`plurivox.train.text.encode_pairs` makes it): the codes of the first word's letters,
    then as many for the second. Each word passes convolutions with windows of 3, 4 and 5 letters, the largest value of each
    channel is kept and passes an encoder; both join, and a linear layer gives the logits.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204, name two convolutions with 64 and 128
    channels; in their code the first one feeds nothing, so that 128 channels on the letters are the default here.
    `first=64` puts a convolution below the others, as the text says.

    >>> net = StemCNN(chars=30, width=8, channels=4, inner=16).build((2 * 10,), n_labels=2)
    >>> net(torch.ones(3, 20, dtype=torch.int64)).shape
    torch.Size([3, 2])
    """

    chars: int = option(0, "codes of letters; 0: as many as the data have", low=0)
    width: int = option(300, "numbers that stand for a letter", low=1)
    channels: int = option(128, "channels of each window's convolution", low=1)
    first: int = option(0, "channels of a convolution of 3 letters below these; 0: none, as in the papers' code", low=0)
    layers: int = option(1, "layers of an encoder", low=1)
    heads: int = option(1, "heads of its attention", low=1)
    inner: int = option(2048, "width of its dense part", low=1)
    dropout: float = option(0.1, "share of outputs set to zero in training", low=0, high=0.99)

    example: ClassVar[tuple[int, ...]] = (2 * 6,)
    small: ClassVar[dict[str, object]] = {"chars": 9, "width": 5, "channels": 4, "inner": 6}

    def sized_for(self, x: Tensor) -> Self:
        """As many letters as the inputs have."""
        check_codes(x, self.name())
        return self if self.chars else replace(self, chars=int(x.max()) + 1)

    def build(self, shape: tuple[int, ...], n_labels: int) -> Headed:
        if not self.chars:
            raise OptionError("stem-cnn must know how many chars there are: set them, or call sized_for(x)")
        if len(shape) != 1 or shape[0] % 2 or shape[0] < 2 * max(WINDOWS):
            raise InputError(
                f"stem-cnn takes rows of two words with {max(WINDOWS)} letters or more each, as many for both; "
                f"these inputs have the shape {shape}: encode them with plurivox.train.text.encode_pairs"
            )
        return Headed(TwoWords(self), linear_head(2 * self.channels * len(WINDOWS)), n_labels)


class TwoWords(nn.Module):
    """Codes (n, 2 * letters) -> features (n, 2 * windows * channels)."""

    def __init__(self, net: StemCNN):
        super().__init__()
        self.chars = nn.Embedding(net.chars, net.width, padding_idx=PAD)
        self.words = nn.ModuleList(OneWord(net) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        letters = self.chars(known(x, self.chars)).transpose(1, 2)  # (n, width, 2 * letters)
        return torch.cat([word(part) for word, part in zip(self.words, letters.chunk(2, 2), strict=True)], 1)


class OneWord(nn.Module):
    """Letters (n, width, letters) -> features (n, windows * channels)."""

    def __init__(self, net: StemCNN):
        super().__init__()
        self.first = nn.Conv1d(net.width, net.first, 3, padding=1) if net.first else None
        width = net.first or net.width
        self.windows = nn.ModuleList(nn.Conv1d(width, net.channels, window) for window in WINDOWS)
        self.dropout = nn.Dropout(net.dropout)
        self.encoder = Encoder(net.channels * len(WINDOWS), net.layers, net.heads, net.inner, net.dropout)

    def forward(self, letters: Tensor) -> Tensor:
        if self.first is not None:
            letters = functional.relu(self.first(letters))
        found = torch.cat([functional.relu(one(letters)).amax(2) for one in self.windows], 1)
        features: Tensor = self.encoder(self.dropout(found))
        return features
