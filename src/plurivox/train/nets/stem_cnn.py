"""Net `stem-cnn`: the stemming net of Fornaciari et al. for pairs of words."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option
from plurivox.train.data.text_encoding import PAD, check_inputs_are_code_rows, replace_codes_outside_embedding
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.attention_encoder import Encoder
from plurivox.train.nets._shared.trunk_head import TrunkHeadNet, linear_head_factory

WINDOWS = (3, 4, 5)  # kernel sizes of the convolutions, in letters


@dataclass(frozen=True)
class StemCNN(Net):
    """Classifier of two words by their letters: convolutions of 3, 4 and 5 letters and an attention encoder per word.

    An input is a row of integers (made by `plurivox.train.text.encode_pairs`): the codes of the first word's letters, then as
    many for the second. Each word passes convolutions with windows of 3, 4 and 5 letters, max pooling over the word and an
    encoder; both results are concatenated, and a linear layer outputs the logits.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204, name two convolutions with 64 and 128
    channels; in their code the output of the first one is not used, so that 128 channels on the letters are the default here.
    `first=64` adds a convolution below the others, as in the text of the paper.

    >>> net = StemCNN(chars=30, width=8, channels=4, inner=16).build((2 * 10,), n_labels=2)
    >>> net(torch.ones(3, 20, dtype=torch.int64)).shape
    torch.Size([3, 2])
    """

    chars: int = option(0, "number of letter codes; 0: taken from the data", low=0)
    width: int = option(300, "length of a letter's embedding", low=1)
    channels: int = option(128, "channels of each convolution (windows of 3, 4 and 5 letters)", low=1)
    first: int = option(
        0, "channels of a convolution of 3 letters before the others; 0: no such layer, as in the papers' code", low=0
    )
    layers: int = option(1, "layers of an attention encoder", low=1)
    heads: int = option(1, "attention heads of an attention encoder", low=1)
    inner: int = option(2048, "width of an attention encoder's feed-forward layer", low=1)
    dropout: float = option(0.1, "dropout: share of a layer's outputs set to zero in training", low=0, high=0.99)

    reads: ClassVar[Literal["words", "tokens", "word pairs"]] = "word pairs"
    example: ClassVar[tuple[int, ...]] = (2 * 6,)
    small: ClassVar[dict[str, object]] = {"chars": 9, "width": 5, "channels": 4, "inner": 6}

    def with_input_sizes(self, x: Tensor) -> Self:
        """Return a copy of this net with `chars` set to the number of letter codes in the inputs x."""
        check_inputs_are_code_rows(x, self.name())
        return self if self.chars else replace(self, chars=int(x.max()) + 1)

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        if not self.chars:
            raise OptionError("stem-cnn needs the number of letter codes: set chars, or call with_input_sizes(x)")
        if len(shape) != 1 or shape[0] % 2 or shape[0] < 2 * max(WINDOWS):
            raise InputError(
                f"stem-cnn takes rows of two words with at least {max(WINDOWS)} letters each, the same number for both; "
                f"these inputs have the shape {shape}: encode them with plurivox.train.text.encode_pairs"
            )
        return TrunkHeadNet(WordPairEncoder(self), linear_head_factory(2 * self.channels * len(WINDOWS)), n_labels)


class WordPairEncoder(nn.Module):
    """Encoder of two words: letter codes (n, 2 * letters) -> features (n, 2 * windows * channels)."""

    def __init__(self, net: StemCNN):
        super().__init__()
        self.chars = nn.Embedding(net.chars, net.width, padding_idx=PAD)
        self.words = nn.ModuleList(WordEncoder(net) for _ in range(2))

    def forward(self, letter_codes: Tensor) -> Tensor:
        # (n, width, 2 * letters)
        letters = self.chars(replace_codes_outside_embedding(letter_codes, self.chars)).transpose(1, 2)
        return torch.cat([encode(word) for encode, word in zip(self.words, letters.chunk(2, 2), strict=True)], 1)


class WordEncoder(nn.Module):
    """Encoder of one word: embedded letters (n, width, letters) -> features (n, windows * channels)."""

    def __init__(self, net: StemCNN):
        super().__init__()
        self.first = nn.Conv1d(net.width, net.first, 3, padding=1) if net.first else None
        width = net.first or net.width
        self.windows = nn.ModuleList(nn.Conv1d(width, net.channels, window) for window in WINDOWS)
        self.dropout = nn.Dropout(net.dropout)
        self.encoder = Encoder(net.channels * len(WINDOWS), net.layers, net.heads, net.inner, net.dropout)

    def forward(self, embedded_letters: Tensor) -> Tensor:
        if self.first is not None:
            embedded_letters = functional.relu(self.first(embedded_letters))
        found = torch.cat([functional.relu(one(embedded_letters)).amax(2) for one in self.windows], 1)
        features: Tensor = self.encoder(self.dropout(found))
        return features
