"""The figures of CIFAR-10S: what the paper says, what its release gives, what we get."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox import aggregate, elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.encoding import as_names, positions
from plurivox.core.sampling import subsample
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.typed_percents import parse_percents
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

DRAWS = 20  # of six answers a task
RELEASED = "top-two[compat=cifar10s]"
VARIETIES = {  # name: form, r and distance in the release
    "T2 unif": ("top-two[compat=cifar10s,spread=uniform]", 0.6253, 0.02785),
    "T1 clamp": ("top-two[compat=cifar10s,use=top]", 0.6250, 0.02626),
    "T1 unif": ("top-two[compat=cifar10s,use=top,spread=uniform]", 0.6285, 0.03288),
    "T2 clamp, gamma 0": ("top-two[compat=cifar10s,gamma=0]", 0.6298, 0.02566),
}
IMAGE_0 = {"bird": 0.004762, "cat": 0.718299, "deer": 0.004762, "dog": 0.253129, "frog": 0.014286, "horse": 0.004762}


@dataclass(frozen=True)
class Figure:
    """One line of the table; None where a source does not tell."""

    name: str
    paper: float | None
    release: float
    ours: float
    reason: str = ""


def cifar10s_table(answers: Answers, published: Mapping[str, Any], cifar10h: Votes, gold: SoftLabels) -> list[Figure]:
    """Every figure in three columns. `published` has a column `task` and one for each label; `cifar10h` are counts."""
    return [
        *_labels(answers, published),
        *_sizes(answers),
        *_accuracies(answers, gold),
        *_repeats(answers),
        *_times(answers),
        *_nearness(answers, cifar10h),
        *_aggregate(answers, cifar10h, gold),
    ]


def mean_label(answers: Answers, form: str = RELEASED) -> SoftLabels:
    """The plain mean over a task's answers."""
    return aggregate.methods.make("vote-shares").fit(elicit.methods.make(form).read(answers).votes).soft


def human_shares(cifar10h: Votes, answers: Answers) -> SoftLabels:
    """The shares of CIFAR-10H on the tasks of these answers."""
    return aggregate.methods.make("vote-shares").fit(cifar10h.on(answers.tasks)).soft


def _labels(answers: Answers, published: Mapping[str, Any]) -> Iterator[Figure]:
    yield Figure("label of each answer, largest difference", None, 0, label_difference(answers, published))


def label_difference(answers: Answers, published: Mapping[str, Any], form: str = RELEASED) -> float:
    """The largest difference between our labels and the published ones; those of one task are compared in any order."""
    votes = elicit.methods.make(form).read(answers).votes
    assert votes.answer is not None and votes.weight is not None
    ours = np.zeros((len(answers), len(answers.labels)))
    ours[votes.answer, votes.label] = votes.weight
    theirs = np.stack([np.asarray(published[str(label)], np.float64) for label in answers.labels.tolist()], 1)
    task = positions(answers.tasks, as_names(list(published["task"]), "tasks"))
    if (task < 0).any() or not np.array_equal(np.bincount(task), np.bincount(answers.task)):
        return float("inf")
    return float(np.abs(_in_order(ours, answers.task) - _in_order(theirs, task)).max())


def _in_order(rows: Floats, task: Ints) -> Floats:
    """Rows by task, then by their values as far as rounding leaves them alike."""
    return rows[np.lexsort((*rows.round(9).T, task))]


def stored_twice(answers: Answers) -> Bools:
    """(n_answers,) the second copy of a sitting: the same person at the same place of the same sitting."""
    assert answers.position is not None and answers.sitting is not None
    sitting = np.unique(answers.sitting, return_inverse=True)[1]
    _, first = np.unique(np.stack([answers.worker, sitting, answers.position]), axis=1, return_index=True)
    again = np.ones(len(answers), bool)
    again[first] = False
    return again


def _sizes(answers: Answers) -> Iterator[Figure]:
    assert answers.repeat_of is not None
    copy, repeat = stored_twice(answers), answers.repeat_of >= 0
    pair = np.unique(answers.task.astype(np.int64) * len(answers.workers) + answers.worker)
    people = np.bincount(pair // len(answers.workers))
    yield Figure("people", 248, 248, len(np.unique(answers.worker)))
    rows = "the paper counts first answers; the release also holds repeats, and one sitting twice"
    yield Figure("answers", 6200, 6723, len(answers), rows)
    yield Figure("first answers", 6200, 6200, int((~copy & ~repeat).sum()))
    yield Figure("repeats", None, 496, int((~copy & repeat).sum()), "the release marks 498: two lie in the second copy")
    yield Figure("answers of a sitting stored twice", None, 27, int(copy.sum()))
    yield Figure("people per image, least", 6, 6, int(people.min()))
    yield Figure("people per image, mean", None, 6.2, float(people.mean()))
    yield Figure("people per image, most", None, 7, int(people.max()))


def _accuracies(answers: Answers, gold: SoftLabels) -> Iterator[Figure]:
    true = positions(answers.labels, gold.on(answers.tasks).hard())[answers.task]
    top = answers.named(0) == true
    either = top | (answers.named(1) == true)
    n = np.bincount(answers.worker)
    how = "mean over people, repeats kept"
    yield Figure("top-1 accuracy", 0.84, 0.84349, float((np.bincount(answers.worker, top) / n).mean()), how)
    yield Figure("top-2 accuracy", 0.92, 0.91965, float((np.bincount(answers.worker, either) / n).mean()), how)


def _repeats(answers: Answers) -> Iterator[Figure]:
    assert answers.repeat_of is not None
    again = np.flatnonzero(answers.repeat_of >= 0)
    first, top = answers.repeat_of[again], answers.named(0)
    changed, once = top[again] != top[first], ~stored_twice(answers)[again]
    percent = parse_percents(answers.typed(0)).value
    moved = np.abs(percent[again] - percent[first])[~changed]
    yield Figure("repeats, pairs", None, 498, len(again))
    yield Figure("repeats, top label changed", None, 35, int(changed.sum()))
    yield Figure("repeats, share changed", 0.07, 0.0703, float(changed.mean()))
    yield Figure("repeats, pairs without the second copy", None, 496, int(once.sum()))
    yield Figure("repeats, changed without the second copy", None, 34, int(changed[once].sum()))
    yield Figure(
        "repeats, mean change of percent", 6, 6.10, float(moved.mean()), "points, where the top label is the same"
    )


def _times(answers: Answers) -> Iterator[Figure]:
    assert answers.seconds is not None and answers.repeat_of is not None
    again, copy = answers.repeat_of >= 0, stored_twice(answers)
    yield Figure("median seconds", 32, 31.958, float(np.median(answers.seconds)))
    first = answers.seconds[~again & ~copy]
    yield Figure("median seconds, first views", None, 32.38, float(np.median(first)), "without the second copy")
    yield Figure("median seconds, repeats", None, 26.6, float(np.median(answers.seconds[again])))


def _nearness(answers: Answers, cifar10h: Votes) -> Iterator[Figure]:
    human, soft = human_shares(cifar10h, answers), mean_label(answers)
    unknown = "no variant of the full data gives the paper's figure"
    yield Figure("entropy r with CIFAR-10H", 0.596, 0.6243, evaluate.entropy_correlation(soft, human), unknown)
    blind = "compares sorted probabilities: it cannot see labels"
    yield Figure('"Wasserstein" to CIFAR-10H', 0.028, 0.02696, evaluate.sorted_wasserstein(soft, human), blind)
    yield Figure("total variation to CIFAR-10H", None, 0.1597, evaluate.total_variation(soft, human))
    bits = evaluate.jensen_shannon_divergence(soft, human, base=2)
    yield Figure("Jensen-Shannon divergence to CIFAR-10H", None, 0.069, bits, "bits")
    places = evaluate.wasserstein(soft, human, scale=np.arange(float(len(soft.labels))))
    yield Figure(
        "Wasserstein over places in the list", None, 0.523, places, "labels have no order: for comparison only"
    )
    for name, (form, r, distance) in VARIETIES.items():
        soft = mean_label(answers, form)
        yield Figure(f"{name}: entropy r", None, r, evaluate.entropy_correlation(soft, human))
        yield Figure(f'{name}: "Wasserstein"', None, distance, evaluate.sorted_wasserstein(soft, human))
    six = [mean_label(subsample(answers, 6, seed)) for seed in range(DRAWS)]
    drawn = [evaluate.entropy_correlation(one, human) for one in six]
    yield Figure("entropy r, six answers an image", 0.596, 0.614, float(np.mean(drawn)), f"mean of {DRAWS} draws")
    yield Figure("entropy r, six answers: sd", None, 0.005, float(np.std(drawn, ddof=1)), "over draws")
    entropy = human.body.entropy()
    yield Figure("CIFAR-10H images, entropy at least .25", None, 886, int((entropy >= 0.25).sum()), "nats")
    yield Figure("CIFAR-10H images, entropy at most .1", None, 114, int((entropy <= 0.1).sum()), "nats")


def _aggregate(answers: Answers, cifar10h: Votes, gold: SoftLabels) -> Iterator[Figure]:
    soft, human = mean_label(answers), human_shares(cifar10h, answers)
    row = dict(zip(soft.labels.tolist(), soft.on(["0"]).prob[0].tolist(), strict=True))
    for label, share in IMAGE_0.items():
        yield Figure(f"image 0, {label}", None, share, row.pop(label))
    yield Figure("image 0, all others", None, 0, sum(row.values()))
    yield Figure("aggregate, argmax accuracy", None, 0.938, evaluate.accuracy(soft, gold))
    yield Figure("CIFAR-10H, argmax accuracy", None, 0.971, evaluate.accuracy(human, gold))
