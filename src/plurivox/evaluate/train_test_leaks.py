"""Find data leaks: test tasks that are copies of training tasks by name, content or features."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names, encode

COPY_SUFFIX = (
    r"[-_. ]*(?:\(\d+\)|(?:aug(?:mented)?|copy|flip(?:ped)?|crop(?:ped)?|rot(?:ated)?|shear|dup(?:licate)?)[-_. ]*\d*)$"
)
FILE_EXTENSION = r"\.(?:jpe?g|png|gif|bmp|tiff?|webp|txt|wav|mp3)$"
BLOCK_ROWS = 2048  # rows compared at a time


@dataclass(frozen=True)
class Finding:
    """A problem found in an evaluation, such as a leak: its kind, a message, and the first tasks concerned."""

    kind: str  # leak, own-transform or label-in-name
    words: str  # the message: what was found, and what to do
    tasks: tuple[str, ...] = ()  # the first few tasks concerned
    n: int = 0  # the number of tasks concerned

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"


def find_copies(
    contents: Mapping[Any, bytes] | tuple[Sequence[Any], NDArray[Any]], split: Mapping[Any, str]
) -> list[Finding]:
    """Return findings for test tasks whose content (bytes) is identical to that of a training task.

    `contents` maps tasks to bytes, or is (tasks, array (n_tasks, ...)); `split` maps tasks to the name of their part (train,
    test, ...). Contents are compared by SHA-256. Barz and Denzler (2020), https://doi.org/10.3390/jimaging6060041

    >>> found = find_copies({"a": b"1", "b": b"1", "c": b"2"}, {"a": "train", "b": "test", "c": "test"})
    >>> print(found[0])
    leak: 1 of 2 tasks of test has the same content as a task of train ('b' = 'a'); keep copies on one side
    """
    if isinstance(contents, Mapping):
        tasks, digests = list(contents), [hashlib.sha256(content).hexdigest() for content in contents.values()]
    else:
        rows = np.ascontiguousarray(contents[1])
        tasks, digests = list(contents[0]), [hashlib.sha256(row.tobytes()).hexdigest() for row in rows]
    return _findings_of_equal_keys_in_different_parts(
        tasks, encode(digests)[0] if tasks else np.zeros(0, np.int64), split, "the same content as"
    )


def find_twins(tasks: Sequence[Any], x: Floats, split: Mapping[Any, str], *, near: float = 0.99) -> list[Finding]:
    """Return findings for tasks in different parts of a split with nearly the same features, such as augmented copies.

    The cosine similarity of centred features is at least `near`. Every pair of parts is compared in blocks.
    Barz and Denzler (2020), https://doi.org/10.3390/jimaging6060041

    >>> x = np.array([[1., 0, 0], [1., 1e-3, 0], [0, 1., 0], [0, 0, 1.]])
    >>> find_twins("abcd", x, {"a": "train", "b": "test", "c": "train", "d": "test"})[0].tasks
    ('b',)
    """
    if not 0 < near <= 1:
        raise OptionError(f"near must be above 0, at most 1; got {near}")
    flat = np.asarray(x, np.float32).reshape(len(x), -1)
    if len(flat) != len(tasks) or not np.isfinite(flat).all():
        raise InputError(
            f"features must be finite, one row per task; got the shape {flat.shape} for {len(tasks)} tasks"
        )
    flat = flat - flat.mean(0)
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12)
    parts = _task_positions_by_part(tasks, split)
    found = []
    for train, test in _train_test_pairs_of_part_names(parts):
        match = _first_similar_train_row_or_minus_one(flat[parts[test]], flat[parts[train]], near)
        hit = np.flatnonzero(match >= 0)
        pairs = [(tasks[parts[test][i]], tasks[parts[train][match[i]]]) for i in hit]
        found += _leak_finding_or_empty_list(
            pairs, len(parts[test]), test, train, f"features within cosine {near:g} of"
        )
    return found


def find_leaks(tasks: Sequence[Any], x: Floats, split: Mapping[Any, str], *, near: float = 0.99) -> list[Finding]:
    """Return findings for tasks that have copies in another part of the split, by name, content or features.

    >>> x = np.array([[1., 0, 0], [1., 0, 0], [0, 1., 0], [0, 1., 1e-3]])
    >>> found = find_leaks("abcd", x, {"a": "train", "b": "test", "c": "train", "d": "test"})
    >>> [(one.n, one.tasks) for one in found]
    [(1, ('b',)), (2, ('b', 'd'))]
    """
    copies = find_copies((tasks, x), split)
    known = {(one.n, one.tasks) for one in copies}
    twins = [one for one in find_twins(tasks, x, split, near=near) if (one.n, one.tasks) not in known]
    return [*find_name_copies(tasks, split), *copies, *twins]


def find_name_copies(tasks: Sequence[Any], split: Mapping[Any, str], *, pattern: str | None = None) -> list[Finding]:
    """Return findings for tasks in different parts of a split whose names mark them as copies: `photo7_aug2`, `photo7 (1)`.

    File extensions and suffixes such as aug, copy, flip, crop or rot with a number are removed, and the rest is compared;
    or `pattern` is a regular expression whose first group is the name of the original.

    >>> print(find_name_copies(["p1_aug.png", "p1.png"], {"p1_aug.png": "train", "p1.png": "test"})[0])
    leak: 1 of 1 tasks of test has the name of a copy of a task of train ('p1.png' = 'p1_aug.png'); keep copies on one side
    """
    try:
        original = None if pattern is None else re.compile(pattern)
    except re.error as cause:
        raise OptionError(f"the pattern {pattern!r} is not a valid regular expression: {cause}") from None
    if original is not None and not original.groups:
        raise OptionError(f"the pattern {pattern!r} needs a group in parentheses that matches the name of the original")
    names = [_original_name_of_copy(str(task), original) for task in tasks]
    return _findings_of_equal_keys_in_different_parts(
        list(tasks), encode(names)[0] if names else np.zeros(0, np.int64), split, "the name of a copy of"
    )


# ---- helpers


def _task_positions_by_part(tasks: Sequence[Any], split: Mapping[Any, str]) -> dict[str, Ints]:
    """Return part of the split -> positions of its tasks in `tasks`; tasks that the split does not contain are skipped."""
    own = [split.get(task, "") for task in tasks]
    codes, names = encode(own) if own else (np.zeros(0, np.int64), as_names([""]))
    return {str(name): np.flatnonzero(codes == i) for i, name in enumerate(names.tolist()) if name}


def _train_test_pairs_of_part_names(task_positions_by_part: Mapping[str, Ints]) -> list[tuple[str, str]]:
    """Return all pairs of parts of a split, ordered as (training part, test part): `train` first, then the larger one."""
    order = sorted(task_positions_by_part, key=lambda name: (name != "train", -len(task_positions_by_part[name]), name))
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]


def _findings_of_equal_keys_in_different_parts(
    tasks: Sequence[Any], key_of_task: Ints, split: Mapping[Any, str], same_as: str
) -> list[Finding]:
    """Return one finding per pair of parts of a split that contain tasks with equal keys; `key_of_task` is (n_tasks,)."""
    parts, found = _task_positions_by_part(tasks, split), []
    for train, test in _train_test_pairs_of_part_names(parts):
        first = {int(key_of_task[i]): i for i in parts[train][::-1].tolist()}
        pairs = [
            (tasks[i], tasks[first[int(key_of_task[i])]]) for i in parts[test].tolist() if int(key_of_task[i]) in first
        ]
        found += _leak_finding_or_empty_list(pairs, len(parts[test]), test, train, same_as)
    return found


def _leak_finding_or_empty_list(
    test_train_copies: list[tuple[Any, Any]], n_test_tasks: int, test_part: str, train_part: str, same_as: str
) -> list[Finding]:
    """Return one finding for (test task, training task) copies between two parts of a split; [] if there are no copies."""
    if not test_train_copies:
        return []
    example = f"{str(test_train_copies[0][0])!r} = {str(test_train_copies[0][1])!r}"
    has = "has" if len(test_train_copies) == 1 else "have"
    message = (
        f"{len(test_train_copies)} of {n_test_tasks} tasks of {test_part} {has} {same_as} a task of {train_part} "
        f"({example}); keep copies on one side"
    )
    return [Finding("leak", message, tuple(str(task) for task, _ in test_train_copies[:3]), len(test_train_copies))]


def _first_similar_train_row_or_minus_one(test: Floats, train: Floats, min_cosine: float) -> Ints:
    """Return (n_test,) for each test row the first training row with at least this cosine similarity; -1 if none."""
    match = np.full(len(test), -1)
    for begin in range(0, len(test), BLOCK_ROWS):
        close = test[begin : begin + BLOCK_ROWS] @ train.T >= min_cosine
        match[begin : begin + BLOCK_ROWS] = np.where(close.any(1), close.argmax(1), -1)
    return match


def _original_name_of_copy(name: str, pattern: re.Pattern[str] | None) -> str:
    """Return the name of the original of a copy: by the pattern, or without file extension and copy suffixes."""
    if pattern is not None:
        return found.group(1) or name if (found := pattern.search(name)) else name
    stem = re.sub(FILE_EXTENSION, "", name, flags=re.IGNORECASE)
    while (shorter := re.sub(COPY_SUFFIX, "", stem, flags=re.IGNORECASE)) != stem and shorter:
        stem = shorter
    return stem
