"""The table of measures by name; their formulas are in `hard`, `soft`, `calibration` and `distances`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from plurivox.core.errors import InputError, OptionError, unknown_name
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats, Names
from plurivox.evaluate.alignment import meet, places
from plurivox.evaluate.measures import calibration, distances, hard, soft
from plurivox.evaluate.measures.hard import Ties
from plurivox.evaluate.resampling import Tally, mean

Kind = Literal["hard", "soft", "calibration"]
T = TypeVar("T")
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

    def __call__(self, prediction: SoftLabels, truth: SoftLabels) -> float:
        """The measure on the tasks that both have."""
        return self.tally(*meet(prediction, truth)).value

    def tally(self, prediction: Rows, truth: Rows, ties: Ties = "first") -> Tally:
        """The sums over tasks that it is made of."""
        if self.each is not None:
            return mean(self.each(prediction, truth, ties))
        assert self.sums is not None
        return self.sums(prediction, truth, ties)


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
            raise unknown_name("measure", word, [*MEASURES, *KINDS, "all"])
    return list(found.values())


def by_task(
    prediction: SoftLabels, truth: SoftLabels, measure: str = "cross-entropy", *, ties: Ties = "first"
) -> tuple[Names, Floats]:
    """The tasks that both have, and what each adds to a measure that is a mean over tasks.

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> tasks, value = by_task(prediction, truth, "total-variation")
    >>> tasks.tolist(), value.round(4).tolist()
    (['a'], [0.3])
    """
    (found,) = chosen([measure])[:1]
    if found.each is None or found.name != measure:
        means = ", ".join(one.name for one in MEASURES.values() if one.each is not None)
        raise InputError(f"{measure} is no mean over tasks; {means} are")
    return prediction.tasks[places(prediction, truth)[0]], found.each(*meet(prediction, truth), ties)


def _no_ties(function: Callable[[Rows, Rows], T]) -> Callable[[Rows, Rows, Ties], T]:
    """The same function with a third argument that it ignores: ties at the top of the prediction do not matter to it."""
    return lambda prediction, truth, _: function(prediction, truth)


ALL = (
    Measure("accuracy", "hard", "higher", each=hard.hits),
    Measure("balanced-accuracy", "hard", "higher", sums=hard.balanced_accuracy_tally),
    Measure("top-2-accuracy", "hard", "higher", each=partial(hard.top_hits, k=2)),
    Measure("top-5-accuracy", "hard", "higher", each=partial(hard.top_hits, k=5), usual=False),
    Measure("top-2-macro-accuracy", "hard", "higher", sums=partial(hard.top_k_macro_tally, k=2), usual=False),
    Measure("top-5-macro-accuracy", "hard", "higher", sums=partial(hard.top_k_macro_tally, k=5), usual=False),
    Measure("macro-precision", "hard", "higher", sums=partial(hard.precision_tally, average="macro")),
    Measure("macro-recall", "hard", "higher", sums=partial(hard.recall_tally, average="macro")),
    Measure("macro-f1", "hard", "higher", sums=partial(hard.f1_tally, average="macro")),
    Measure(
        "weighted-precision", "hard", "higher", sums=partial(hard.precision_tally, average="weighted"), usual=False
    ),
    Measure("weighted-recall", "hard", "higher", sums=partial(hard.recall_tally, average="weighted"), usual=False),
    Measure("weighted-f1", "hard", "higher", sums=partial(hard.f1_tally, average="weighted"), usual=False),
    Measure("micro-f1", "hard", "higher", sums=partial(hard.f1_tally, average="micro"), usual=False),
    Measure("cross-entropy", "soft", "lower", each=_no_ties(soft.cross_entropies)),
    Measure("kl-divergence", "soft", "lower", each=_no_ties(soft.relative_entropies)),
    Measure("inverse-kl-divergence", "soft", "lower", each=_no_ties(soft.inverse_relative_entropies), usual=False),
    Measure("jensen-shannon-divergence", "soft", "lower", each=_no_ties(soft.jensen_shannon_divergences)),
    Measure("jensen-shannon-distance", "soft", "lower", each=_no_ties(soft.jensen_shannon_distances)),
    Measure("total-variation", "soft", "lower", each=_no_ties(soft.total_variations)),
    Measure("manhattan", "soft", "lower", each=_no_ties(soft.manhattans), usual=False),
    Measure("soft-accuracy", "soft", "higher", each=_no_ties(soft.overlaps), usual=False),
    Measure("soft-micro-f1", "soft", "higher", sums=_no_ties(partial(soft.soft_f1_tally, average="micro"))),
    Measure("soft-macro-f1", "soft", "higher", sums=_no_ties(partial(soft.soft_f1_tally, average="macro"))),
    Measure("entropy-correlation", "soft", "higher", sums=_no_ties(partial(soft.entropy_tally, centred=True))),
    Measure("entropy-similarity", "soft", "higher", sums=_no_ties(partial(soft.entropy_tally, centred=False))),
    Measure("sorted-wasserstein", "soft", "lower", each=_no_ties(distances.sorted_wassersteins), usual=False),
    Measure("ece", "calibration", "lower", sums=calibration.ece_tally, biased=True),
    Measure("classwise-ece", "calibration", "lower", sums=_no_ties(calibration.classwise_ece_tally), biased=True),
    Measure("rms-calibration", "calibration", "lower", sums=calibration.rms_calibration_tally, biased=True),
    Measure("brier", "calibration", "lower", each=_no_ties(calibration.square_losses)),
    Measure("nll", "calibration", "lower", each=_no_ties(calibration.log_losses)),
)
MEASURES = {one.name: one for one in ALL}
