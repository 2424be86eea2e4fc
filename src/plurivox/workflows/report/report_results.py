"""What a report shows, computed from its inputs: fits, scores, agreement, a recommendation, each with its time."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from plurivox import aggregate, evaluate, identify
from plurivox.aggregate import DEFAULT_METHODS, Aggregator
from plurivox.core.errors import InputError, PlurivoxError, PlurivoxWarning
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit, Scores
from plurivox.core.soft_labels import Estimand
from plurivox.core.votes import Votes
from plurivox.evaluate import Description, Evaluation
from plurivox.identify import Evidence
from plurivox.workflows.crowd_agreement import Agreement, agreement
from plurivox.workflows.describe_dataset import describe
from plurivox.workflows.recommend_method import recommend, votes_on_some_tasks
from plurivox.workflows.recommendation import Recommendation
from plurivox.workflows.report.dropped_workers import EffectOfDropping, effect_of_dropping
from plurivox.workflows.report.method_differences import MethodDifferences, method_differences
from plurivox.workflows.report.report_inputs import ReportInputs
from plurivox.workflows.report.worker_trust import DROPPED, WorkerTrust, worker_trust
from plurivox.workflows.score_tasks_workers import EvidenceCache

T = TypeVar("T")
Quantity = Literal["truth", "people"]
METHODS = ("vote-shares", "wawa", "dawid-skene", "glad", "mace", "log-pool", "calibrated-shares")
TASK_SCORES = ("entropy", "aggregator-disagreement", "glad-difficulty")
WORKER_SCORES = ("trace-pooled", "spam-score-pooled", "gold-accuracy", "repeat-consistency", "drift", "speed")
SAMPLED_VOTES = 100_000  # above this, agreement uses the votes on random tasks
RECOMMENDED_VOTES, RECOMMEND_SECONDS = 200_000, 60.0  # above either, no method is recommended
MANY_VOTES = 1_000_000  # with more, scores that need further fits, and the fit without doubtful workers, are left out
SCORES_OF_MANY = ("entropy", "aggregator-disagreement", "gold-accuracy")  # scores that remain then
ALL_METHODS_SECONDS = 30.0  # after this time no further method is started
GOLD_MEASURES = ("accuracy", "nll", "brier", "ece")
RESAMPLES, RESAMPLED_TASKS = 1000, 50_000  # of intervals; fewer resamples with more tasks


@dataclass(frozen=True)
class LeftOut:
    """A method or score that the report does not show, and why."""

    spec: str
    reason: str


@dataclass
class ReportResults:
    """Everything that the sections of a report show; None if it could not be computed, with the reason in `left_out`."""

    quantity: Quantity  # the question of the report: truth or people
    about: Description
    fits: dict[str, Fit] = field(default_factory=dict)
    chosen: str = ""  # spec of the recommended method, one of `fits`
    other: str = ""  # spec of the method for the other question
    recommendation: Recommendation | None = None
    evaluations: dict[str, Evaluation] = field(default_factory=dict)  # against gold, by method
    agreement: Agreement | None = None
    sampled: Votes | None = None  # the votes behind agreement, if not all
    worker_scores: list[Scores] = field(default_factory=list)
    task_scores: list[Scores] = field(default_factory=list)
    trust: WorkerTrust | None = None
    without_doubtful: EffectOfDropping | None = None  # what changes without workers near random or against the others
    asked_methods: tuple[str, ...] = ()  # specs of all methods that were to be fitted
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # warnings of the computations
    seconds: dict[str, float] = field(default_factory=dict)  # of each computation

    @property
    def fit(self) -> Fit:
        """The fit by the chosen method."""
        return self.fits[self.chosen]

    @property
    def other_fit(self) -> Fit | None:
        """The fit for the other question, if there is one."""
        return self.fits.get(self.other)

    @cached_property
    def differences(self) -> MethodDifferences:
        """How far the soft labels of the fits are from each other."""
        return method_differences(self.fits, self.chosen)

    def fits_for(self, quantity: Estimand) -> dict[str, Fit]:
        """Return the fits whose soft labels estimate this quantity."""
        return {spec: fit for spec, fit in self.fits.items() if fit.soft.estimates == quantity}


class OutOfTimeError(Exception):
    """Raised within a computation that took longer than its limit."""


@dataclass
class Computer:
    """Runs the computations of a report one after the other: times them, notes warnings and what was left out."""

    results: ReportResults
    progress: Progress
    n_steps: int
    n_done: int = 0

    def run(self, name: str, compute: Callable[[Progress], T], limit: float = float("inf")) -> T | None:
        """Return the result of a computation; None, with a note in `left_out`, if it fails or takes longer than `limit`."""
        self.progress(min(self.n_done, self.n_steps - 1), self.n_steps)
        self.n_done += 1
        begin = time.perf_counter()
        try:
            with self._noting_warnings():
                return compute(self._with_limit(begin + limit))
        except OutOfTimeError:
            self.results.left_out.append(LeftOut(name, f"it took longer than {limit:.0f} s with this many votes"))
        except PlurivoxError as error:
            self.results.left_out.append(LeftOut(name, str(error)))
        finally:
            self.results.seconds[name] = time.perf_counter() - begin
        return None

    def _with_limit(self, end: float) -> Progress:
        """Return a callback that reports the current step, and stops the computation after the time `end`."""

        def report(step: int, total: int, value: float | None = None) -> None:
            del step, total
            self.progress(min(self.n_done - 1, self.n_steps - 1), self.n_steps, value)
            if time.perf_counter() > end:
                raise OutOfTimeError

        return report

    @contextmanager
    def _noting_warnings(self) -> Iterator[None]:
        """Collect warnings of the package in `results.notes`; pass on all others."""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            yield
        for one in found:
            if not issubclass(one.category, PlurivoxWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            elif str(one.message) not in self.results.notes:
                self.results.notes.append(str(one.message))


def compute_report_results(
    inputs: ReportInputs,
    *,
    quantity: Quantity,
    methods: Sequence[Any] | None,
    scores: Sequence[Any] | None,
    method_seconds: float,
    seed: int,
    progress: Progress,
) -> ReportResults:
    """Compute everything that the report of these inputs shows; a method that takes longer than its limit is left out."""
    results = ReportResults(quantity, evaluate.describe(inputs.votes, inputs.gold))
    aggregators = [aggregate.methods.make(one) for one in (_usual_methods(inputs) if methods is None else methods)]
    task_scores, worker_scores = _identifiers(inputs, scores)
    computer = Computer(results, progress, 6 + len(aggregators) + len(task_scores) + len(worker_scores))
    if len(inputs.votes) <= MANY_VOTES:
        computer.run("describe", lambda _: describe(inputs.dataset, inputs.gold))  # for its warnings about labels
    _fit_and_recommend(computer, inputs, aggregators, method_seconds, seed, user_chose=methods is not None)
    resamples = max(100, min(RESAMPLES, RESAMPLES * RESAMPLED_TASKS // max(len(inputs.votes.tasks), 1)))
    _evaluate_against_gold(computer, inputs, resamples, seed)
    few = results.sampled or inputs.votes
    results.agreement = computer.run("agreement", lambda report: agreement(few, seed=seed, progress=report))
    evidence = Evidence(votes=inputs.votes, fits=tuple(results.fits_for("truth").values()), gold=inputs.gold)
    cache = EvidenceCache(inputs.dataset.without("votes", "counts", votes=inputs.votes), evidence)
    for made, found in ((task_scores, results.task_scores), (worker_scores, results.worker_scores)):
        for one in made:
            made_scores = computer.run(
                one.spec,
                lambda report, one=one: cache.collect_evidence_and_score(one, report),  # type: ignore[misc]
                method_seconds,
            )
            found += [made_scores] if made_scores is not None else []
    _trust_workers(computer, inputs)
    return results


def _usual_methods(inputs: ReportInputs) -> list[str]:
    """Return the usual methods that take these votes."""
    needed = {"counts"} if inputs.usual_question == "people" else set()
    needed |= {"soft"} if inputs.votes.answer is not None else set()
    return [name for name in METHODS if needed <= aggregate.methods.make(name).accepted_inputs()]


def _trust_workers(computer: Computer, inputs: ReportInputs) -> None:
    """Set `trust`, and `without_doubtful` if there are not too many votes to fit the method again."""
    results, votes = computer.results, inputs.votes
    if not inputs.has_named_workers:
        return
    truth = results.fits.get(DEFAULT_METHODS["truth"])
    trust = results.trust = computer.run("worker trust", lambda _: worker_trust(votes, truth))
    if trust is not None and trust.count(*DROPPED) and len(votes) <= MANY_VOTES:
        method = aggregate.methods.make(results.chosen)
        results.without_doubtful = computer.run(
            f"{results.chosen} without doubtful workers",
            lambda report: effect_of_dropping(votes, results.fit, method, trust, inputs.gold, report),
        )


def _fit_and_recommend(
    computer: Computer,
    inputs: ReportInputs,
    aggregators: Sequence[Aggregator],
    method_seconds: float,
    seed: int,
    *,
    user_chose: bool,
) -> None:
    """Recommend a method, fit all, and set `fits`, `chosen` and `other` of the results."""
    results, votes = computer.results, inputs.votes
    sampled = votes_on_some_tasks(votes, seed, SAMPLED_VOTES)
    results.sampled = None if sampled is votes else sampled
    specs = [one.spec for one in aggregators if one.estimated_quantity() in (results.quantity, "unknown")]
    given = specs if user_chose else None
    if len(votes) <= RECOMMENDED_VOTES:
        results.recommendation = computer.run(
            "recommend",
            lambda report: recommend(
                votes, results.quantity, methods=given, gold=inputs.gold, seed=seed, progress=report
            ),
            RECOMMEND_SECONDS,
        )
    else:
        reason = f"no crowds are simulated from more than {RECOMMENDED_VOTES:,} votes, so the default method is used"
        results.left_out.append(LeftOut("recommend", reason))
    wanted = DEFAULT_METHODS[results.quantity]
    if results.recommendation is not None:
        wanted = results.recommendation.recommended
    other: Estimand = "people" if results.quantity == "truth" else "truth"
    always = [wanted, DEFAULT_METHODS[results.quantity]]
    if other == "people" or inputs.usual_question == "truth":
        always.append(DEFAULT_METHODS[other])
    made = {one.spec: one for one in (*map(aggregate.methods.make, always), *aggregators)}
    results.asked_methods = tuple(made)
    begin = time.perf_counter()
    for spec, one in made.items():
        needed = spec in always
        left = ALL_METHODS_SECONDS - (time.perf_counter() - begin)
        if left <= 0 and not needed:
            results.left_out.append(LeftOut(spec, f"the methods before it took {ALL_METHODS_SECONDS:.0f} s together"))
            continue
        limit = float("inf") if needed else min(method_seconds, left)
        fit = computer.run(spec, lambda report, one=one: one.fit(votes, progress=report), limit)  # type: ignore[misc]
        if fit is not None:
            results.fits[spec] = fit
    fitting = [spec for spec in (wanted, *results.fits) if spec in results.fits_for(results.quantity)]
    if not fitting:
        reasons = "; ".join(f"{one.spec}: {one.reason}" for one in results.left_out if one.spec in always)
        raise InputError(f"no method for {results.quantity} could be fitted to these votes: {reasons}")
    results.chosen = fitting[0]
    results.other = DEFAULT_METHODS[other]


def _identifiers(
    inputs: ReportInputs, scores: Sequence[Any] | None
) -> tuple[list[identify.Identifier], list[identify.Identifier]]:
    """Return the scores of tasks and those of workers to compute: the usual ones that the data allow, and those asked for."""
    votes = inputs.votes
    possible = {
        "gold-accuracy": inputs.gold is not None,
        "repeat-consistency": bool(votes.n_repeats) and inputs.answers is not None,
        "drift": votes.when is not None,
        "speed": votes.seconds is not None,
    }
    usual = [*TASK_SCORES, *(WORKER_SCORES if inputs.has_named_workers else ())]
    if not inputs.has_named_workers:
        usual.remove("glad-difficulty")
    names = [name for name in usual if possible.get(name, True)]
    if len(votes) > MANY_VOTES:
        names = [name for name in names if name in SCORES_OF_MANY]
    made = {one.spec: one for one in (identify.methods.make(name) for name in (*names, *(scores or ())))}
    return (
        [one for one in made.values() if one.of == "task"],
        [one for one in made.values() if one.of == "worker"],
    )


def _evaluate_against_gold(computer: Computer, inputs: ReportInputs, resamples: int, seed: int) -> None:
    """Evaluate the fits for the truth, and vote shares, against gold labels, if there are any."""
    gold, results = inputs.gold, computer.results
    if gold is None:
        return
    for spec, fit in results.fits.items():
        measures = GOLD_MEASURES if fit.soft.estimates == "truth" else ("accuracy",)
        found = computer.run(
            f"{spec} against gold",
            lambda _, soft=fit.soft, measures=measures: evaluate.evaluate_labels(  # type: ignore[misc]
                soft.shared(gold.tasks), gold, measures=measures, ties="share", repeats=resamples, seed=seed
            ),
        )
        if found is not None:
            results.evaluations[spec] = found
