"""Encodings of inputs: how columns of numbers or texts become the inputs of a net, learned from the training tasks only.

    StandardisedColumns  columns of numbers: minus the mean, divided by the standard deviation
    WordWeights          texts: TF-IDF weights of words
    TokenCodes           words in their sentences: codes of words and letters, for the net tagger
    WordPairCodes        pairs of words: codes of letters, for the net stem-cnn

An encoding is fitted to the training tasks, encodes all tasks, and is stored with the net, so that other tasks are encoded in
the same way.
"""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError
from plurivox.train.data.text_encoding import Vocabulary, encode_pairs, encode_tokens

Columns = NDArray[Any]  # (n, n_columns) the cells of the columns, numbers or texts
FORMAT = 1  # version of the JSON text of an encoding
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")  # a word with its apostrophes, or a punctuation mark


@dataclass(frozen=True)
class InputEncoding(ABC):
    """How the columns of tasks become rows of numbers; base class. `columns` are the names of the columns that are encoded."""

    columns: tuple[str, ...]

    @property
    @abstractmethod
    def is_fitted(self) -> bool:
        """Whether the encoding has been fitted to training tasks."""

    @abstractmethod
    def fit(self, cells: Columns) -> Self:
        """Return a copy fitted to the cells (n, n_columns) of training tasks."""

    @abstractmethod
    def encode(self, cells: Columns) -> NDArray[Any]:
        """Return (n, width) the inputs of a net for cells (n, n_columns) of any tasks; the encoding must be fitted."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words of the word codes; None if inputs have no word codes."""
        return None

    def to_json(self) -> str:
        """Return the encoding as JSON text, which `encoding_from_json` reads."""
        return json.dumps({"format": FORMAT, "encoding": type(self).__name__, **asdict(self)}, ensure_ascii=False)


@dataclass(frozen=True)
class StandardisedColumns(InputEncoding):
    """Columns of numbers: minus the mean and divided by the standard deviation of the training tasks; a constant column is 0.

    >>> StandardisedColumns(("age",)).fit(np.array([[20.], [40.]])).encode(np.array([[50.]])).tolist()
    [[2.0]]
    """

    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()

    @property
    def is_fitted(self) -> bool:
        return bool(self.mean)

    def fit(self, cells: Columns) -> Self:
        std = cells.std(0)
        return replace(self, mean=tuple(cells.mean(0).tolist()), std=tuple(np.where(std > 0, std, 1.0).tolist()))

    def encode(self, cells: Columns) -> NDArray[Any]:
        return np.asarray((cells - np.array(self.mean)) / np.array(self.std))


@dataclass(frozen=True)
class WordWeights(InputEncoding):
    """Texts as TF-IDF weights of their words: (1 + ln(count)) (1 + ln((1 + n) / (1 + n_with_word))), rows of length 1.

    The words are those in at least two training texts, at most `n_words` of them, the most frequent first. All weights are
    multiplied by one number, so that their mean square is 1 in the training texts.

    >>> cells = np.array([["good film"], ["bad film"], ["good plot"], ["bad plot"]])
    >>> fitted = WordWeights(("text",)).fit(cells)
    >>> fitted.words, fitted.encode(cells[:1]).round(1)
    (('bad', 'film', 'good', 'plot'), array([[0. , 1.4, 1.4, 0. ]], dtype=float32))
    """

    n_words: int = 2000
    words: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    scale: float = 1.0

    @property
    def is_fitted(self) -> bool:
        return bool(self.words)

    def fit(self, cells: Columns) -> Self:
        n_texts = Counter(word for text in cells[:, 0].tolist() for word in set(_words_of(text)))
        often = sorted((-n, word) for word, n in n_texts.items() if n >= 2)[: self.n_words]
        if not often:
            raise InputError(
                f"no word occurs in two training texts (column {self.columns[0]}); give more texts, or features"
            )
        words = sorted(word for _, word in often)
        idf = tuple(float(1 + np.log((1 + len(cells)) / (1 + n_texts[word]))) for word in words)
        fitted = replace(self, words=tuple(words), idf=idf)
        mean_square = float((fitted.encode(cells).astype(np.float64) ** 2).mean())
        return replace(fitted, scale=1 / np.sqrt(mean_square))

    def encode(self, cells: Columns) -> NDArray[Any]:
        column_of = {word: i for i, word in enumerate(self.words)}
        weights = np.zeros((len(cells), len(self.words)), np.float32)
        for row, text in zip(weights, cells[:, 0].tolist(), strict=True):
            for word, n in Counter(word for word in _words_of(text) if word in column_of).items():
                row[column_of[word]] = (1 + np.log(n)) * self.idf[column_of[word]]
        length = np.sqrt((weights**2).sum(1, keepdims=True))
        return np.asarray(weights / np.where(length > 0, length, 1) * np.float32(self.scale))


def _words_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text, in lower case."""
    return WORD.findall(text.lower())


@dataclass(frozen=True)
class TokenCodes(InputEncoding):
    """Words in their sentences as rows of codes, by `encode_tokens`; the columns name the sentence, the position and the word.

    Words that occur once in the training tasks train the code of unknown words; `context` is the length of the longest
    sentence.
    """

    letters: int = 15
    context: int = 0
    words: Vocabulary = field(default_factory=lambda: Vocabulary(()))
    chars: Vocabulary = field(default_factory=lambda: Vocabulary(()))

    @property
    def is_fitted(self) -> bool:
        return bool(self.context)

    @property
    def vocabulary(self) -> Vocabulary | None:
        return self.words

    def fit(self, cells: Columns) -> Self:
        tokens = cells[:, 2].tolist()
        longest = max(Counter(cells[:, 0].tolist()).values())
        words, chars = Vocabulary.of(tokens, least=2, lower=True), Vocabulary.of("".join(tokens))
        return replace(self, context=longest, words=words, chars=chars)

    def encode(self, cells: Columns) -> NDArray[Any]:
        sentences, places = cells[:, 0].tolist(), [float(place) for place in cells[:, 1].tolist()]
        order = sorted(range(len(cells)), key=lambda i: (sentences[i], places[i]))
        tokens = cells[:, 2].tolist()
        codes = encode_tokens(
            [tokens[i] for i in order],
            [sentences[i] for i in order],
            self.words,
            self.chars,
            context=self.context,
            letters=self.letters,
        )
        rows = np.empty_like(codes)
        rows[order] = codes
        return rows


@dataclass(frozen=True)
class WordPairCodes(InputEncoding):
    """Pairs of words as codes of their letters, by `encode_pairs`; the columns name the two words."""

    letters: int = 0
    chars: Vocabulary = field(default_factory=lambda: Vocabulary(()))

    @property
    def is_fitted(self) -> bool:
        return bool(self.letters)

    def fit(self, cells: Columns) -> Self:
        words = [word for row in cells.tolist() for word in row]
        return replace(self, letters=max(5, *map(len, words)), chars=Vocabulary.of("".join(words)))

    def encode(self, cells: Columns) -> NDArray[Any]:
        return encode_pairs(cells[:, 0].tolist(), cells[:, 1].tolist(), self.chars, letters=self.letters)


ENCODINGS: dict[str, type[InputEncoding]] = {
    one.__name__: one for one in (StandardisedColumns, WordWeights, TokenCodes, WordPairCodes)
}


def encoding_from_json(text: str) -> InputEncoding:
    """Return the encoding whose `to_json` gave this text; InputError if it is something else."""
    try:
        content = json.loads(text)
        if content.pop("format") > FORMAT:
            raise InputError("the encoding of the inputs was written by a newer plurivox; update plurivox")
        made = ENCODINGS[content.pop("encoding")]
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
        }
        for name in {"words", "chars"} & {name for name, value in given.items() if isinstance(value, dict)}:
            given[name] = Vocabulary(tuple(given[name]["names"]), bool(given[name]["lower"]))
        return made(**given)
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise InputError(f"this is not an encoding of inputs, or it is damaged: {cause}") from cause
