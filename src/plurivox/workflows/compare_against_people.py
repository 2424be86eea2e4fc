"""Compare aggregators without gold labels: by hidden votes, or by what other people said of the same tasks."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from plurivox.aggregate import DEFAULT_METHODS, Aggregator
from plurivox.core.array_types import TEXT, Floats, Ints, Names
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import MEASURES_AGAINST_PEOPLE, finite_vote_numbers, measures_from_sums, numbers_per_task
from plurivox.evaluate.align_tasks_and_labels import align_rows, shared_task_positions
from plurivox.evaluate.distance_to_people import WIDTH
from plurivox.evaluate.methods_over_datasets import MethodsOverDatasets
from plurivox.workflows import comparison_text, people_comparison_tables
from plurivox.workflows.compared_methods import ComparedMethods, aggregators_and_reference, datasets_by_name
from plurivox.workflows.paired_bootstrap_of_methods import DifferencesToReference, differences_to_reference
from plurivox.workflows.votes_to_compare_with import HowToHide, VisibleVotesAndPeople, splits_of_dataset

N_MEASURES = len(MEASURES_AGAINST_PEOPLE)
CORRELATION = [one.name for one in MEASURES_AGAINST_PEOPLE].index("entropy_correlation")
ENTROPY_NUMBERS = slice(6, WIDTH)  # columns of `numbers_per_task` that the entropy correlation is computed from
MIN_VOTES_OF_ENTROPY = 2  # with fewer votes on most tasks the entropy of their shares says nothing
FLOOR_DRAWS = 6  # simulations of the finite-vote floor, over all splits


@dataclass(frozen=True, eq=False, repr=False)
class PeopleComparison(ComparedMethods):
    """Distances of aggregators from what other people say: one row per data set and method; NaN if there is no result.

    The arrays (n_rows, n_measures) have one column per measure: manhattan (sum_k |p_k - q_k|, twice the total variation),
    jsd_bits (Jensen-Shannon divergence, at most 1), cross_entropy (nats, mean over tasks), entropy_correlation (over tasks; NaN
    with one vote on most tasks) and nll (nats per vote). In cross_entropy and nll the share `smoothing` of the uniform
    distribution is mixed into every prediction.
    """

    dataset: Names  # (n_rows,)
    method: Names  # (n_rows,) the spec of the method
    estimates: Names  # (n_rows,) truth, people or unknown
    values: Floats  # (n_rows, n_measures)
    floors: Floats  # (n_rows, n_measures) what the true distributions would have against as many votes; NaN: not known
    differences: Floats  # (n_rows, n_measures) to the reference method on the data set
    lows: Floats  # (n_rows, n_measures) simultaneous 95% interval of the difference, by bootstrap over tasks
    highs: Floats  # (n_rows, n_measures)
    p_values: Floats  # (n_rows, n_measures) of the difference, after Holm's correction over the methods of a data set
    seconds: Floats  # (n_rows,) of a fit
    tasks: Ints  # (n_rows,) number of tasks compared
    votes_per_task: Floats  # (n_rows,) mean number of votes per task compared with; NaN: not known
    reference: str  # the method that the others are compared with
    against: Names  # (n_rows,) what the methods are compared with
    smoothing: float
    splits: Ints  # (n_rows,) number of random splits of the votes, over which the values are averaged
    bootstrap: int  # resamples of the tasks
    seed: int
    notes: tuple[str, ...] = ()

    measure_titles: ClassVar[Mapping[str, str]] = {one.name: one.title for one in MEASURES_AGAINST_PEOPLE}
    higher_is_better: ClassVar[frozenset[str]] = frozenset(
        one.name for one in MEASURES_AGAINST_PEOPLE if one.higher_is_better
    )
    measures_by_dataset: ClassVar[tuple[str, ...]] = ("manhattan", "cross_entropy")
    asked_for: ClassVar[str] = "people"

    @property
    def measures_without_verdict(self) -> frozenset[str]:
        """Measures that favour predictions that are surer than people, if there are few votes per task to compare with."""
        few = np.nanmin([*self.votes_per_task, np.inf]) < people_comparison_tables.FEW_VOTES
        return frozenset({"manhattan", "jsd_bits"}) if few else frozenset()

    def values_of(self, measure: str) -> Floats:
        """Return (n_rows,) the values of one measure; also total_variation, which is manhattan / 2."""
        if measure == "seconds":
            return self.seconds
        if measure == "total_variation":
            return self.values_of("manhattan") / 2
        return self.values[:, list(self.measure_titles).index(measure)]

    def floor_of(self, measure: str) -> Floats:
        """Return (n_datasets,) the finite-vote floor of one measure; NaN if it is not known."""
        return self.floors[:: len(self.method_specs), list(self.measure_titles).index(measure)]

    def ranks_of(self, measure: str) -> Floats:
        """Return (n_rows,) the rank of the method on its data set in one measure, 1 is best; NaN without a result."""
        higher = measure in self.higher_is_better
        return np.concatenate([MethodsOverDatasets(row[None], 0, higher).mean_ranks for row in self.table(measure)])

    def text(self) -> str:
        return comparison_text.people_tables_text(self)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per data set and method; per measure its value, floor, rank, and difference to the reference."""
        table: dict[str, NDArray[Any]] = {"dataset": self.dataset, "method": self.method, "estimates": self.estimates}
        table["total_variation"] = self.values_of("total_variation")
        for at, measure in enumerate(self.measure_titles):
            arrays = {"": self.values, "_floor": self.floors, "_difference": self.differences}
            arrays |= {"_low": self.lows, "_high": self.highs, "_p": self.p_values}
            table |= {f"{measure}{suffix}": array[:, at] for suffix, array in arrays.items()}
            table[f"{measure}_rank"] = self.ranks_of(measure)
        more = ("seconds", "tasks", "votes_per_task", "splits", "against")
        return table | {name: getattr(self, name) for name in more}

    def title_of_means(self) -> str:
        return people_comparison_tables.title_of_means(self)

    def sentences(self) -> list[str]:
        """Return the tests, the settings of the measures and how to read the floor, as sentences."""
        return people_comparison_tables.sentences(self)

    def markdown(self) -> str:
        """Return Markdown tables: means, ranks and tests over data sets, and for each data set all measures and differences."""
        return people_comparison_tables.markdown(self, super().markdown())

    @property
    def task_counts_text(self) -> str:
        """The number of tasks compared, as text; for several data sets the smallest and the largest number."""
        return people_comparison_tables.task_counts_text(self)


def compare_against_people(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    against: Any = "votes",
    hide: int | None = None,
    hide_workers: float | None = None,
    votes_per_task: int | None = None,
    splits: int | None = None,
    max_tasks: int = 10_000,
    smoothing: float = 0.01,
    part: str | None = None,
    reference: str | None = None,
    bootstrap: int = 2000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> PeopleComparison:
    """Fit every aggregator on every data set and measure how far its soft labels are from what other people say.

    `against` is what they are compared with:

    - "votes": votes of the data set that are hidden from the methods: of `hide` people per task (1), or of the share
      `hide_workers` of all workers. Only tasks that keep a visible vote are compared.
    - "counts": the counts of the data set, without the votes that the methods see.
    - SoftLabels, votes, a data set or a path: what other people said of the same tasks.

    With `votes_per_task` the methods see the votes of so many random people per task; "votes" and "counts" are then the other
    ones. Values are means over `splits` random splits (default: 3, fewer with 10,000 tasks or more); of a data set with
    more than `max_tasks` tasks a random part is used. The cross-entropy and the
    NLL are of (1 - s) q + s / K, with s = `smoothing`, for a prediction q over K labels.

    The finite-vote floor is what the true distributions would have against as many votes: see `evaluate.finite_vote_numbers`.
    Differences to the `reference` method (default: the default method for people, else the first) have simultaneous
    intervals and Holm-corrected p-values by a paired bootstrap over tasks.

    >>> from plurivox.core.votes import Votes
    >>> rng = np.random.default_rng(0)
    >>> share = rng.random(500)  # of people who say yes
    >>> yes = rng.binomial(20, share)
    >>> votes = Votes.from_counts(np.stack([20 - yes, yes], 1), range(500), ["no", "yes"])
    >>> made = compare_against_people(votes, "vote-shares,majority-vote", against="votes", votes_per_task=10)
    >>> made.table("manhattan").round(1)[0].tolist(), made.floor_of("manhattan").round(1).tolist()
    ([0.3, 0.6], [0.2])
    """
    if not 0 < smoothing < 1:
        raise OptionError(f"smoothing must be above 0 and below 1; got {smoothing}")
    if (splits is not None and splits < 1) or bootstrap < 1 or max_tasks < 1:
        raise OptionError(
            f"splits, bootstrap and max_tasks must be 1 or more; got {splits}, {bootstrap} and {max_tasks}"
        )
    how = HowToHide(hide, hide_workers, votes_per_task)
    made, base = aggregators_and_reference(datasets, methods, reference, DEFAULT_METHODS["people"])
    given = datasets_by_name(datasets)
    found, notes = [], list[str]()
    for i, (name, data) in enumerate(given.items()):
        pairs, text = splits_of_dataset(data, against, part, how, splits, max_tasks, seed)
        scores = _scores_on_dataset(
            pairs, made, smoothing, seed, _Steps(progress, i, len(given), len(pairs) * len(made))
        )
        found.append((scores, text))
        notes += [f"{name}: {note}" for note in scores.failures]
    if methods is None:
        made, base, found = _without_methods_without_result(made, base, found)
    at = [method.spec for method in made].index(base)
    tests = [differences_to_reference(scores.numbers, at, bootstrap, seed) for scores, _ in found]
    repeated = {"dataset": list(given), "against": [text for _, text in found]}
    return PeopleComparison(
        **{name: np.repeat(np.array(texts, TEXT), len(made)) for name, texts in repeated.items()},
        method=np.tile(np.array([method.spec for method in made], TEXT), len(given)),
        estimates=np.tile(np.array([method.estimated_quantity() for method in made], TEXT), len(given)),
        values=np.concatenate([measures_from_sums(scores.numbers.sum(1)) for scores, _ in found]),
        floors=np.repeat([scores.floor for scores, _ in found], len(made), axis=0),
        **_stacked(tests),
        seconds=np.concatenate([scores.seconds for scores, _ in found]),
        tasks=np.repeat([scores.n_tasks for scores, _ in found], len(made)),
        votes_per_task=np.repeat([scores.votes_per_task for scores, _ in found], len(made)),
        reference=base,
        smoothing=smoothing,
        splits=np.repeat([scores.n_splits for scores, _ in found], len(made)),
        bootstrap=bootstrap,
        seed=seed,
        notes=tuple(notes),
    )


def _without_methods_without_result(
    methods: list[Aggregator], reference: str, found: Sequence[tuple["_Scores", str]]
) -> tuple[list[Aggregator], str, list[tuple["_Scores", str]]]:
    """Return methods, reference and scores without the methods that have no result on any data set; all if none has one."""
    has_result = np.any([np.isfinite(scores.seconds) for scores, _ in found], axis=0)
    kept = np.flatnonzero(has_result) if has_result.any() else np.arange(len(methods))
    left = [methods[i] for i in kept]
    base = reference if reference in [method.spec for method in left] else left[0].spec
    cut = [(replace(one, numbers=one.numbers[kept], seconds=one.seconds[kept]), text) for one, text in found]
    return left, base, cut


def _stacked(tests: Sequence[DifferencesToReference]) -> dict[str, Floats]:
    """Return the fields of the differences of several data sets, one data set after the other."""
    names = ("differences", "lows", "highs", "p_values")
    return {name: np.concatenate([getattr(one, name) for one in tests]) for name in names}


@dataclass(frozen=True)
class _Steps:
    """The progress of the fits on one data set, as part of the whole comparison."""

    progress: Progress
    dataset: int
    n_datasets: int
    n_fits: int

    def of_fit(self, fit: int) -> Progress:
        """Return the progress callback of one fit on the data set."""
        total = self.n_datasets * self.n_fits
        return callback_reporting_only_outer_step(self.progress, self.dataset * self.n_fits + fit, total)

    def done(self, fit: int) -> None:
        """Report that a fit has ended."""
        self.progress(self.dataset * self.n_fits + fit, self.n_datasets * self.n_fits)


@dataclass(frozen=True, eq=False)
class _Scores:
    """What the methods reach on one data set, summed over its splits."""

    numbers: Floats  # (n_methods, n_tasks, 11) of `numbers_per_task`; NaN for a method without a result
    floor: Floats  # (n_measures,)
    seconds: Floats  # (n_methods,)
    votes_per_task: float
    n_splits: int
    failures: list[str]

    @property
    def n_tasks(self) -> int:
        """The number of tasks compared in at least one split."""
        return self.numbers.shape[1]


def _scores_on_dataset(
    pairs: Sequence[VisibleVotesAndPeople], methods: Sequence[Aggregator], smoothing: float, seed: int, steps: _Steps
) -> _Scores:
    """Fit all methods to the visible votes of all splits and return their numbers per task and the floor."""
    tasks = pairs[0].visible.tasks
    numbers, seconds = np.zeros((len(methods), len(tasks), WIDTH)), np.zeros(len(methods))
    scored, causes = np.zeros(len(tasks), bool), dict[str, list[str]]()
    for i, pair in enumerate(pairs):
        scored[positions(tasks, pair.people.tasks)] = True
        for m, method in enumerate(methods):
            fit = i * len(methods) + m
            if np.isfinite(seconds[m]):
                begin = time.perf_counter()
                try:
                    soft = method.fit(pair.visible, progress=steps.of_fit(fit)).soft
                    seconds[m] += (time.perf_counter() - begin) / len(pairs)
                    numbers[m] += _numbers_on_all_tasks(soft, pair.people, smoothing)
                except InputError as cause:  # other errors concern the method or its options, not the data set
                    seconds[m], numbers[m] = np.nan, np.nan
                    causes.setdefault(str(cause).removeprefix(f"{method.name()} "), []).append(method.spec)
            steps.done(fit)
    support = [pair.people.support for pair in pairs if pair.people.support is not None]
    floor = _floor(pairs, smoothing, seed)
    if support and np.median(np.concatenate(support)) < MIN_VOTES_OF_ENTROPY:
        numbers[:, :, ENTROPY_NUMBERS], floor[CORRELATION] = np.nan, np.nan
    return _Scores(
        numbers[:, scored],
        floor,
        seconds,
        float(np.concatenate(support).mean()) if support else np.nan,
        len(pairs),
        [f"no result of {', '.join(specs)}: {cause}" for cause, specs in causes.items()],
    )


def _numbers_on_all_tasks(soft: SoftLabels, people: SoftLabels, smoothing: float) -> Floats:
    """Return (n_tasks, 11) the numbers of a prediction against people, in the order of its tasks; 0 on other tasks."""
    here, there = shared_task_positions(soft, people)
    n_votes = None if people.support is None else people.support[there]
    found = np.zeros((len(soft), WIDTH))
    found[here] = numbers_per_task(*align_rows(soft, people), n_votes, smoothing)
    return found


def _floor(pairs: Sequence[VisibleVotesAndPeople], smoothing: float, seed: int) -> Floats:
    """Return (n_measures,) the finite-vote floor; NaN if the numbers of votes are not known."""
    total, draws = np.zeros(WIDTH), max(FLOOR_DRAWS // len(pairs), 1)
    for i, pair in enumerate(pairs):
        if pair.all_counts is None or pair.people.support is None:
            return np.full(N_MEASURES, np.nan)
        total += finite_vote_numbers(
            pair.all_counts, pair.people.support, draws=draws, seed=seed + i, smoothing=smoothing
        )
    return measures_from_sums(total)
