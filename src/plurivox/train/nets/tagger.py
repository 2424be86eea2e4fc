"""Net `tagger`: the part-of-speech tagger of Fornaciari et al."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, Self

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option
from plurivox.train.data.text_encoding import (
    PAD,
    Vocabulary,
    check_inputs_are_code_rows,
    read_vocabularies,
    read_word_codes_and_vectors,
    replace_codes_outside_embedding,
)
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.attention_encoder import Encoder
from plurivox.train.nets._shared.trunk_head import TrunkHeadNet


@dataclass(frozen=True)
class Tagger(Net):
    """Tagger of a word in its sentence: LSTMs over words and over letters, then attention.

    An input is a row of integers (made by `plurivox.train.text.encode_tokens`): the position of the word in its sentence, the
    codes of the sentence's words, and last those of the word's letters. A bidirectional LSTM over the words is read at the
    word, another over the letters at their end; both are concatenated and pass an encoder, and every head has another encoder
    and two linear layers. Attention over one position is a linear map; `attention=no` leaves the encoders out, which gives
    the tagger of Uma et al. (2020), whose attention weights are constant.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204; Plank et al. (2016),
    https://doi.org/10.18653/v1/P16-2067

    >>> net = Tagger(words=50, chars=20, letters=4, hidden=8, inner=16).build((1 + 10 + 4,), n_labels=12)
    >>> net(torch.ones(2, 15, dtype=torch.int64)).shape
    torch.Size([2, 12])
    """

    words: int = option(0, "number of word codes; 0: taken from the data", low=0)
    chars: int = option(0, "number of letter codes; 0: taken from the data", low=0)
    letters: int = option(15, "number of letter codes at the end of an input row", low=1)
    word_width: int = option(300, "length of a word's embedding", low=1)
    char_width: int = option(100, "length of a letter's embedding", low=1)
    hidden: int = option(256, "state size of an LSTM in one direction", low=1)
    attention: bool = option(True, "use attention encoders after the LSTMs, one shared and one per head")
    layers: int = option(2, "layers of an attention encoder", low=1)
    heads: int = option(2, "attention heads of an attention encoder", low=1)
    inner: int = option(2048, "width of an attention encoder's feed-forward layer", low=1)
    dropout: float = option(0.1, "dropout: share of a layer's outputs set to zero in training", low=0, high=0.99)
    vectors: str = option("", "file of initial word vectors in GloVe's text format")
    vocabulary: str = option(
        "", "JSON file with the word of each code, for vectors; not needed for texts that train encodes"
    )

    reads: ClassVar[Literal["words", "tokens", "word pairs"]] = "tokens"
    example: ClassVar[tuple[int, ...]] = (1 + 5 + 3,)
    small: ClassVar[dict[str, object]] = {
        **{"words": 9, "chars": 7, "letters": 3, "word_width": 5, "char_width": 4},
        **{"hidden": 3, "layers": 1, "inner": 6},
    }

    def with_input_sizes(self, x: Tensor) -> Self:
        """Return a copy of this net with `words` and `chars` set to the numbers of word and letter codes in the inputs x."""
        check_inputs_are_code_rows(x, self.name())
        if self.words and self.chars:
            return self
        words, chars = x[:, 1 : -self.letters], x[:, -self.letters :]
        return replace(self, words=self.words or int(words.max()) + 1, chars=self.chars or int(chars.max()) + 1)

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        if not self.words or not self.chars:
            raise OptionError(
                "tagger needs the numbers of word and letter codes: set words and chars, or call with_input_sizes(x)"
            )
        if len(shape) != 1 or shape[0] < self.letters + 2:
            raise InputError(
                f"tagger takes rows of a position, the words of a sentence and {self.letters} letters; "
                f"these inputs have the shape {shape}: encode them with plurivox.train.text.encode_tokens"
            )
        return TrunkHeadNet(WordAndLetterEncoder(self), partial(_make_tagger_head, self), n_labels)

    @property
    def feature_width(self) -> int:
        """Number of features of a word: two LSTMs with two directions of `hidden` each."""
        return 4 * self.hidden

    def make_attention_encoder_or_identity(self) -> nn.Module:
        """Return a new attention encoder, or the identity with `attention=no`."""
        if not self.attention:
            return nn.Identity()
        return Encoder(self.feature_width, self.layers, self.heads, self.inner, self.dropout)

    def load_pretrained(self, module: nn.Module) -> None:
        """Copy the word vectors of the file of the option `vectors`, if set, into the module's word embedding, in place."""
        self.load_pretrained_and_vectors(module, None)

    def load_pretrained_and_vectors(self, module: nn.Module, words: Vocabulary | None) -> None:
        """Copy the word vectors of the option `vectors`, if set, into the module's word embedding, in place.

        The words of the codes are those of the file `vocabulary`, else `words`.
        """
        if not self.vectors:
            return
        if self.vocabulary:
            words = read_vocabularies(self.vocabulary, ["words"])["words"]
        elif words is None:
            raise OptionError("tagger: word vectors need the words of the codes; give the file vocabulary too")
        table = module.get_parameter("trunk.words.weight")
        with torch.no_grad():
            rows, found = read_word_codes_and_vectors(self.vectors, words, self.word_width)
            fits = rows < len(table)
            table[rows[fits]] = found[fits].to(table)


class WordAndLetterEncoder(nn.Module):
    """Encoder of a word in its sentence: codes (n, 1 + sentence + letters) -> features (n, 4 * hidden)."""

    def __init__(self, net: Tagger):
        super().__init__()
        self.letters = net.letters
        self.words = nn.Embedding(net.words, net.word_width, padding_idx=PAD)
        self.chars = nn.Embedding(net.chars, net.char_width, padding_idx=PAD)
        self.sentence = BidirectionalLSTM(net.word_width, net.hidden)
        self.spelling = BidirectionalLSTM(net.char_width, net.hidden)
        self.encoder, self.dropout = net.make_attention_encoder_or_identity(), nn.Dropout(net.dropout)

    def forward(self, code_rows: Tensor) -> Tensor:
        position, words, chars = code_rows[:, 0], code_rows[:, 1 : -self.letters], code_rows[:, -self.letters :]
        n_words, n_chars = ((codes != PAD).sum(1).clamp(min=1) for codes in (words, chars))
        position = position.minimum(n_words - 1)
        words, chars = (
            self.words(replace_codes_outside_embedding(words, self.words)),
            self.chars(replace_codes_outside_embedding(chars, self.chars)),
        )
        sentence = self.sentence(words, n_words, position, n_words - 1 - position)
        spelling = self.spelling(chars, n_chars, n_chars - 1, n_chars - 1)
        found: Tensor = self.dropout(self.encoder(torch.cat([sentence, spelling], 1)))
        return found


class BidirectionalLSTM(nn.Module):
    """Bidirectional LSTM on padded sequences whose states do not depend on the padding.

    Padding is at the end. The second LSTM reads each sequence reversed within its length, so that no length has to be copied
    to the CPU.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.forth = nn.LSTM(width, hidden, batch_first=True)
        self.back = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, sequences: Tensor, length: Tensor, forward_state_at: Tensor, backward_state_at: Tensor) -> Tensor:
        """(n, 2 * hidden) the states of the forward LSTM at `forward_state_at` and of the backward LSTM at `backward_state_at`.

        `sequences` is (n, longest, width), `length` (n,) at least 1; positions (n,) are counted from the start of each LSTM.
        """
        longest = sequences.shape[1]
        # reverse the positions below the length; those of the padding stay after them
        reverse = (length[:, None] - 1 - torch.arange(longest, device=sequences.device)) % longest
        forth, _ = self.forth(sequences)
        back, _ = self.back(sequences.gather(1, reverse[:, :, None].expand_as(sequences)))
        return torch.cat([_state_at_position(forth, forward_state_at), _state_at_position(back, backward_state_at)], 1)


def _state_at_position(states: Tensor, position: Tensor) -> Tensor:
    """(n, hidden) the state at `position[i]` of each sequence i, from states (n, longest, hidden)."""
    return states.gather(1, position[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


def _make_tagger_head(tagger: Tagger, n_labels: int) -> nn.Module:
    """Return a new head on the features: an encoder and two linear layers without an activation between them."""
    half = max(tagger.feature_width // 2, 1)
    return nn.Sequential(
        tagger.make_attention_encoder_or_identity(), nn.Linear(tagger.feature_width, half), nn.Linear(half, n_labels)
    )
