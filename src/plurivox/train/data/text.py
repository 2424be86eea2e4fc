"""Text as rows of whole numbers, which is what the nets for text read.

Code 0 is padding and code 1 a word or letter that the vocabulary does not know. One array holds all inputs, a row a task,
so that the loop indexes texts as it indexes images.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few

PAD, UNKNOWN = 0, 1
FORMAT = 1  # of the file of vocabularies
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """Words or letters and their codes.

    >>> words = Vocabulary.of(["the", "cat", "the"])
    >>> words.codes(["the", "dog", "cat"]), len(words)
    ([3, 1, 2], 4)
    """

    names: tuple[str, ...]  # the code of names[i] is i + 2
    lower: bool = False  # whether capitals count as small letters

    @classmethod
    def of(cls, seen: Iterable[str], *, least: int = 1, lower: bool = False) -> Self:
        """The words that were seen at least so often, in sorted order: the order of the text does not matter."""
        counts = Counter(word.lower() if lower else word for word in seen)
        return cls(tuple(sorted(word for word, n in counts.items() if n >= least)), lower)

    @cached_property
    def _code(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names, start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """How many codes there are, those of padding and of the unknown included."""
        return len(self.names) + UNKNOWN + 1

    def codes(self, words: Iterable[str]) -> list[int]:
        """The code of each word."""
        return [self._code.get(word.lower() if self.lower else word, UNKNOWN) for word in words]


def write_vocabularies(path: str | Path, vocabularies: dict[str, Vocabulary]) -> None:
    """Vocabularies by name as json, to be kept beside the weights that were learnt with them."""
    told = {name: {"lower": one.lower, "names": one.names} for name, one in vocabularies.items()}
    with atomic_file(path) as part:
        part.write_text(json.dumps({"format": FORMAT, "vocabularies": told}, ensure_ascii=False), encoding="utf-8")


def read_vocabularies(path: str | Path, needed: Sequence[str] = ()) -> dict[str, Vocabulary]:
    """The vocabularies of a file; those in `needed` must be there."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        if told["format"] > FORMAT:
            raise InputError(f"{path} was written by a newer plurivox (format {told['format']}); update plurivox")
        found = {
            name: Vocabulary(tuple(map(str, one["names"])), bool(one["lower"]))
            for name, one in told["vocabularies"].items()
        }
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise InputError(f"{path} is no file of vocabularies (write_vocabularies makes them): {cause}") from cause
    if absent := [name for name in needed if name not in found]:
        raise InputError(f"{path} has no vocabulary of {first_few(absent)}; it has {first_few(found)}")
    return found


def encode_tokens(
    tokens: Sequence[str],
    sentence: Sequence[Any],
    words: Vocabulary,
    chars: Vocabulary,
    *,
    context: int | None = None,
    letters: int = 15,
) -> Codes:
    """(n, 1 + context + letters) a row a token: its place, the codes of its sentence's words, those of its letters.

    Tokens of a sentence stand together, in their order. A sentence longer than `context` (as long as the longest one if it
    is None) is cut to a window around the token; of a longer word the first `letters` letters are read.

    >>> text = ["a", "cat", "sat"]
    >>> encode_tokens(text, [0, 0, 0], Vocabulary.of(text), Vocabulary.of("acst"), letters=3)
    array([[0, 2, 3, 4, 2, 0, 0],
           [1, 2, 3, 4, 3, 2, 5],
           [2, 2, 3, 4, 4, 2, 5]])
    """
    if len(tokens) != len(sentence):
        raise InputError(f"there are {len(tokens)} tokens, but {len(sentence)} names of sentences")
    runs = [(name, len(list(run))) for name, run in groupby(sentence)]
    if len({name for name, _ in runs}) < len(runs):
        twice = [name for name, n in Counter(name for name, _ in runs).items() if n > 1]
        raise InputError(f"tokens of a sentence must stand together; these sentences are torn: {first_few(twice)}")
    sizes = [size for _, size in runs]
    wide = max(sizes, default=1) if context is None else context
    rows = np.full((len(tokens), 1 + wide + letters), PAD, np.int64)
    codes, begin = np.array(words.codes(tokens), np.int64), 0
    for size in sizes:
        for place in range(size):
            first = min(max(place - wide // 2, 0), max(size - wide, 0))
            window = codes[begin + first : begin + min(first + wide, size)]
            rows[begin + place, 0] = place - first
            rows[begin + place, 1 : 1 + len(window)] = window
        begin += size
    rows[:, 1 + wide :] = _spelled(tokens, chars, letters)
    return rows


def encode_pairs(
    first: Sequence[str], second: Sequence[str], chars: Vocabulary, *, letters: int | None = None
) -> Codes:
    """(n, 2 * letters) a row a pair: the codes of the first word's letters, then those of the second's.

    `letters` is the length of the longest word if it is None, and 5 at least; of a longer word the first are read.

    >>> encode_pairs(["cats"], ["cat"], Vocabulary.of("acst"), letters=5)
    array([[3, 2, 5, 4, 0, 3, 2, 5, 0, 0]])
    """
    if len(first) != len(second):
        raise InputError(f"there are {len(first)} first words, but {len(second)} second ones")
    wide = max([5, *map(len, first), *map(len, second)]) if letters is None else letters
    return np.hstack([_spelled(first, chars, wide), _spelled(second, chars, wide)])


def _spelled(words: Sequence[str], chars: Vocabulary, letters: int) -> Codes:
    """(n, letters) the codes of each word's letters."""
    rows = np.full((len(words), letters), PAD, np.int64)
    for row, word in zip(rows, words, strict=True):
        row[: min(len(word), letters)] = chars.codes(word[:letters])
    return rows


def known(codes: Tensor, table: nn.Embedding) -> Tensor:
    """The codes, those that the table has no row for as unknown."""
    return torch.where(codes < table.num_embeddings, codes, min(UNKNOWN, table.num_embeddings - 1))


def check_codes(x: Tensor, whose: str) -> None:
    """Refuse inputs that are no codes."""
    if x.is_floating_point() or x.ndim != 2 or (x.numel() and int(x.min()) < 0):
        raise InputError(
            f"{whose} reads rows of codes, whole numbers from 0 on; these inputs are {x.dtype} of the shape "
            f"{tuple(x.shape)}: encode text with plurivox.train.text"
        )


# ---- word vectors


def read_vectors(path: str | Path, words: Vocabulary, width: int) -> tuple[Tensor, Tensor]:
    """(codes, vectors (n, width)) of the words that a file in the text form of GloVe knows: `word number number ...`.

    A word that the vocabulary has with capitals takes the vector of its small letters where the file has only that.
    """
    code = {name: number for number, name in enumerate(words.names, start=UNKNOWN + 1)}
    small: dict[str, list[str]] = {}
    for name in words.names:
        small.setdefault(name.lower(), []).append(name)
    exact: dict[int, NDArray[np.float32]] = {}
    near: dict[int, NDArray[np.float32]] = {}
    for word, numbers in _lines_of_vectors(Path(path), width, {*code, *small}):
        if word in code:
            exact.setdefault(code[word], numbers)
        for name in small.get(word, ()):
            near.setdefault(code[name], numbers)
    found = {**near, **exact}
    if not found and words.names:
        raise InputError(f"{path} knows none of the {len(words.names)} words, such as {first_few(words.names[:1])}")
    rows = np.array([found[one] for one in found], np.float32).reshape(-1, width)
    return torch.tensor(list(found), dtype=torch.int64), torch.from_numpy(rows)


def _lines_of_vectors(path: Path, width: int, wanted: set[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Word and numbers of every wanted line; an error names the line."""
    if not path.is_file():
        raise InputError(f"there is no file of word vectors {path}")
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            n_numbers = len(line.split()) - 1
            if number == 1 and n_numbers == 1 and width != 1:
                continue  # the form of word2vec begins with the numbers of words and of columns
            parts = line.rstrip().rsplit(" ", width)  # a word of GloVe may hold spaces, but not the first ones
            if len(parts) != width + 1 or (number <= 2 and n_numbers != width):
                raise InputError(f"{path}, line {number}: {n_numbers} numbers; the net expects {width}: set word-width")
            if parts[0] not in wanted:
                continue
            try:
                yield parts[0], np.array(parts[1:], np.float32)
            except ValueError:
                raise InputError(f"{path}, line {number}: not every number after {parts[0]!r} is a number") from None
