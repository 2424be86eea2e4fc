"""Scores by name: what a score needs is taken from what is given, from the data set, or from a fit made on the way."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from plurivox import aggregate, identify
from plurivox.aggregate import Aggregator
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, first_few
from plurivox.core.method import split_list
from plurivox.core.progress import Progress, no_progress, within
from plurivox.core.results import Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels
from plurivox.workflows.rank_scores import Ranking, rank_of

By = str | Aggregator | Sequence[str | Aggregator]
Fits = Fit | str | Path | Sequence[Fit | str | Path]
Recorded = Dynamics | Mapping[str, Dynamics] | str | Path
Labels = SoftLabels | str | Path
SERVES = {  # an argument of `score` and `rank` -> the fields of Evidence that it fills
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
    """Score tasks, workers or the crowd by a method of that name, with its options.

    What the score needs and nobody gave comes from the data set, or is made: a `fit` by the aggregator that the score
    names, or `by` another. A score of several fits takes a list of them. `dynamics` are those of one classifier, or of
    one classifier per worker by the worker's name, or in a folder of one file per worker.

    `data` are Votes, a Dataset, the path or the name of one, or a DataFrame of votes; a file stands for fits, labels and
    dynamics, too. `part` says which to take where a data set has votes and counts.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> score(votes, "entropy", unit="bits").value.round(3)
    array([0.918, 0.   ])
    >>> score(votes, "posterior-entropy", by="vote-shares").worst(1)
    array(['a'], dtype=StringDType())
    """
    made = identify.methods.make(method, **options)
    given = {"soft": soft, "gold": gold, "prediction": prediction, "dynamics": dynamics, "fit": fit, "answers": answers}
    return _gather(data, [made], by, part, given, alone=True).score(made, progress)


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
    """Several scores of tasks, or of workers, side by side: values and ranks by name, 1 the worst.

    The scores are a list, or one text with commas between them.
    Scores that need a fit by the same aggregator share it; a `fit` that is given serves those that can read it.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> rank(votes, ["entropy", "disagreement"])
    <Ranking: 2 tasks, 2 scores, by entropy, disagreement>
    """
    words = split_list(scores) if isinstance(scores, str) else scores
    made = [identify.methods.make(one) for one in words]
    given = {"soft": soft, "gold": gold, "prediction": prediction, "dynamics": dynamics, "fit": fit, "answers": answers}
    gathering = _gather(data, made, by, part, given)
    return rank_of([gathering.score(one, within(progress, step, len(made))) for step, one in enumerate(made)])


def _gather(
    data: Any, scores: Sequence[Identifier], by: By | None, part: str | None, given: dict[str, Any], alone: bool = False
) -> "EvidenceCache":
    """What was given, files read, and the one crowd of the data set that all scores look at.

    Warns about arguments that no score looks at; raises where a score must know who voted and counts would be taken.
    """
    looked_at = {one for score in scores for one in score.looks_at()}
    for name, value in {**given, "by": by}.items():
        if value and name in SERVES and not looked_at & SERVES[name]:
            words = f"no score here looks at --{name}; it has no effect"
            warnings.warn(words, PlurivoxWarning, stacklevel=3)
    seen, makers = _evidence(**given), _made_by(by)
    if data is None:
        return EvidenceCache(None, seen, makers, alone=alone)
    needs_names = _needs_names(scores, makers, fitted=bool(seen.fits))
    return EvidenceCache(_with_one_crowd(as_dataset(data), part, needs_names), seen, makers, alone=alone)


def _evidence(
    fit: Fits | None, dynamics: Recorded | None, answers: Answers | None, **labels: Labels | None
) -> Evidence:
    """What a caller gave, each in the field of its kind; which fit a score looks at is found out later."""
    given = [] if fit is None else [fit] if isinstance(fit, Fit | str | Path) else fit
    fits = tuple(Fit.load(one) if isinstance(one, str | Path) else one for one in given)
    recorded = _recorded(Path(dynamics)) if isinstance(dynamics, str | Path) else dynamics
    one = recorded if isinstance(recorded, Dynamics) else None
    many = recorded if isinstance(recorded, Mapping) else {}
    soft: dict[str, Any] = {name: as_soft_labels(value) for name, value in labels.items()}
    return Evidence(fits=fits, dynamics=one, worker_dynamics=many, answers=answers, **soft)


def _recorded(path: Path) -> Dynamics | Mapping[str, Dynamics]:
    """The dynamics of one classifier, of a file; of one per worker, of a folder whose files are named after them."""
    if not path.is_dir():
        return Dynamics.load(path)
    found = {file.stem: Dynamics.load(file) for file in sorted(path.glob("*.npz"))}
    if not found:
        raise InputError(
            f"{path} holds no .npz file; it needs one of recorded dynamics a worker, named after the worker"
        )
    return found


def _with_one_crowd(data: Dataset, part: str | None, needs_names: str) -> Dataset:
    """The data set with the votes or counts that are chosen, its gold labels and its answers."""
    if not (data.has("votes") or data.has("counts")):
        return data
    crowd = as_votes(data, part, needs_names=needs_names)
    rest: dict[str, Any] = {name: partial(getattr, data, name) for name in ("gold", "answers") if data.has(name)}
    return Dataset(data.name, votes=crowd, about=data.about, path=data.path, **rest)


def _needs_names(scores: Sequence[Identifier], makers: Sequence[Aggregator], *, fitted: bool) -> str:
    """The first score that cannot work on counts without names, or maker of a fit where none is given; "" where all can."""
    for score in scores:
        if "votes" in score.looks_at() and "counts" not in score.takes:
            return score.name()
        if score.looks_at() & {"fit", "fits"} and not fitted:
            for maker in makers or _made_by(score.fitted_by):
                if "counts" not in maker.can_take():
                    return maker.name()
    return ""


def scores_of(of: str, words: str, what: str = "scores") -> list[Identifier]:
    """The scores in a text with commas between them; raises where one is not of `of`; `what` names the list there."""
    named = split_list(words)
    made = [identify.methods.make(word) for word in named]
    if wrong := [word for word, score in zip(named, made, strict=True) if score.of != of]:
        raise OptionError(f"{what} must be scores of {of}s; {first_few(wrong)} is not")
    return made


def _made_by(by: By | None) -> list[Aggregator]:
    words = () if by is None else (by,) if isinstance(by, str | Aggregator) else by
    return [aggregate.methods.make(one) for one in words]


class EvidenceCache:
    """What was given, and what was found or made for earlier scores: every fit is made once.

    A score that looks at one fit gets the first that holds what it reads, of those given and then of those made `by`
    the aggregators named. Where none does, it makes its own if the gathering is for several scores; a score alone is
    left to say what it misses.
    """

    def __init__(
        self, data: Votes | Dataset | None, given: Evidence, by: By | None = None, *, alone: bool = False
    ) -> None:
        self.data, self.given, self.alone = data, given, alone
        self.by = _made_by(by)
        self.made: dict[str, Fit] = {}

    def score(self, method: Identifier, progress: Progress = no_progress) -> Scores:
        """The score, once everything it needs is there."""
        return method.score(self.seen_by(method, progress), progress=progress)

    def seen_by(self, method: Identifier, progress: Progress = no_progress) -> Evidence:
        """The evidence for one score; what nobody has is left for the score to ask for."""
        seen = replace(self.given, fits=())
        for need in method.must_see():
            for name in need.split("|"):
                if not seen.has(need):
                    found = self._find(name, method, progress)
                    seen = seen if found is None else replace(seen, **{name: found})
        for name in set(method.may_use) & {"votes", "gold", "answers"}:  # what costs nothing
            if not seen.has(name) and (found := self._find(name, method, progress)) is not None:
                seen = replace(seen, **{name: found})
        return seen

    def _find(self, name: str, method: Identifier, progress: Progress) -> Any:
        if name == "votes":
            return self.votes
        if name == "fit":
            return self._one_fit(method, progress)
        if name == "fits":
            return self._all_fits(method, progress)
        if name in ("gold", "answers") and isinstance(self.data, Dataset):
            return getattr(self.data, name)
        return None

    @property
    def votes(self) -> Votes | None:
        """The votes, where there are any."""
        if isinstance(self.data, Dataset):
            return self.data.crowd() if self.data.has("votes") or self.data.has("counts") else None
        return self.data

    def _one_fit(self, method: Identifier, progress: Progress) -> Fit | None:
        known = [*self.given.fits, *self._fits_by(self.by, progress)]
        for fit in known:
            if all(getattr(fit, part) is not None for part in method.reads):
                return fit
        if known and self.alone:
            return known[0]
        return next(iter(self._fits_by(_made_by(method.fitted_by), progress)), None)

    def _all_fits(self, method: Identifier, progress: Progress) -> tuple[Fit, ...]:
        known = [*self.given.fits, *self._fits_by(self.by, progress)]
        if not known:
            known = self._fits_by(_made_by(method.fitted_by), progress)
        if known and len(known) < 2:
            raise InputError(f"{method.name()} holds fits against each other; give or name two methods or more")
        return tuple(known)

    def _fits_by(self, makers: Sequence[Aggregator], progress: Progress) -> list[Fit]:
        """A fit by each, made now or before; none where there are no votes to make it of."""
        votes = self.votes if makers else None
        if votes is None:
            return []
        for maker in makers:
            if maker.spec not in self.made:
                self.made[maker.spec] = maker.fit(votes, progress=progress)
        return [self.made[maker.spec] for maker in makers]
