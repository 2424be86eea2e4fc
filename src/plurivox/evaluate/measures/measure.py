"""Every measure by name, in the form in which tasks can be drawn again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from plurivox.core.errors import InputError, OptionError, unknown
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats, Names
from plurivox.evaluate.alignment import blocks, each, meet, places
from plurivox.evaluate.measures import calibration, distances, hard, soft
from plurivox.evaluate.measures.hard import Average, Ties, What
from plurivox.evaluate.resampling import Piece, Tally, mean

Kind = Literal["hard", "soft", "calibration"]
KINDS: tuple[Kind, ...] = ("hard", "soft", "calibration")


@dataclass(frozen=True)
class Measure:
    """A measure between two sets of rows: a mean over tasks (`each`), or what is made of other sums over them (`sums`)."""

    name: str
    kind: Kind
    better: Literal["higher", "lower"]
    each: Callable[[Rows, Rows, Ties], Floats] | None = None  # (n_tasks,)
    sums: Callable[[Rows, Rows, Ties], Tally] | None = None
    usual: bool = True  # shown where no measures are named
    biased: bool = False  # drawn again it lies higher, as sums of |noise| do

    def __call__(self, guess: SoftLabels, truth: SoftLabels) -> float:
        """The measure on the tasks that both have."""
        return self.tally(*meet(guess, truth)).value

    def tally(self, guess: Rows, truth: Rows, ties: Ties = "first") -> Tally:
        """The sums over tasks that it is made of."""
        if self.each is not None:
            return mean(self.each(guess, truth, ties))
        assert self.sums is not None
        return self.sums(guess, truth, ties)


def chosen(words: Sequence[str] | None = None) -> list[Measure]:
    """The measures of these names; `hard`, `soft`, `calibration` and `all` stand for several. Without words: the usual ones.

    >>> [one.name for one in chosen(["accuracy", "calibration"])]
    ['accuracy', 'ece', 'classwise-ece', 'rms-calibration', 'brier', 'nll']
    """
    if words is None:
        return [one for one in MEASURES.values() if one.usual]
    if not words:
        raise OptionError(f"name a measure at least; there are {', '.join(MEASURES)}")
    found: dict[str, Measure] = {}
    for word in words:
        if word in (*KINDS, "all"):
            found |= {one.name: one for one in MEASURES.values() if word in (one.kind, "all")}
        elif word in MEASURES:
            found[word] = MEASURES[word]
        else:
            raise unknown("measure", word, [*MEASURES, *KINDS, "all"])
    return list(found.values())


def by_task(
    guess: SoftLabels, truth: SoftLabels, measure: str = "cross-entropy", *, ties: Ties = "first"
) -> tuple[Names, Floats]:
    """The tasks that both have, and what each adds to a measure that is a mean over tasks.

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> tasks, value = by_task(guess, truth, "total-variation")
    >>> tasks.tolist(), value.round(4).tolist()
    (['a'], [0.3])
    """
    (found,) = chosen([measure])[:1]
    if found.each is None or found.name != measure:
        means = ", ".join(one.name for one in MEASURES.values() if one.each is not None)
        raise InputError(f"{measure} is no mean over tasks; {means} are")
    return guess.tasks[places(guess, truth)[0]], found.each(*meet(guess, truth), ties)


# ---- how each is made


def _rows(of_rows: Callable[[Floats, Floats], Floats]) -> Callable[[Rows, Rows, Ties], Floats]:
    return lambda guess, truth, _: each(of_rows, guess, truth)


def _inverse_kl(guess: Rows, truth: Rows, _: Ties) -> Floats:
    return each(soft.relative_entropies, truth, guess)


def _top(k: int) -> Callable[[Rows, Rows, Ties], Floats]:
    return lambda guess, truth, ties: hard.top_hits(guess, truth, k, ties)


def _labels(what: What, average: Average) -> Callable[[Rows, Rows, Ties], Tally]:
    return lambda guess, truth, ties: hard.of_labels(guess, truth, ties, what, average)


def _of_true_labels(hit: Callable[[Rows, Rows, Ties], Floats]) -> Callable[[Rows, Rows, Ties], Tally]:
    """The mean over true labels of the mean over their tasks."""

    def sums(guess: Rows, truth: Rows, ties: Ties) -> Tally:
        size, true, tasks = guess.n_labels, hard.true_labels(truth), np.arange(len(guess))
        pieces = [(tasks, true, hit(guess, truth, ties)), (tasks, size + true, np.ones(len(guess)))]
        return Tally(len(guess), 2 * size, lambda: pieces, _mean_over_seen)

    return sums


def _mean_over_seen(sums: Floats, _: Floats) -> Floats:
    """(n,) the mean of above / below over the columns whose below is not zero; sums (n, 2 x columns)."""
    above, below = np.split(sums, 2, axis=1)
    seen = below > 0
    return np.divide(above, below, out=np.zeros_like(above), where=seen).sum(1) / seen.sum(1)


def _soft_f1(average: Literal["micro", "macro"]) -> Callable[[Rows, Rows, Ties], Tally]:
    def sums(guess: Rows, truth: Rows, _: Ties) -> Tally:
        label = np.arange(guess.n_labels)

        def pieces() -> Iterator[Piece]:
            begin = 0
            for q, p in blocks(guess, truth):
                rows = np.arange(begin, begin + len(q))[:, None]
                yield rows, label, 2 * np.minimum(p, q)
                yield rows, len(label) + label, p + q
                begin += len(q)

        return Tally(len(guess), 2 * len(label), pieces, _mean_over_seen if average == "macro" else _all_over_all)

    return sums


def _all_over_all(sums: Floats, _: Floats) -> Floats:
    above, below = np.split(sums, 2, axis=1)
    return above.sum(1) / below.sum(1)


def _entropies(centred: bool) -> Callable[[Rows, Rows, Ties], Tally]:
    """The correlation (centred) or the cosine of the normalised entropies, of sums of x, y, xx, yy, xy."""

    def sums(guess: Rows, truth: Rows, _: Ties) -> Tally:
        x, y = soft.normalised_entropies(guess, truth)
        if centred:  # so that squares lose no digits
            x, y = x - x.mean(), y - y.mean()
        numbers = np.column_stack([x, y, x * x, y * y, x * y])
        pieces = [(np.arange(len(x))[:, None], np.arange(5), numbers)]
        return Tally(len(x), 5, lambda: pieces, partial(_correlation, centred=centred))

    return sums


def _correlation(sums: Floats, n: Floats, centred: bool) -> Floats:
    x, y, xx, yy, xy = (sums / n[:, None]).T
    if centred:
        xx, yy, xy = xx - x * x, yy - y * y, xy - x * y
    told = (xx > soft.FLAT**2) & (yy > soft.FLAT**2)
    return np.where(told, xy / np.sqrt(np.where(told, xx * yy, 1)), np.nan)


def _ece(guess: Rows, truth: Rows, ties: Ties) -> Tally:
    hit, sure = calibration.hits_and_confidence(guess, truth, ties)
    return calibration.of_bins(calibration.equal(sure, 15), hit - sure, 15)


def _classwise_ece(guess: Rows, truth: Rows, _: Ties) -> Tally:
    return calibration.of_labels_and_bins(guess, truth, 15)


def _rms(compat: bool) -> Callable[[Rows, Rows, Ties], Tally]:
    def sums(guess: Rows, truth: Rows, ties: Ties) -> Tally:
        hit, sure = calibration.hits_and_confidence(guess, truth, ties)
        return calibration.adaptive(hit if compat else calibration.tied_mean(hit, sure), sure, 100, compat)

    return sums


ALL = (
    Measure("accuracy", "hard", "higher", each=hard.hits),
    Measure("balanced-accuracy", "hard", "higher", sums=_of_true_labels(hard.hits)),
    Measure("top-2-accuracy", "hard", "higher", each=_top(2)),
    Measure("top-5-accuracy", "hard", "higher", each=_top(5), usual=False),
    Measure("top-2-macro-accuracy", "hard", "higher", sums=_of_true_labels(_top(2)), usual=False),
    Measure("top-5-macro-accuracy", "hard", "higher", sums=_of_true_labels(_top(5)), usual=False),
    Measure("macro-precision", "hard", "higher", sums=_labels("precision", "macro")),
    Measure("macro-recall", "hard", "higher", sums=_labels("recall", "macro")),
    Measure("macro-f1", "hard", "higher", sums=_labels("f1", "macro")),
    Measure("weighted-precision", "hard", "higher", sums=_labels("precision", "weighted"), usual=False),
    Measure("weighted-recall", "hard", "higher", sums=_labels("recall", "weighted"), usual=False),
    Measure("weighted-f1", "hard", "higher", sums=_labels("f1", "weighted"), usual=False),
    Measure("micro-f1", "hard", "higher", sums=_labels("f1", "micro"), usual=False),
    Measure("cross-entropy", "soft", "lower", each=_rows(soft.cross_entropies)),
    Measure("kl-divergence", "soft", "lower", each=_rows(soft.relative_entropies)),
    Measure("inverse-kl-divergence", "soft", "lower", each=_inverse_kl, usual=False),
    Measure("jensen-shannon-divergence", "soft", "lower", each=_rows(soft.jensen_shannon_divergences)),
    Measure("jensen-shannon-distance", "soft", "lower", each=_rows(soft.jensen_shannon_distances)),
    Measure("total-variation", "soft", "lower", each=_rows(soft.total_variations)),
    Measure("soft-accuracy", "soft", "higher", each=_rows(soft.overlaps), usual=False),
    Measure("soft-micro-f1", "soft", "higher", sums=_soft_f1("micro")),
    Measure("soft-macro-f1", "soft", "higher", sums=_soft_f1("macro")),
    Measure("entropy-correlation", "soft", "higher", sums=_entropies(centred=True)),
    Measure("entropy-similarity", "soft", "higher", sums=_entropies(centred=False)),
    Measure("sorted-wasserstein", "soft", "lower", each=_rows(distances.sorted_wassersteins), usual=False),
    Measure("ece", "calibration", "lower", sums=_ece, biased=True),
    Measure(
        "classwise-ece",
        "calibration",
        "lower",
        sums=lambda q, p, _: calibration.of_labels_and_bins(q, p, 15),
        biased=True,
    ),
    Measure("rms-calibration", "calibration", "lower", sums=_rms(compat=False), biased=True),
    Measure("brier", "calibration", "lower", each=lambda q, p, _: calibration.square_losses(q, p)),
    Measure("nll", "calibration", "lower", each=lambda q, p, _: calibration.log_losses(q, p)),
)
MEASURES = {one.name: one for one in ALL}
