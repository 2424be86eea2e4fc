"""Numbers about the data in the CIFAR-10S paper, each compared with the released data and with what plurivox computes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox import aggregate, elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.name_encoding import as_names, encode, positions
from plurivox.core.parse_typed_percents import parse_percents
from plurivox.core.sample_existing_answers import subsample
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

N_SUBSETS = 20  # random subsets of six answers per task
RELEASED = "top-two[compat=cifar10s]"
VARIANTS = {  # name: (form, entropy correlation and distance in the release)
    "T2 unif": ("top-two[compat=cifar10s,spread=uniform]", 0.6253, 0.02785),
    "T1 clamp": ("top-two[compat=cifar10s,use=top]", 0.6250, 0.02626),
    "T1 unif": ("top-two[compat=cifar10s,use=top,spread=uniform]", 0.6285, 0.03288),
    "T2 clamp, gamma 0": ("top-two[compat=cifar10s,gamma=0]", 0.6298, 0.02566),
}
IMAGE_0 = {"bird": 0.004762, "cat": 0.718299, "deer": 0.004762, "dog": 0.253129, "frog": 0.014286, "horse": 0.004762}


@dataclass(frozen=True)
class PublishedNumber:
    """One figure of the CIFAR-10S paper: as printed (None if it is not), from the released data, ours, and why they differ."""

    name: str
    paper: float | None
    release: float
    ours: float
    reason: str = ""


def compare_published_numbers_with_ours(
    answers: Answers, published_soft_labels: Mapping[str, Any], cifar10h: Votes, gold: SoftLabels
) -> list[PublishedNumber]:
    """Return the numbers of the CIFAR-10S paper about its data beside ours, with further ones that only the release gives.

    `published_soft_labels` is the released table of soft labels. Not among them: the paper's trained networks (Tables 1 to
    6), the accuracy of the people of CIFAR-10H, and the seconds of their votes, which need data that was not released.
    """
    return [
        *_yield_largest_soft_label_difference(answers, published_soft_labels),
        *_yield_published_and_own_dataset_sizes(answers),
        *_yield_published_and_own_accuracies(answers, gold),
        *_yield_published_and_own_repeat_numbers(answers),
        *_yield_published_and_own_answer_times(answers),
        *_yield_published_and_own_distances(answers, cifar10h),
        *_yield_published_and_own_soft_labels(answers, cifar10h, gold),
    ]


def mean_soft_labels(answers: Answers, form: str = RELEASED) -> SoftLabels:
    """Return the soft label of each task: the mean of its answers, each converted to a soft label by the form `form`."""
    return aggregate.methods.make("vote-shares").fit(elicit.methods.make(form).read(answers).votes).soft


def cifar10h_vote_shares(cifar10h: Votes, answers: Answers) -> SoftLabels:
    """Return the shares of the CIFAR-10H votes for each label, on the tasks of these answers."""
    return aggregate.methods.make("vote-shares").fit(cifar10h.on(answers.tasks)).soft


def _yield_largest_soft_label_difference(
    answers: Answers, published_soft_labels: Mapping[str, Any]
) -> Iterator[PublishedNumber]:
    """Yield the largest difference between our soft label of an answer and the published one, as a figure to compare."""
    yield PublishedNumber(
        "label of each answer, largest difference",
        None,
        0,
        largest_soft_label_difference(answers, published_soft_labels),
    )


def largest_soft_label_difference(
    answers: Answers, published_soft_labels: Mapping[str, Any], form: str = RELEASED
) -> float:
    """Return the largest difference between our soft labels of single answers and the published ones; inf if tasks differ."""
    votes = elicit.methods.make(form).read(answers).votes
    assert votes.answer is not None and votes.weight is not None
    ours = np.zeros((len(answers), len(answers.labels)))
    ours[votes.answer, votes.label] = votes.weight
    theirs = np.stack(
        [np.asarray(published_soft_labels[str(label)], np.float64) for label in answers.labels.tolist()], 1
    )
    task = positions(answers.tasks, as_names(list(published_soft_labels["task"]), "tasks"))
    if (task < 0).any() or not np.array_equal(np.bincount(task), np.bincount(answers.task)):
        return float("inf")
    return float(np.abs(_sort_by_task_and_values(ours, answers.task) - _sort_by_task_and_values(theirs, task)).max())


def _sort_by_task_and_values(soft_labels: Floats, task: Ints) -> Floats:
    """Return the soft labels of answers sorted by task, within a task by their rounded values."""
    return soft_labels[np.lexsort((*soft_labels.round(9).T, task))]


def mask_of_second_copies_of_answers(answers: Answers) -> Bools:
    """Return (n_answers,) True for each answer stored a second time: same worker, session and position as an earlier row."""
    assert answers.position is not None and answers.sitting is not None
    sitting, _ = encode(answers.sitting)
    _, first = np.unique(np.stack([answers.worker, sitting, answers.position]), axis=1, return_index=True)
    is_copy = np.ones(len(answers), bool)
    is_copy[first] = False
    return is_copy


def _yield_published_and_own_dataset_sizes(answers: Answers) -> Iterator[PublishedNumber]:
    """Yield the published and our numbers of people, answers, repeated answers and people per image."""
    assert answers.repeat_of is not None
    copy, repeat = mask_of_second_copies_of_answers(answers), answers.repeat_of >= 0
    pair = np.unique(answers.task.astype(np.int64) * len(answers.workers) + answers.worker)
    people = np.bincount(pair // len(answers.workers))
    yield PublishedNumber("people", 248, 248, len(np.unique(answers.worker)))
    rows = "the paper counts first answers; the release also contains repeats, and one session twice"
    yield PublishedNumber("answers", 6200, 6723, len(answers), rows)
    yield PublishedNumber("first answers", 6200, 6200, int((~copy & ~repeat).sum()))
    yield PublishedNumber(
        "repeats", None, 496, int((~copy & repeat).sum()), "the release marks 498: two are in the second copy"
    )
    yield PublishedNumber("answers of a session stored twice", None, 27, int(copy.sum()))
    yield PublishedNumber("people per image, least", 6, 6, int(people.min()))
    yield PublishedNumber("people per image, mean", None, 6.2, float(people.mean()))
    yield PublishedNumber("people per image, most", None, 7, int(people.max()))


def _yield_published_and_own_accuracies(answers: Answers, gold: SoftLabels) -> Iterator[PublishedNumber]:
    """Yield the published and our top-1 and top-2 accuracy of the answers, averaged over people."""
    true = positions(answers.labels, gold.on(answers.tasks).hard())[answers.task]
    top = answers.label_codes_at_rank(0) == true
    either = top | (answers.label_codes_at_rank(1) == true)
    n = np.bincount(answers.worker)
    how = "mean over people, with repeats"
    yield PublishedNumber("top-1 accuracy", 0.84, 0.84349, float((np.bincount(answers.worker, top) / n).mean()), how)
    yield PublishedNumber("top-2 accuracy", 0.92, 0.91965, float((np.bincount(answers.worker, either) / n).mean()), how)


def _yield_published_and_own_repeat_numbers(answers: Answers) -> Iterator[PublishedNumber]:
    """Yield the published and our figures about images answered twice: pairs, changed top labels, change in percent."""
    assert answers.repeat_of is not None
    again = np.flatnonzero(answers.repeat_of >= 0)
    first, top = answers.repeat_of[again], answers.label_codes_at_rank(0)
    changed, once = top[again] != top[first], ~mask_of_second_copies_of_answers(answers)[again]
    percent = parse_percents(answers.typed_texts_at_rank(0)).value
    moved = np.abs(percent[again] - percent[first])[~changed]
    yield PublishedNumber("repeats, pairs", None, 498, len(again))
    yield PublishedNumber("repeats, top label changed", None, 35, int(changed.sum()))
    yield PublishedNumber("repeats, share changed", 0.07, 0.0703, float(changed.mean()))
    yield PublishedNumber("repeats, pairs without the second copy", None, 496, int(once.sum()))
    yield PublishedNumber("repeats, changed without the second copy", None, 34, int(changed[once].sum()))
    yield PublishedNumber(
        "repeats, mean change of percent", 6, 6.10, float(moved.mean()), "points, if the top label is the same"
    )


def _yield_published_and_own_answer_times(answers: Answers) -> Iterator[PublishedNumber]:
    """Yield the published and our median seconds per answer: of all answers, of first views, of repeats."""
    assert answers.seconds is not None and answers.repeat_of is not None
    again, copy = answers.repeat_of >= 0, mask_of_second_copies_of_answers(answers)
    yield PublishedNumber("median seconds", 32, 31.958, float(np.median(answers.seconds)))
    first = answers.seconds[~again & ~copy]
    yield PublishedNumber(
        "median seconds, first views", None, 32.38, float(np.median(first)), "without the second copy"
    )
    yield PublishedNumber("median seconds, repeats", None, 26.6, float(np.median(answers.seconds[again])))


def _yield_published_and_own_distances(answers: Answers, cifar10h: Votes) -> Iterator[PublishedNumber]:
    """Yield the published and our distances and entropy correlations between soft labels of CIFAR-10S and CIFAR-10H."""
    human, soft = cifar10h_vote_shares(cifar10h, answers), mean_soft_labels(answers)
    unknown = "none of the variants in this table gives the number of the paper"
    yield PublishedNumber("entropy r with CIFAR-10H", 0.596, 0.6243, evaluate.entropy_correlation(soft, human), unknown)
    blind = "compares sorted probabilities: ignores which label they belong to"
    yield PublishedNumber('"Wasserstein" to CIFAR-10H', 0.028, 0.02696, evaluate.sorted_wasserstein(soft, human), blind)
    yield PublishedNumber("total variation to CIFAR-10H", None, 0.1597, evaluate.total_variation(soft, human))
    bits = evaluate.jensen_shannon_divergence(soft, human, base=2)
    yield PublishedNumber("Jensen-Shannon divergence to CIFAR-10H", None, 0.069, bits, "bits")
    places = evaluate.wasserstein(soft, human, scale=np.arange(float(len(soft.labels))))
    yield PublishedNumber(
        "Wasserstein over places in the list", None, 0.523, places, "labels have no order: for comparison only"
    )
    for name, (form, r, distance) in VARIANTS.items():
        soft = mean_soft_labels(answers, form)
        yield PublishedNumber(f"{name}: entropy r", None, r, evaluate.entropy_correlation(soft, human))
        yield PublishedNumber(f'{name}: "Wasserstein"', None, distance, evaluate.sorted_wasserstein(soft, human))
    six = [mean_soft_labels(subsample(answers, 6, seed)) for seed in range(N_SUBSETS)]
    drawn = [evaluate.entropy_correlation(labels, human) for labels in six]
    yield PublishedNumber(
        "entropy r, six answers per image", 0.596, 0.614, float(np.mean(drawn)), f"mean of {N_SUBSETS} draws"
    )
    yield PublishedNumber("entropy r, six answers: sd", None, 0.005, float(np.std(drawn, ddof=1)), "over draws")
    entropy = human.body.entropy_per_row()
    yield PublishedNumber("CIFAR-10H images, entropy at least .25", 886, 886, int((entropy >= 0.25).sum()), "nats")
    yield PublishedNumber("CIFAR-10H images, entropy at most .1", None, 114, int((entropy <= 0.1).sum()), "nats")
    counts = cifar10h.counts()
    two = "of all images; the paper says on only two labels"
    yield PublishedNumber("CIFAR-10H, at most two labels", 0.772, 0.7715, float(((counts > 0).sum(1) <= 2).mean()), two)
    yield PublishedNumber("CIFAR-10H, votes per image", 51, 51.1, float(counts.sum(1).mean()), "mean of all images")


def _yield_published_and_own_soft_labels(
    answers: Answers, cifar10h: Votes, gold: SoftLabels
) -> Iterator[PublishedNumber]:
    """Yield the published and our soft label of image 0, and the accuracies of CIFAR-10S and CIFAR-10H."""
    soft, human = mean_soft_labels(answers), cifar10h_vote_shares(cifar10h, answers)
    row = dict(zip(soft.labels.tolist(), soft.on(["0"]).prob[0].tolist(), strict=True))
    for label, share in IMAGE_0.items():
        yield PublishedNumber(f"image 0, {label}", None, share, row.pop(label))
    yield PublishedNumber("image 0, all others", None, 0, sum(row.values()))
    yield PublishedNumber("aggregate, argmax accuracy", None, 0.938, evaluate.accuracy(soft, gold))
    yield PublishedNumber("CIFAR-10H, argmax accuracy", None, 0.971, evaluate.accuracy(human, gold))
