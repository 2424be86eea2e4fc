"""The part-of-speech tagger of Fornaciari et al."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option
from plurivox.train.data.text import PAD, check_codes, known, read_vectors, read_vocabularies
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.attention_encoder import Encoder
from plurivox.train.nets._shared.trunk_head import Headed


@dataclass(frozen=True)
class Tagger(Net):
    """A word in its sentence: LSTMs over words and over letters, then attention.

    An input is a row of whole numbers (`plurivox.train.text.encode_tokens` makes it): the place of the word in its
    sentence, the codes of the sentence's words, and last those of the word's letters. A two-way LSTM over the words is read
    at the word, another over the letters at their end; both join, pass an encoder, and every head has an encoder and
    two linear layers of its own. Attention over one position is a linear map; `attention=no` leaves the encoders out, which
    is what remains of the tagger of Uma et al. (2020), whose attention weights add up to one whatever they are.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204; Plank et al. (2016),
    https://doi.org/10.18653/v1/P16-2067

    >>> net = Tagger(words=50, chars=20, letters=4, hidden=8, inner=16).build((1 + 10 + 4,), n_labels=12)
    >>> net(torch.ones(2, 15, dtype=torch.int64)).shape
    torch.Size([2, 12])
    """

    words: int = option(0, "codes of words; 0: as many as the data have", low=0)
    chars: int = option(0, "codes of letters; 0: as many as the data have", low=0)
    letters: int = option(15, "letters of a word that are read: the last numbers of an input", low=1)
    word_width: int = option(300, "numbers that stand for a word", low=1)
    char_width: int = option(100, "numbers that stand for a letter", low=1)
    hidden: int = option(256, "state of an LSTM in one direction", low=1)
    attention: bool = option(True, "encoders after the LSTMs, one shared and one for each head")
    layers: int = option(2, "layers of an encoder", low=1)
    heads: int = option(2, "heads of its attention", low=1)
    inner: int = option(2048, "width of its dense part", low=1)
    dropout: float = option(0.1, "share of outputs set to zero in training", low=0, high=0.99)
    vectors: str = option("", "file of word vectors in the text form of GloVe, to begin with")
    vocabulary: str = option("", "json file that says which code is which word; vectors need it")

    example: ClassVar[tuple[int, ...]] = (1 + 5 + 3,)
    small: ClassVar[dict[str, object]] = {
        **{"words": 9, "chars": 7, "letters": 3, "word_width": 5, "char_width": 4},
        **{"hidden": 3, "layers": 1, "inner": 6},
    }

    def sized_for(self, x: Tensor) -> Self:
        """As many words and letters as the inputs have."""
        check_codes(x, self.name())
        if self.words and self.chars:
            return self
        words, chars = x[:, 1 : -self.letters], x[:, -self.letters :]
        return replace(self, words=self.words or int(words.max()) + 1, chars=self.chars or int(chars.max()) + 1)

    def build(self, shape: tuple[int, ...], n_labels: int) -> Headed:
        if not self.words or not self.chars:
            raise OptionError("tagger must know how many words and chars there are: set both, or call sized_for(x)")
        if len(shape) != 1 or shape[0] < self.letters + 2:
            raise InputError(
                f"tagger takes rows of a place, the words of a sentence and {self.letters} letters; "
                f"these inputs have the shape {shape}: encode them with plurivox.train.text.encode_tokens"
            )
        return Headed(TwoReaders(self), partial(_head, self), n_labels)

    @property
    def width(self) -> int:
        """Of the features: two LSTMs, two directions each."""
        return 4 * self.hidden

    def encoder(self) -> nn.Module:
        if not self.attention:
            return nn.Identity()
        return Encoder(self.width, self.layers, self.heads, self.inner, self.dropout)

    def start(self, module: nn.Module) -> None:
        """Begin with the word vectors of the file, where there is one."""
        if not self.vectors:
            return
        if not self.vocabulary:
            raise OptionError("tagger: vectors need the vocabulary that says which code is which word")
        words = read_vocabularies(self.vocabulary, ["words"])["words"]
        table = module.get_parameter("trunk.words.weight")
        with torch.no_grad():
            rows, found = read_vectors(self.vectors, words, self.word_width)
            fits = rows < len(table)
            table[rows[fits]] = found[fits].to(table)


class TwoReaders(nn.Module):
    """Codes (n, 1 + sentence + letters) -> features (n, 4 * hidden)."""

    def __init__(self, net: Tagger):
        super().__init__()
        self.letters = net.letters
        self.words = nn.Embedding(net.words, net.word_width, padding_idx=PAD)
        self.chars = nn.Embedding(net.chars, net.char_width, padding_idx=PAD)
        self.sentence = BothWays(net.word_width, net.hidden)
        self.spelling = BothWays(net.char_width, net.hidden)
        self.encoder, self.dropout = net.encoder(), nn.Dropout(net.dropout)

    def forward(self, x: Tensor) -> Tensor:
        place, words, chars = x[:, 0], x[:, 1 : -self.letters], x[:, -self.letters :]
        n_words, n_chars = ((codes != PAD).sum(1).clamp(min=1) for codes in (words, chars))
        place = place.minimum(n_words - 1)
        words, chars = self.words(known(words, self.words)), self.chars(known(chars, self.chars))
        sentence = self.sentence(words, n_words, place, n_words - 1 - place)
        spelling = self.spelling(chars, n_chars, n_chars - 1, n_chars - 1)
        found: Tensor = self.dropout(self.encoder(torch.cat([sentence, spelling], 1)))
        return found


class BothWays(nn.Module):
    """Two LSTMs that do not see the padding, one from the first element on and one from the last element back.

    Padding stands at the end. The second LSTM reads the sequence turned round within its length, so that no state depends
    on how much padding there is, and no length has to leave the device.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.forth = nn.LSTM(width, hidden, batch_first=True)
        self.back = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x: Tensor, length: Tensor, read_forth: Tensor, read_back: Tensor) -> Tensor:
        """(n, 2 * hidden) the first LSTM's state at place `read_forth` and the second's at `read_back`, each (n,).

        `x` is (n, longest, width), `length` (n,) at least 1; places are counted from where the LSTM begins.
        """
        longest = x.shape[1]
        # places below the length are turned round, those of the padding stay behind them
        turned = (length[:, None] - 1 - torch.arange(longest, device=x.device)) % longest
        forth, _ = self.forth(x)
        back, _ = self.back(x.gather(1, turned[:, :, None].expand_as(x)))
        return torch.cat([_at(forth, read_forth), _at(back, read_back)], 1)


def _at(states: Tensor, place: Tensor) -> Tensor:
    """(n, hidden) one state of each sequence."""
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


def _head(net: Tagger, n_labels: int) -> nn.Module:
    """An encoder and two linear layers without an activation between them."""
    half = max(net.width // 2, 1)
    return nn.Sequential(net.encoder(), nn.Linear(net.width, half), nn.Linear(half, n_labels))
