"""Audit an evaluation: what makes numbers look better than they are. Findings are words, never errors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plurivox.core.encoding import as_text, encode
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.evaluate.leaks import Finding, find_leaks, find_name_copies

PLAIN = ("vote-shares", "shares", "normalised", "normalized", "counts", "votes", "gold")


def find_faults(
    truth: SoftLabels,
    *,
    split: Mapping[Any, str] | None = None,
    x: Floats | None = None,
    target: str = "",
    reference: str = "",
    near: float = 0.99,
) -> list[Finding]:
    """Everything that can be checked with what is given: labels in names; leaks by name, content and features; own target.

    `split` maps tasks to parts and `x` holds the features of the tasks of the truth, in their order; `target` and `reference`
    are words as in `check_reference`. Empty where nothing was found.

    >>> truth = SoftLabels.gold(["coast_1", "coast_2", "street_9"], ["coast", "coast", "street"])
    >>> [finding.kind for finding in find_faults(truth, target="softmax-shares", reference="softmax-shares")]
    ['label-in-name', 'own-transform']
    """
    tasks = truth.tasks.tolist()
    found = find_labels_in_names(truth)
    if split is not None:
        found += find_name_copies(tasks, split) if x is None else find_leaks(tasks, x, split, near=near)
    return found + (check_reference(target, reference) if target and reference else [])


def check_reference(target: str, reference: str) -> list[Finding]:
    """Was a model trained on one transform of the votes and scored on the same? Then a soft measure judges its own target.

    Both are words for how votes became labels, such as `softmax-shares`. Plain shares are what the votes say and pass; Uma et
    al. (2020) score on softmax shares, https://doi.org/10.1609/hcomp.v8i1.7478.

    >>> print(check_reference("softmax-shares", "softmax-shares")[0])
    own-transform: soft measures are taken against softmax-shares, which the model was trained on; take plain vote shares too
    >>> check_reference("softmax-shares", "vote-shares")
    []
    """
    words = [word.strip().lower().replace("_", "-") for word in (target, reference)]
    if words[0] != words[1] or words[0].split("[")[0] in PLAIN:
        return []
    said = f"soft measures are taken against {reference}, which the model was trained on; take plain vote shares too"
    return [Finding("own-transform", said)]


def find_labels_in_names(truth: SoftLabels, *, share: float = 0.9) -> list[Finding]:
    """Do the names of tasks give their labels away? A model or a worker that sees a name then needs no look at the task.

    Two signs, each reported where it holds for at least `share` of the tasks: the name has its own label as a word and no
    other; or the first word of the name tells the label (by the most frequent label of every first word that several
    tasks have), where always saying the most frequent label would not.

    >>> print(find_labels_in_names(SoftLabels.gold(["coast_1", "coast_2", "street_9"], ["coast", "coast", "street"]))[0])
    label-in-name: the names of 3 of 3 tasks hold their true label, such as 'coast_1'; give tasks other names before use
    """
    if not len(truth):
        return []
    names, labels = as_text(truth.tasks).tolist(), as_text(truth.hard()).tolist()
    held = _telling(names, labels)
    if len(held) >= share * len(names) and len(set(labels)) > 1:
        said = f"the names of {len(held)} of {len(names)} tasks hold their true label, such as {held[0]!r}"
        return [Finding("label-in-name", f"{said}; give tasks other names before use", tuple(held[:3]))]
    first = [_first_word(name) for name in names]
    told = _told_by(first, labels)
    if told >= share and told > max(map(labels.count, set(labels))) / len(names) + 0.05:
        said = f"the first word of a name tells the true label of {told:.0%} of the tasks, such as {names[0]!r}"
        return [Finding("label-in-name", f"{said}; give tasks other names before use", tuple(names[:3]))]
    return []


# ---- pieces


def _telling(names: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The names that have their own label as a word and no other label; labels that are numbers tell nothing."""
    words = sorted({label.lower() for label in labels if label and not label.isdigit()}, key=len, reverse=True)
    if not words:
        return []
    one = re.compile(rf"(?<![^\W_\d])(?:{'|'.join(map(re.escape, words))})(?![^\W_\d])")
    pairs = zip(names, labels, strict=True)
    return [name for name, label in pairs if set(one.findall(name.lower())) == {label.lower()}]


def _first_word(name: str) -> str:
    found = re.match(r"[^\W\d_]+", name)
    return found.group(0).lower() if found else ""


def _told_by(words: Sequence[str], labels: Sequence[str]) -> float:
    """The share of tasks whose label is the most frequent one of their word; words that one task alone has tell nothing."""
    if not words:
        return 0.0
    word, _ = encode(list(words))
    label, known = encode(list(labels))
    table = np.zeros((int(word.max()) + 1, len(known)))
    np.add.at(table, (word, label), 1)
    return float(table.max(1)[table.sum(1) > 1].sum() / len(words))
