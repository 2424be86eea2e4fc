"""Leaks: tasks of the test that were, in another form, trained on. Findings are words, never errors."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.encoding import as_names, encode
from plurivox.core.errors import InputError, OptionError
from plurivox.core.types import Floats, Ints

COPY = (
    r"[-_. ]*(?:\(\d+\)|(?:aug(?:mented)?|copy|flip(?:ped)?|crop(?:ped)?|rot(?:ated)?|shear|dup(?:licate)?)[-_. ]*\d*)$"
)
ENDING = r"\.(?:jpe?g|png|gif|bmp|tiff?|webp|txt|wav|mp3)$"
BLOCK = 2048  # rows compared at a time


@dataclass(frozen=True)
class Finding:
    """Something to know before a number is believed."""

    kind: str  # leak, own-transform or label-in-name
    words: str  # what was found, and what to do
    tasks: tuple[str, ...] = ()  # a few of the culprits
    n: int = 0  # how many there are

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"


def find_copies(
    contents: Mapping[Any, bytes] | tuple[Sequence[Any], NDArray[Any]], split: Mapping[Any, str]
) -> list[Finding]:
    """Tasks with the very same content on both sides of a split: test tasks that were trained on.

    `contents` maps tasks to bytes, or is (tasks, array (n_tasks, ...)); `split` maps tasks to the name of their part. Contents
    are compared by their SHA-256. Barz and Denzler (2020), https://doi.org/10.3390/jimaging6060041

    >>> found = find_copies({"a": b"1", "b": b"1", "c": b"2"}, {"a": "train", "b": "test", "c": "test"})
    >>> print(found[0])
    leak: 1 of 2 tasks of test has the same content as a task of train ('b' = 'a'); keep copies on one side
    """
    if isinstance(contents, Mapping):
        tasks, digests = list(contents), [hashlib.sha256(content).hexdigest() for content in contents.values()]
    else:
        rows = np.ascontiguousarray(contents[1])
        tasks, digests = list(contents[0]), [hashlib.sha256(row.tobytes()).hexdigest() for row in rows]
    return _leaks(tasks, encode(digests)[0] if tasks else np.zeros(0, np.int64), split, "the same content as")


def find_twins(tasks: Sequence[Any], x: Floats, split: Mapping[Any, str], *, near: float = 0.99) -> list[Finding]:
    """Tasks of different parts whose features are nearly the same: augmented copies on both sides of a split.

    The cosine of centred features is at least `near`. Every pair of parts is compared in blocks: 10,000 x 10,000 tasks of 512
    numbers take seconds. Barz and Denzler (2020), https://doi.org/10.3390/jimaging6060041

    >>> x = np.array([[1., 0, 0], [1., 1e-3, 0], [0, 1., 0], [0, 0, 1.]])
    >>> find_twins("abcd", x, {"a": "train", "b": "test", "c": "train", "d": "test"})[0].tasks
    ('b',)
    """
    if not 0 < near <= 1:
        raise OptionError(f"near must be above 0, at most 1; got {near}")
    flat = np.asarray(x, np.float32).reshape(len(x), -1)
    if len(flat) != len(tasks) or not np.isfinite(flat).all():
        raise InputError(f"features must be finite, a row a task; got {flat.shape} for {len(tasks)} tasks")
    flat = flat - flat.mean(0)
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12)
    parts = _parts(tasks, split)
    found = []
    for train, test in _pairs(parts):
        match = _nearest(flat[parts[test]], flat[parts[train]], near)
        hit = np.flatnonzero(match >= 0)
        pairs = [(tasks[parts[test][i]], tasks[parts[train][match[i]]]) for i in hit]
        found += _leak(pairs, len(parts[test]), test, train, f"features within cosine {near:g} of")
    return found


def find_leaks(tasks: Sequence[Any], x: Floats, split: Mapping[Any, str], *, near: float = 0.99) -> list[Finding]:
    """Copies by name, by content and by features; where features tell of no more tasks than content, content alone speaks.

    >>> x = np.array([[1., 0, 0], [1., 0, 0], [0, 1., 0], [0, 1., 1e-3]])
    >>> found = find_leaks("abcd", x, {"a": "train", "b": "test", "c": "train", "d": "test"})
    >>> [(one.n, one.tasks) for one in found]
    [(1, ('b',)), (2, ('b', 'd'))]
    """
    copies = find_copies((tasks, x), split)
    told = {(one.n, one.tasks) for one in copies}
    twins = [one for one in find_twins(tasks, x, split, near=near) if (one.n, one.tasks) not in told]
    return [*find_name_copies(tasks, split), *copies, *twins]


def find_name_copies(tasks: Sequence[Any], split: Mapping[Any, str], *, pattern: str | None = None) -> list[Finding]:
    """Tasks of different parts whose names say that they are copies of one original: `photo7_aug2`, `photo7 (1)`.

    An ending of a file and a word such as aug, copy, flip, crop or rot with its number are taken off, and the rest compared;
    or `pattern` is a regular expression whose first group is the original.

    >>> print(find_name_copies(["p1_aug.png", "p1.png"], {"p1_aug.png": "train", "p1.png": "test"})[0])
    leak: 1 of 1 tasks of test has the name of a copy of a task of train ('p1.png' = 'p1_aug.png'); keep copies on one side
    """
    try:
        original = None if pattern is None else re.compile(pattern)
    except re.error as cause:
        raise OptionError(f"the pattern {pattern!r} is no regular expression: {cause}") from None
    if original is not None and not original.groups:
        raise OptionError(f"the pattern {pattern!r} needs a group in brackets: the original's name")
    names = [_original(str(task), original) for task in tasks]
    return _leaks(list(tasks), encode(names)[0] if names else np.zeros(0, np.int64), split, "the name of a copy of")


# ---- pieces


def _parts(tasks: Sequence[Any], split: Mapping[Any, str]) -> dict[str, Ints]:
    """Where the tasks of each part stand; tasks without a part are passed over."""
    own = [split.get(task, "") for task in tasks]
    codes, names = encode(own) if own else (np.zeros(0, np.int64), as_names([""]))
    return {str(name): np.flatnonzero(codes == i) for i, name in enumerate(names.tolist()) if name}


def _pairs(parts: Mapping[str, Ints]) -> list[tuple[str, str]]:
    """(trained on, tested on): train comes first, the larger one else."""
    order = sorted(parts, key=lambda name: (name != "train", -len(parts[name]), name))
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]


def _leaks(tasks: Sequence[Any], key: Ints, split: Mapping[Any, str], how: str) -> list[Finding]:
    """What tasks of different parts with the same key say."""
    parts, found = _parts(tasks, split), []
    for train, test in _pairs(parts):
        first = {int(key[i]): i for i in parts[train][::-1].tolist()}
        pairs = [(tasks[i], tasks[first[int(key[i])]]) for i in parts[test].tolist() if int(key[i]) in first]
        found += _leak(pairs, len(parts[test]), test, train, how)
    return found


def _leak(pairs: list[tuple[Any, Any]], n: int, test: str, train: str, how: str) -> list[Finding]:
    if not pairs:
        return []
    one = f"{str(pairs[0][0])!r} = {str(pairs[0][1])!r}"
    has = "has" if len(pairs) == 1 else "have"
    said = f"{len(pairs)} of {n} tasks of {test} {has} {how} a task of {train} ({one}); keep copies on one side"
    return [Finding("leak", said, tuple(str(task) for task, _ in pairs[:3]), len(pairs))]


def _nearest(test: Floats, train: Floats, near: float) -> Ints:
    """(n_test,) the first training row at least that near; -1 where there is none."""
    match = np.full(len(test), -1)
    for begin in range(0, len(test), BLOCK):
        close = test[begin : begin + BLOCK] @ train.T >= near
        match[begin : begin + BLOCK] = np.where(close.any(1), close.argmax(1), -1)
    return match


def _original(name: str, pattern: re.Pattern[str] | None) -> str:
    if pattern is not None:
        return found.group(1) or name if (found := pattern.search(name)) else name
    stem = re.sub(ENDING, "", name, flags=re.IGNORECASE)
    while (shorter := re.sub(COPY, "", stem, flags=re.IGNORECASE)) != stem and shorter:
        stem = shorter
    return stem
