"""Word vectors in the text form of GloVe."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plurivox.core.errors import InputError, some
from plurivox.train.data.text import UNKNOWN, Vocabulary


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
        raise InputError(f"{path} knows none of the {len(words.names)} words, such as {some(words.names[:1])}")
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
