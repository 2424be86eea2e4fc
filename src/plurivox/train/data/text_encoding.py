"""Text as rows of integer codes, the inputs of nets for text; vocabularies and word vectors.

Code 0 is padding and code 1 a word or letter that is not in the vocabulary. One array contains all inputs, one row per task.
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
FORMAT = 1  # version of the vocabulary file
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """Vocabulary of words or letters; each has an integer code, from 2 on (0: padding, 1: unknown).

    >>> words = Vocabulary.of(["the", "cat", "the"])
    >>> words.codes(["the", "dog", "cat"]), len(words)
    ([3, 1, 2], 4)
    """

    names: tuple[str, ...]  # the code of names[i] is i + 2
    lower: bool = False  # whether words are converted to lower case

    @classmethod
    def of(cls, words: Iterable[str], *, least: int = 1, lower: bool = False) -> Self:
        """Return the vocabulary of the words that occur at least `least` times, in sorted order."""
        counts = Counter(word.lower() if lower else word for word in words)
        return cls(tuple(sorted(word for word, n in counts.items() if n >= least)), lower)

    @cached_property
    def _code_by_word(self) -> dict[str, int]:
        """Dictionary of the integer code of each word of the vocabulary."""
        return {name: code for code, name in enumerate(self.names, start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """Return the number of codes, including those of padding and unknown words."""
        return len(self.names) + UNKNOWN + 1

    def codes(self, words: Iterable[str]) -> list[int]:
        """Return the code of each word; that of unknown words for words not in the vocabulary."""
        return [self._code_by_word.get(word.lower() if self.lower else word, UNKNOWN) for word in words]


def write_vocabularies(path: str | Path, vocabularies: dict[str, Vocabulary]) -> None:
    """Write vocabularies by name to a JSON file, to be stored beside the weights trained with them."""
    content = {name: {"lower": one.lower, "names": one.names} for name, one in vocabularies.items()}
    with atomic_file(path) as part:
        part.write_text(json.dumps({"format": FORMAT, "vocabularies": content}, ensure_ascii=False), encoding="utf-8")


def read_vocabularies(path: str | Path, required_names: Sequence[str] = ()) -> dict[str, Vocabulary]:
    """Read the vocabularies of a JSON file by name; InputError if it is another file or lacks one of `required_names`."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] > FORMAT:
            raise InputError(f"{path} was written by a newer plurivox (format {content['format']}); update plurivox")
        found = {
            name: Vocabulary(tuple(map(str, one["names"])), bool(one["lower"]))
            for name, one in content["vocabularies"].items()
        }
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise InputError(f"{path} is not a vocabulary file (made by write_vocabularies): {cause}") from cause
    if absent := [name for name in required_names if name not in found]:
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
    """(n, 1 + context + letters) one row per token: its position, the codes of its sentence's words, those of its letters.

    Tokens of a sentence are adjacent and in order. A sentence longer than `context` (default: the longest sentence) is cut to
    a window around the token; a longer word is cut to its first `letters` letters.

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
        raise InputError(f"tokens of a sentence must be adjacent; these sentences are interrupted: {first_few(twice)}")
    sizes = [size for _, size in runs]
    width = max(sizes, default=1) if context is None else context
    rows = np.full((len(tokens), 1 + width + letters), PAD, np.int64)
    codes, begin = np.array(words.codes(tokens), np.int64), 0
    for size in sizes:
        for position in range(size):
            first = min(max(position - width // 2, 0), max(size - width, 0))
            window = codes[begin + first : begin + min(first + width, size)]
            rows[begin + position, 0] = position - first
            rows[begin + position, 1 : 1 + len(window)] = window
        begin += size
    rows[:, 1 + width :] = _encode_letters(tokens, chars, letters)
    return rows


def encode_pairs(
    first: Sequence[str], second: Sequence[str], chars: Vocabulary, *, letters: int | None = None
) -> Codes:
    """(n, 2 * letters) one row per pair of words: the codes of the first word's letters, then those of the second's.

    `letters` is by default the length of the longest word, and at least 5; longer words are cut to their first letters.

    >>> encode_pairs(["cats"], ["cat"], Vocabulary.of("acst"), letters=5)
    array([[3, 2, 5, 4, 0, 3, 2, 5, 0, 0]])
    """
    if len(first) != len(second):
        raise InputError(f"there are {len(first)} first words, but {len(second)} second ones")
    width = max([5, *map(len, first), *map(len, second)]) if letters is None else letters
    return np.hstack([_encode_letters(first, chars, width), _encode_letters(second, chars, width)])


def _encode_letters(words: Sequence[str], chars: Vocabulary, max_letters: int) -> Codes:
    """(n, max_letters) the codes of the first `max_letters` letters of each word, one row per word, padded."""
    rows = np.full((len(words), max_letters), PAD, np.int64)
    for row, word in zip(rows, words, strict=True):
        row[: min(len(word), max_letters)] = chars.codes(word[:max_letters])
    return rows


def replace_codes_outside_embedding(codes: Tensor, embedding: nn.Embedding) -> Tensor:
    """Return the codes with those that are outside the embedding table replaced by that of unknown words."""
    return torch.where(codes < embedding.num_embeddings, codes, min(UNKNOWN, embedding.num_embeddings - 1))


def check_inputs_are_code_rows(net_inputs: Tensor, net_name: str) -> None:
    """Raise InputError if the inputs are not rows of non-negative integers."""
    if net_inputs.is_floating_point() or net_inputs.ndim != 2 or (net_inputs.numel() and int(net_inputs.min()) < 0):
        raise InputError(
            f"{net_name} takes rows of integer codes from 0 on; these inputs are {net_inputs.dtype} of the shape "
            f"{tuple(net_inputs.shape)}: encode text with plurivox.train.text"
        )


# ---- word vectors


def read_word_codes_and_vectors(path: str | Path, words: Vocabulary, width: int) -> tuple[Tensor, Tensor]:
    """Read word vectors in GloVe's text format (`word number number ...`); return (codes (n,), vectors (n, width)).

    Only words of the vocabulary are read; a word with capitals gets the vector of its lower-case form if the file has no other.
    Raises InputError if the file is missing, contains none of the words, or has lines of another length.
    """
    code = {name: number for number, name in enumerate(words.names, start=UNKNOWN + 1)}
    small: dict[str, list[str]] = {}
    for name in words.names:
        small.setdefault(name.lower(), []).append(name)
    exact: dict[int, NDArray[np.float32]] = {}
    lower_case: dict[int, NDArray[np.float32]] = {}
    for word, numbers in _yield_words_and_vectors(Path(path), width, {*code, *small}):
        if word in code:
            exact.setdefault(code[word], numbers)
        for name in small.get(word, ()):
            lower_case.setdefault(code[name], numbers)
    found = {**lower_case, **exact}
    if not found and words.names:
        raise InputError(f"{path} contains none of the {len(words.names)} words, such as {first_few(words.names[:1])}")
    rows = np.array([found[one] for one in found], np.float32).reshape(-1, width)
    return torch.tensor(list(found), dtype=torch.int64), torch.from_numpy(rows)


def _yield_words_and_vectors(
    path: Path, width: int, wanted_words: set[str]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield word and vector of every line of a GloVe file whose word is in `wanted_words`; InputError names a wrong line."""
    if not path.is_file():
        raise InputError(f"there is no file of word vectors {path}")
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            n_numbers = len(line.split()) - 1
            if number == 1 and n_numbers == 1 and width != 1:
                continue  # the word2vec format starts with the numbers of words and of columns
            fields = line.rstrip().rsplit(" ", width)  # words in GloVe files may contain spaces, but not the first ones
            if len(fields) != width + 1 or (number <= 2 and n_numbers != width):
                raise InputError(f"{path}, line {number}: {n_numbers} numbers; the net expects {width}: set word-width")
            if fields[0] not in wanted_words:
                continue
            try:
                yield fields[0], np.array(fields[1:], np.float32)
            except ValueError:
                raise InputError(f"{path}, line {number}: a value after {fields[0]!r} is not a number") from None
