"""Audit an evaluation: labels in task names, leaks, and models evaluated on their own training target."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.name_encoding import as_text, encode
from plurivox.core.rows_by_task_name import select_rows_of_tasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.train_test_leaks import Finding, find_leaks, find_name_copies

PLAIN_REFERENCES = ("vote-shares", "shares", "normalised", "normalized", "counts", "votes", "gold")


@takes_what_users_hold
def find_faults(
    truth: SoftLabels,
    *,
    split: Mapping[Any, str] | None = None,
    x: Any = None,
    tasks: Iterable[object] | str | None = None,
    target: str = "",
    reference: str = "",
    near: float = 0.99,
) -> list[Finding]:
    """Return the faults found in an evaluation: labels in task names, leaks in the split, evaluation on the training target.

    `split` maps tasks to parts (train, test, ...). `x` contains the features of the tasks of the truth: `tasks` are the names
    of its rows, or it is a DataFrame whose index names them, or a mapping {task: row}; rows need no names only if the tasks
    are the numbers 0, 1, 2, ... `target` and `reference` are as in `check_reference`. The list is empty if nothing was found.

    >>> truth = SoftLabels.gold(["coast_1", "coast_2", "street_9"], ["coast", "coast", "street"])
    >>> [finding.kind for finding in find_faults(truth, target="softmax-shares", reference="softmax-shares")]
    ['label-in-name', 'own-transform']
    """
    names, found = truth.tasks.tolist(), find_labels_in_names(truth)
    if split is not None and x is None:
        found += find_name_copies(names, split)
    elif split is not None:
        rows, _, _ = select_rows_of_tasks(x, truth.tasks, tasks, owner="truth", all_tasks=truth.tasks)
        found += find_leaks(names, np.asarray(rows), split, near=near)
    return found + (check_reference(target, reference) if target and reference else [])


def check_reference(target: str, reference: str) -> list[Finding]:
    """Return a list with one finding if a model is evaluated on the transform of the votes that it was trained on, else [].

    Both are names of how votes became labels, such as `softmax-shares`. Plain vote shares are not a transform and pass; Uma et
    al. (2020) evaluate on softmax shares, https://doi.org/10.1609/hcomp.v8i1.7478.

    >>> print(check_reference("softmax-shares", "softmax-shares")[0])
    own-transform: soft measures use softmax-shares, which the model was trained on; also evaluate on plain vote shares
    >>> check_reference("softmax-shares", "vote-shares")
    []
    """
    names = [name.strip().lower().replace("_", "-") for name in (target, reference)]
    if names[0] != names[1] or names[0].split("[")[0] in PLAIN_REFERENCES:
        return []
    message = f"soft measures use {reference}, which the model was trained on; also evaluate on plain vote shares"
    return [Finding("own-transform", message)]


@takes_what_users_hold
def find_labels_in_names(truth: SoftLabels, *, share: float = 0.9) -> list[Finding]:
    """Return a list with one finding if the names of tasks reveal their true labels, by a word in the name, else [].

    Two criteria, each reported if it holds for at least `share` of the tasks: the name contains its own label as a word and no
    other label; or the first word of the name predicts the label (as the most frequent label of the tasks with that first
    word) and always predicting the most frequent label does not.

    >>> print(find_labels_in_names(SoftLabels.gold(["coast_1", "coast_2", "street_9"], ["coast", "coast", "street"]))[0])
    label-in-name: the names of 3 of 3 tasks contain their true label, such as 'coast_1'; rename the tasks before use
    """
    if not len(truth):
        return []
    names, labels = as_text(truth.tasks).tolist(), as_text(truth.hard()).tolist()
    matching = _names_containing_own_label(names, labels)
    if len(matching) >= share * len(names) and len(set(labels)) > 1:
        message = (
            f"the names of {len(matching)} of {len(names)} tasks contain their true label, such as {matching[0]!r}"
        )
        return [Finding("label-in-name", f"{message}; rename the tasks before use", tuple(matching[:3]))]
    first = [_leading_letters_in_lower_case(name) for name in names]
    predicted = _share_predicted_by_first_word(first, labels)
    if predicted >= share and predicted > max(map(labels.count, set(labels))) / len(names) + 0.05:
        message = (
            f"the first word of the name predicts the true label of {predicted:.0%} of the tasks, such as {names[0]!r}"
        )
        return [Finding("label-in-name", f"{message}; rename the tasks before use", tuple(names[:3]))]
    return []


# ---- helpers


def _names_containing_own_label(names: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the task names that contain their own true label as a word and no other label; numbers as labels are ignored."""
    words = sorted({label.lower() for label in labels if label and not label.isdigit()}, key=len, reverse=True)
    if not words:
        return []
    one = re.compile(rf"(?<![^\W_\d])(?:{'|'.join(map(re.escape, words))})(?![^\W_\d])")
    pairs = zip(names, labels, strict=True)
    return [name for name, label in pairs if set(one.findall(name.lower())) == {label.lower()}]


def _leading_letters_in_lower_case(name: str) -> str:
    """Return the letters at the beginning of a task name, in lower case; "" if it does not begin with a letter."""
    found = re.match(r"[^\W\d_]+", name)
    return found.group(0).lower() if found else ""


def _share_predicted_by_first_word(first_words_of_task_names: Sequence[str], labels: Sequence[str]) -> float:
    """Return the share of tasks that have the most frequent label of their name's first word; unique words do not count."""
    if not first_words_of_task_names:
        return 0.0
    word, _ = encode(list(first_words_of_task_names))
    label, known = encode(list(labels))
    table = np.zeros((int(word.max()) + 1, len(known)))
    np.add.at(table, (word, label), 1)
    return float(table.max(1)[table.sum(1) > 1].sum() / len(first_words_of_task_names))
