"""The registry of measures by name; their formulas are in the other modules of this folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, OptionError, unknown_name_error
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Rows
from plurivox.evaluate.align_tasks_and_labels import align_rows, shared_task_positions
from plurivox.evaluate.bootstrap_over_tasks import TaskSums, mean_as_task_sums
from plurivox.evaluate.measures import calibration
from plurivox.evaluate.measures import hard_label_measures as hard
from plurivox.evaluate.measures import soft_label_measures as soft
from plurivox.evaluate.measures import wasserstein_distances as distances
from plurivox.evaluate.measures.hard_label_measures import Ties

Kind = Literal["hard", "soft", "calibration"]
T = TypeVar("T")
KINDS: tuple[Kind, ...] = ("hard", "soft", "calibration")


@dataclass(frozen=True)
class Measure:
    """A measure of a prediction against a truth: a mean over tasks (`each`) or another function of sums (`sums`)."""

    name: str
    kind: Kind
    better: Literal["higher", "lower"]
    each: Callable[[Rows, Rows, Ties], Floats] | None = (
        None  # (prediction, truth, ties) -> (n_tasks,) the value of each task
    )
    sums: Callable[[Rows, Rows, Ties], TaskSums] | None = None
    default: bool = True  # computed if no measures are named
    biased: bool = False  # resampling increases it, as it does sums of |noise|

    @takes_what_users_hold
    def __call__(self, prediction: SoftLabels, truth: SoftLabels) -> float:
        """Return the value of the measure over the tasks that prediction and truth share."""
        return self.measure_as_task_sums(*align_rows(prediction, truth)).measure_over_all_tasks

    def measure_as_task_sums(self, prediction: Rows, truth: Rows, ties: Ties = "first") -> TaskSums:
        """Return this measure of a prediction as a function of sums over tasks, for the bootstrap."""
        if self.each is not None:
            return mean_as_task_sums(self.each(prediction, truth, ties))
        assert self.sums is not None
        return self.sums(prediction, truth, ties)


def select_measures(names: Sequence[str] | None = None) -> list[Measure]:
    """Return the measures with these names or groups (`hard`, `soft`, `calibration`, `all`); without names the default ones.

    >>> [one.name for one in select_measures(["accuracy", "calibration"])]
    ['accuracy', 'ece', 'classwise-ece', 'rms-calibration', 'brier', 'nll']
    """
    if names is None:
        return [one for one in MEASURES.values() if one.default]
    if not names:
        raise OptionError(f"no measure given; the measures are {', '.join(MEASURES)}")
    found: dict[str, Measure] = {}
    for name in names:
        if name in (*KINDS, "all"):
            found |= {one.name: one for one in MEASURES.values() if name in (one.kind, "all")}
        elif name in MEASURES:
            found[name] = MEASURES[name]
        else:
            raise unknown_name_error("measure", name, [*MEASURES, *KINDS, "all"])
    return list(found.values())


@takes_what_users_hold
def by_task(
    prediction: SoftLabels, truth: SoftLabels, measure: str = "cross-entropy", *, ties: Ties = "first"
) -> tuple[Names, Floats]:
    """Return the tasks that prediction and truth share, and (n_tasks,) the value of a measure on each of them.

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> tasks, value = by_task(prediction, truth, "total-variation")
    >>> tasks.tolist(), value.round(4).tolist()
    (['a'], [0.3])
    """
    (found,) = select_measures([measure])[:1]
    if found.each is None or found.name != measure:
        means = ", ".join(one.name for one in MEASURES.values() if one.each is not None)
        raise InputError(f"{measure} is not a mean over tasks; use one of {means}")
    return prediction.tasks[shared_task_positions(prediction, truth)[0]], found.each(
        *align_rows(prediction, truth), ties
    )


def _ignore_ties(measure_without_ties: Callable[[Rows, Rows], T]) -> Callable[[Rows, Rows, Ties], T]:
    """Return the function with a third argument `ties` that is ignored, for measures that do not depend on ties."""
    return lambda prediction, truth, _: measure_without_ties(prediction, truth)


ALL = (
    Measure("accuracy", "hard", "higher", each=hard.hits),
    Measure("balanced-accuracy", "hard", "higher", sums=hard.balanced_accuracy_task_sums),
    Measure("top-2-accuracy", "hard", "higher", each=partial(hard.top_k_hits, k=2)),
    Measure("top-5-accuracy", "hard", "higher", each=partial(hard.top_k_hits, k=5), default=False),
    Measure(
        "top-2-macro-accuracy", "hard", "higher", sums=partial(hard.macro_top_k_accuracy_task_sums, k=2), default=False
    ),
    Measure(
        "top-5-macro-accuracy", "hard", "higher", sums=partial(hard.macro_top_k_accuracy_task_sums, k=5), default=False
    ),
    Measure("macro-precision", "hard", "higher", sums=partial(hard.precision_task_sums, average="macro")),
    Measure("macro-recall", "hard", "higher", sums=partial(hard.recall_task_sums, average="macro")),
    Measure("macro-f1", "hard", "higher", sums=partial(hard.f1_task_sums, average="macro")),
    Measure(
        "weighted-precision",
        "hard",
        "higher",
        sums=partial(hard.precision_task_sums, average="weighted"),
        default=False,
    ),
    Measure(
        "weighted-recall", "hard", "higher", sums=partial(hard.recall_task_sums, average="weighted"), default=False
    ),
    Measure("weighted-f1", "hard", "higher", sums=partial(hard.f1_task_sums, average="weighted"), default=False),
    Measure("micro-f1", "hard", "higher", sums=partial(hard.f1_task_sums, average="micro"), default=False),
    Measure("cross-entropy", "soft", "lower", each=_ignore_ties(soft.cross_entropies)),
    Measure("smoothed-cross-entropy", "soft", "lower", each=_ignore_ties(soft.smoothed_cross_entropies), default=False),
    Measure("kl-divergence", "soft", "lower", each=_ignore_ties(soft.kl_divergences)),
    Measure("inverse-kl-divergence", "soft", "lower", each=_ignore_ties(soft.inverse_kl_divergences), default=False),
    Measure("jensen-shannon-divergence", "soft", "lower", each=_ignore_ties(soft.jensen_shannon_divergences)),
    Measure("jensen-shannon-distance", "soft", "lower", each=_ignore_ties(soft.jensen_shannon_distances)),
    Measure("total-variation", "soft", "lower", each=_ignore_ties(soft.total_variations)),
    Measure("manhattan", "soft", "lower", each=_ignore_ties(soft.manhattan_distances), default=False),
    Measure("soft-accuracy", "soft", "higher", each=_ignore_ties(soft.shared_probabilities), default=False),
    Measure("soft-micro-f1", "soft", "higher", sums=_ignore_ties(partial(soft.soft_f1_task_sums, average="micro"))),
    Measure("soft-macro-f1", "soft", "higher", sums=_ignore_ties(partial(soft.soft_f1_task_sums, average="macro"))),
    Measure(
        "entropy-correlation",
        "soft",
        "higher",
        sums=_ignore_ties(partial(soft.entropy_correlation_or_cosine_task_sums, centred=True)),
    ),
    Measure(
        "entropy-similarity",
        "soft",
        "higher",
        sums=_ignore_ties(partial(soft.entropy_correlation_or_cosine_task_sums, centred=False)),
    ),
    Measure("sorted-wasserstein", "soft", "lower", each=_ignore_ties(distances.sorted_wassersteins), default=False),
    Measure("ece", "calibration", "lower", sums=calibration.ece_task_sums, biased=True),
    Measure(
        "classwise-ece", "calibration", "lower", sums=_ignore_ties(calibration.classwise_ece_task_sums), biased=True
    ),
    Measure("rms-calibration", "calibration", "lower", sums=calibration.rms_calibration_task_sums, biased=True),
    Measure("brier", "calibration", "lower", each=_ignore_ties(calibration.brier_scores_per_task)),
    Measure("nll", "calibration", "lower", each=_ignore_ties(calibration.log_losses)),
)
MEASURES = {one.name: one for one in ALL}
