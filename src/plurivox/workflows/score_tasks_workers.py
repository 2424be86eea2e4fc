"""Score tasks, workers or the crowd by methods of `identify`, after collecting the votes, gold, fits, ... that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plurivox import aggregate, identify
from plurivox.aggregate import Aggregator
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError, first_few, warn_user
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.one_answer_per_worker import is_first_answer_of_worker_to_task, one_answer_per_task_and_worker
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.results import Dynamics, Fit, Scores
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows.ranking_by_several_scores import Ranking, join_scores_into_ranking
from plurivox.workflows.unused_label_order import warn_if_no_score_uses_order

MIN_VOTES_PER_LABEL = (
    10  # of a worker; with fewer, a confusion matrix estimated without pooling ranks workers unreliably
)
By = str | Aggregator | Sequence[str | Aggregator]
Fits = Fit | str | Path | Sequence[Fit | str | Path]
Recorded = Dynamics | Mapping[str, Dynamics] | str | Path
Labels = Any  # SoftLabels, or anything that `as_soft_labels` reads: a table, {task: label}, a path, ...
EVIDENCE_OF_ARGUMENT = {  # argument of `score` and `rank` -> the fields of Evidence that it sets
    "soft": {"soft"},
    "gold": {"gold"},
    "prediction": {"prediction"},
    "dynamics": {"dynamics", "worker_dynamics"},
    "fit": {"fit", "fits"},
    "by": {"fit", "fits"},
}


def score(
    data: Any,
    method: str | Identifier,
    *,
    fit: Fits | None = None,
    by: By | None = None,
    soft: Labels | None = None,
    gold: Labels | None = None,
    prediction: Labels | None = None,
    dynamics: Recorded | None = None,
    answers: Answers | None = None,
    part: str | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Scores:
    """Score tasks, workers or the crowd by the method of this name, with its options; return the Scores.

    What the score needs and is not given is taken from the data set, or computed: a `fit` by the default aggregator of the
    score, or `by` another. A score of several fits takes a list of them. `dynamics` are those of one classifier, or
    {worker: dynamics} of one classifier per worker, or a folder with one file per worker.

    `data` are Votes, a Dataset, the path or the name of one, or a DataFrame of votes; fits, labels and dynamics may be given
    as files. `part` selects votes or counts if a data set has both.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> score(votes, "entropy", unit="bits").raw.round(3)
    array([0.918, 0.   ])
    >>> score(votes, "posterior-entropy", by="wawa").worst(1)
    array(['a'], dtype=StringDType())
    """
    made = identify.methods.make(method, **options)
    given = {"soft": soft, "gold": gold, "prediction": prediction, "dynamics": dynamics, "fit": fit, "answers": answers}
    return _make_evidence_cache(data, [made], by, part, given, single_score=True).collect_evidence_and_score(
        made, progress
    )


def rank(
    data: Any,
    scores: str | Sequence[str | Identifier],
    *,
    fit: Fits | None = None,
    by: By | None = None,
    soft: Labels | None = None,
    gold: Labels | None = None,
    prediction: Labels | None = None,
    dynamics: Recorded | None = None,
    answers: Answers | None = None,
    part: str | None = None,
    progress: Progress = no_progress,
) -> Ranking:
    """Compute several scores of tasks, or of workers, and return their numbers and ranks by name (1 is the worst).

    The scores are a list, or one text separated by commas. Scores that need a fit by the same aggregator share it; a `fit`
    that is given is used by the scores that can use it. The other arguments are those of `score`.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> rank(votes, ["entropy", "disagreement"])
    <Ranking: 2 tasks, 2 scores, by entropy, disagreement>
    """
    specs = split_at_commas_outside_brackets(scores) if isinstance(scores, str) else scores
    made = [identify.methods.make(one) for one in specs]
    given = {"soft": soft, "gold": gold, "prediction": prediction, "dynamics": dynamics, "fit": fit, "answers": answers}
    cache = _make_evidence_cache(data, made, by, part, given)
    found = []
    for step, one in enumerate(made):
        outer = callback_reporting_only_outer_step(progress, step, len(made))
        found.append(cache.collect_evidence_and_score(one, outer))
        if by is None and fit is None and cache.votes_or_counts is not None:
            warn_if_too_few_votes_to_rank_workers(found[-1], cache.votes_or_counts.n_labels)
    return join_scores_into_ranking(found)


def _make_evidence_cache(
    data: Any,
    scores: Sequence[Identifier],
    by: By | None,
    part: str | None,
    arguments: dict[str, Any],
    single_score: bool = False,
) -> "EvidenceCache":
    """Return the inputs of scores (votes, gold, fits, ...) as an EvidenceCache; files are read, votes or counts selected.

    Warn about arguments that no score uses; raise InputError if a score needs worker names and counts would be used.
    """
    used = {one for score in scores for one in score.usable_evidence()}
    for name, value in {**arguments, "by": by}.items():
        if _is_given(value) and name in EVIDENCE_OF_ARGUMENT and not used & EVIDENCE_OF_ARGUMENT[name]:
            message = f"none of these scores uses {name} (--{name}); it has no effect"
            warn_user(message)
    evidence, makers = _evidence_from_arguments(data, **arguments), _list_of_aggregators(by)
    warn_if_no_score_uses_order(data, scores)
    if data is None:
        return EvidenceCache(None, evidence, makers, single_score=single_score)
    needs_names = _name_of_method_needing_worker_names(scores, makers, has_fits=bool(evidence.fits))
    return EvidenceCache(
        _dataset_with_only_selected_votes(as_dataset(data), part, needs_names),
        evidence,
        makers,
        single_score=single_score,
    )


def _evidence_from_arguments(
    data: Any, fit: Fits | None, dynamics: Recorded | None, answers: Answers | None, **labels: Labels | None
) -> Evidence:
    """Return the arguments of `score` (fits, dynamics, answers, labels) as Evidence, with those given as paths read."""
    given = [] if fit is None else [fit] if isinstance(fit, Fit | str | Path) else fit
    fits = tuple(Fit.load(one) if isinstance(one, str | Path) else one for one in given)
    recorded = _read_dynamics_of_file_or_worker_folder(Path(dynamics)) if isinstance(dynamics, str | Path) else dynamics
    one = recorded if isinstance(recorded, Dynamics) else None
    many = recorded if isinstance(recorded, Mapping) else {}
    soft: dict[str, Any] = {name: as_soft_labels(value, data) for name, value in labels.items()}
    return Evidence(fits=fits, dynamics=one, worker_dynamics=many, answers=answers, **soft)


def _is_given(argument: Any) -> bool:
    """Return whether an argument was given: not None, and not an empty text or list; a table counts, too."""
    return argument is not None and (not isinstance(argument, str | Sequence) or bool(argument))


def _read_dynamics_of_file_or_worker_folder(path: Path) -> Dynamics | Mapping[str, Dynamics]:
    """Return the recorded logits (Dynamics) in a file, or {worker: Dynamics} of a folder with one file per worker."""
    if not path.is_dir():
        return Dynamics.load(path)
    found = {file.stem: Dynamics.load(file) for file in sorted(path.glob("*.npz"))}
    if not found:
        raise InputError(
            f"{path} contains no .npz file; it needs one file of recorded dynamics per worker, named after the worker"
        )
    return found


def _dataset_with_only_selected_votes(data: Dataset, part: str | None, method_needing_names: str) -> Dataset:
    """Return a data set with only the selected votes or counts, the gold labels and the answers of this one."""
    if not (data.has("votes") or data.has("counts")):
        return data
    crowd = as_votes(data, part, method_needing_names=method_needing_names)
    rest: dict[str, Any] = {name: partial(getattr, data, name) for name in ("gold", "answers") if data.has(name)}
    return Dataset(data.name, votes=crowd, about=data.about, path=data.path, **rest)


def _name_of_method_needing_worker_names(
    scores: Sequence[Identifier], aggregators: Sequence[Aggregator], *, has_fits: bool
) -> str:
    """Return the name of the first score or aggregator that cannot use counts (needs worker names); "" if all can."""
    for score in scores:
        if "votes" in score.usable_evidence() and "counts" not in score.takes:
            return score.name()
        if score.usable_evidence() & {"fit", "fits"} and not has_fits:
            for maker in aggregators or _list_of_aggregators(score.fitted_by):
                if "counts" not in maker.accepted_inputs():
                    return maker.name()
    return ""


def parse_scoring_methods(worker_or_task: str, text: str, option_name: str = "scores") -> list[Identifier]:
    """Return the identifiers in a comma-separated text; raise OptionError if one does not score `worker_or_task`."""
    specs = split_at_commas_outside_brackets(text)
    made = [identify.methods.make(spec) for spec in specs]
    if wrong := [spec for spec, score in zip(specs, made, strict=True) if score.of != worker_or_task]:
        raise OptionError(f"{option_name} must be scores of {worker_or_task}s; {first_few(wrong)} is not")
    return made


def warn_if_too_few_votes_to_rank_workers(scores: Scores, n_labels: int) -> None:
    """Warn if workers are ranked by a score of confusion matrices that have few votes, and the score has a pooled variant."""
    pooled = f"{scores.made_by}-pooled"
    if pooled not in identify.methods or scores.n is None or not len(scores.n):
        return
    median = float(np.median(scores.n))
    if median < MIN_VOTES_PER_LABEL * n_labels:
        warn_user(
            f"{scores.made_by} ranks workers with few votes unreliably: half of them have {median:,.0f} or fewer, for "
            f"{n_labels} labels; to rank or drop workers, {pooled} is better"
        )


def default_fits_of_scores(methods: Sequence[Identifier]) -> dict[str, tuple[str, ...]]:
    """Return {score: the aggregators whose fits it uses if no other is given}, for the scores that need a fit."""
    return {one.spec: one.fitted_by for one in methods if set(one.required_evidence()) & {"fit", "fits"}}


def notes_on_fits_of_scores(methods: Sequence[Identifier]) -> list[str]:
    """Return one line per aggregator whose fits the scores use by default, with the names of these scores.

    >>> notes_on_fits_of_scores(parse_scoring_methods("worker", "trace,speed,spam-score,glad-ability"))
    ['trace, spam-score: of a fit by dawid-skene', 'glad-ability: of a fit by glad']
    """
    scores_by_fits: dict[tuple[str, ...], list[str]] = {}
    for spec, fits in default_fits_of_scores(methods).items():
        scores_by_fits.setdefault(fits, []).append(spec)
    return [
        f"{', '.join(specs)}: of {'a fit' if len(fits) == 1 else 'fits'} by {', '.join(fits)}"
        for fits, specs in scores_by_fits.items()
    ]


def count_repeats_left_out(data: Any, methods: Sequence[Identifier], part: str | None = None) -> int:
    """Return how many answers the scores leave out since they are not their worker's first to the task; 0 if none does.

    Scores of agreement count a worker once per task unless their option `repeated` is all.
    """
    found = as_dataset(data)
    used = {name for one in methods if getattr(one, "repeated", "all") == "first" for name in one.usable_evidence()}
    if "votes" in used and (found.has("votes") or found.has("counts")):
        return one_answer_per_task_and_worker(as_votes(found, part)).n_left_out
    if "answers" in used and found.answers is not None:
        return int((~is_first_answer_of_worker_to_task(found.answers)).sum())
    return 0


def _list_of_aggregators(by: By | None) -> list[Aggregator]:
    """Return a list of aggregators from one or several specs or objects; [] for None."""
    given = () if by is None else (by,) if isinstance(by, str | Aggregator) else by
    return [aggregate.methods.make(one) for one in given]


class EvidenceCache:
    """The inputs of scores (evidence: votes, gold, fits, ...), given or computed; every fit is computed once and reused.

    A score that uses one fit gets the first that has what it reads, among those given and then those `by` the aggregators
    named. If none has, a default fit is computed if there are several scores; a `single_score` raises its own error.
    """

    def __init__(
        self, data: Votes | Dataset | None, given: Evidence, by: By | None = None, *, single_score: bool = False
    ) -> None:
        self.data, self.given, self.single_score = data, given, single_score
        self.by = _list_of_aggregators(by)
        self.made: dict[str, Fit] = {}

    def collect_evidence_and_score(self, method: Identifier, progress: Progress = no_progress) -> Scores:
        """Collect the inputs (votes, gold, fits, ...) that a scoring method needs, and return its scores."""
        return method.score(self.collect_evidence_for_method(method, progress), progress=progress)

    def collect_evidence_for_method(self, method: Identifier, progress: Progress = no_progress) -> Evidence:
        """Return the inputs (votes, gold, fits, ...) for one scoring method; those not available are left out."""
        evidence = replace(self.given, fits=())
        for need in method.required_evidence():
            for name in need.split("|"):
                if not evidence.has_evidence(need):
                    found = self._find_evidence_or_none(name, method, progress)
                    evidence = evidence if found is None else replace(evidence, **{name: found})
        for name in set(method.may_use) & {"votes", "gold", "answers"}:  # available without computation
            if (
                not evidence.has_evidence(name)
                and (found := self._find_evidence_or_none(name, method, progress)) is not None
            ):
                evidence = replace(evidence, **{name: found})
        return evidence

    def _find_evidence_or_none(self, evidence_name: str, method: Identifier, progress: Progress) -> Any:
        """Return one input of a score: its votes, fit, fits, gold or answers; None if not available."""
        if evidence_name == "votes":
            return self.votes_or_counts
        if evidence_name == "fit":
            return self._first_fit_usable_by_method(method, progress)
        if evidence_name == "fits":
            return self._two_or_more_fits(method, progress)
        if evidence_name in ("gold", "answers") and isinstance(self.data, Dataset):
            return getattr(self.data, evidence_name)
        return None

    @property
    def votes_or_counts(self) -> Votes | None:
        """The votes, or else counts, that scores are computed from; None if there are none."""
        if isinstance(self.data, Dataset):
            return self.data.crowd() if self.data.has("votes") or self.data.has("counts") else None
        return self.data

    def _first_fit_usable_by_method(self, method: Identifier, progress: Progress) -> Fit | None:
        """Return the first fit that estimates what the method needs; a default one is computed if none is given."""
        known = [*self.given.fits, *self._compute_or_reuse_fits(self.by, progress)]
        for fit in known:
            if method.can_use_fit(fit):
                return fit
        if known and self.single_score:
            return known[0]
        return next(iter(self._compute_or_reuse_fits(_list_of_aggregators(method.fitted_by), progress)), None)

    def _two_or_more_fits(self, method: Identifier, progress: Progress) -> tuple[Fit, ...]:
        """Return all fits, given or computed, for a method that compares fits; raise InputError if there is only one."""
        known = [*self.given.fits, *self._compute_or_reuse_fits(self.by, progress)]
        if not known:
            known = self._compute_or_reuse_fits(_list_of_aggregators(method.fitted_by), progress)
        if known and len(known) < 2:
            raise InputError(f"{method.name()} compares several fits; give two or more fits or aggregators (by)")
        return tuple(known)

    def _compute_or_reuse_fits(self, aggregators: Sequence[Aggregator], progress: Progress) -> list[Fit]:
        """Return one fit of the votes per aggregator, each computed once and then reused; [] if there are no votes."""
        votes = self.votes_or_counts if aggregators else None
        if votes is None:
            return []
        for aggregator in aggregators:
            if aggregator.spec not in self.made:
                self.made[aggregator.spec] = aggregator.fit(votes, progress=progress)
        return [self.made[aggregator.spec] for aggregator in aggregators]
