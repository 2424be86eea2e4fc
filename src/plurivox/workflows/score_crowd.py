"""Scores by name: what a score needs is taken from what is given, from the data set, or from a fit made on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plurivox import aggregate, identify
from plurivox.aggregate import Aggregator
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import split_list
from plurivox.core.progress import Watch, quiet, within
from plurivox.core.results import Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence, Identifier
from plurivox.io import Dataset
from plurivox.workflows.rank_scores import Ranking, rank_of

By = str | Aggregator | Sequence[str | Aggregator]


def score(
    data: Votes | Dataset | None,
    method: str | Identifier,
    *,
    fit: Fit | Sequence[Fit] | None = None,
    by: By | None = None,
    soft: SoftLabels | None = None,
    gold: SoftLabels | None = None,
    guess: SoftLabels | None = None,
    dynamics: Dynamics | Mapping[str, Dynamics] | None = None,
    answers: Answers | None = None,
    watch: Watch = quiet,
    **options: Any,
) -> Scores:
    """Score tasks, workers or the crowd by a method of that name, with its options.

    What the score needs and nobody gave comes from the data set, or is made: a `fit` by the aggregator that the score
    names, or `by` another. A score of several fits takes a list of them. `dynamics` are those of one classifier, or of
    one classifier a worker by the worker's name.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> score(votes, "entropy", unit="bits").value.round(3)
    array([0.918, 0.   ])
    >>> score(votes, "posterior-entropy", by="vote-shares").worst(1)
    array(['a'], dtype=StringDType())
    """
    made = identify.methods.make(method, **options)
    given = evidence(fit=fit, soft=soft, gold=gold, guess=guess, dynamics=dynamics, answers=answers)
    return Gathering(data, given, by, alone=True).score(made, watch)


def rank(
    data: Votes | Dataset | None,
    scores: str | Sequence[str | Identifier],
    *,
    fit: Fit | Sequence[Fit] | None = None,
    by: By | None = None,
    soft: SoftLabels | None = None,
    gold: SoftLabels | None = None,
    guess: SoftLabels | None = None,
    dynamics: Dynamics | Mapping[str, Dynamics] | None = None,
    answers: Answers | None = None,
    watch: Watch = quiet,
) -> Ranking:
    """Several scores of tasks, or of workers, side by side: values and ranks by name, 1 the worst.

    The scores are a list, or one text with commas between them.
    Scores that need a fit by the same aggregator share it; a `fit` that is given serves those that can read it.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=list("xxyyyy"))
    >>> rank(votes, ["entropy", "disagreement"])
    <Ranking: 2 tasks, 2 scores, by entropy, disagreement>
    """
    made = [identify.methods.make(one) for one in (split_list(scores) if isinstance(scores, str) else scores)]
    given = evidence(fit=fit, soft=soft, gold=gold, guess=guess, dynamics=dynamics, answers=answers)
    gathering = Gathering(data, given, by)
    return rank_of([gathering.score(one, within(watch, step, len(made))) for step, one in enumerate(made)])


def evidence(
    *, fit: Fit | Sequence[Fit] | None, dynamics: Dynamics | Mapping[str, Dynamics] | None, **rest: Any
) -> Evidence:
    """What a caller gave, each in the field of its kind; which fit a score looks at is found out later."""
    fits = () if fit is None else (fit,) if isinstance(fit, Fit) else tuple(fit)
    one = dynamics if isinstance(dynamics, Dynamics) else None
    many = dynamics if isinstance(dynamics, Mapping) else {}
    return Evidence(fits=fits, dynamics=one, worker_dynamics=many, **rest)


class Gathering:
    """What was given, and what was found or made for earlier scores: every fit is made once.

    A score that looks at one fit gets the first that holds what it reads, of those given and then of those made `by`
    the aggregators named. Where none does, it makes its own if the gathering is for several scores; a score alone is
    left to say what it misses.
    """

    def __init__(
        self, data: Votes | Dataset | None, given: Evidence, by: By | None = None, *, alone: bool = False
    ) -> None:
        if not isinstance(data, Votes | Dataset | None):
            kind = type(data).__name__
            raise InputError(f"a score is of Votes or of a Dataset, not of a {kind}; read it first: pv.read, pv.votes")
        self.data, self.given, self.alone = data, given, alone
        words = () if by is None else (by,) if isinstance(by, str | Aggregator) else tuple(by)
        self.by = [aggregate.methods.make(one) for one in words]
        self.made: dict[str, Fit] = {}

    def score(self, method: Identifier, watch: Watch = quiet) -> Scores:
        """The score, once everything it needs is there."""
        return method.score(self.seen_by(method, watch), watch=watch)

    def seen_by(self, method: Identifier, watch: Watch = quiet) -> Evidence:
        """The evidence for one score; what nobody has is left for the score to ask for."""
        seen = replace(self.given, fits=())
        for need in method.must_see():
            for name in need.split("|"):
                if not seen.has(need):
                    found = self._find(name, method, watch)
                    seen = seen if found is None else replace(seen, **{name: found})
        for name in set(method.may_use) & {"votes", "gold", "answers"}:  # what costs nothing
            if not seen.has(name) and (found := self._find(name, method, watch)) is not None:
                seen = replace(seen, **{name: found})
        return seen

    def _find(self, name: str, method: Identifier, watch: Watch) -> Any:
        if name == "votes":
            return self.votes
        if name == "fit":
            return self._one_fit(method, watch)
        if name == "fits":
            return self._all_fits(method, watch)
        if name in ("gold", "answers") and isinstance(self.data, Dataset):
            return getattr(self.data, name)
        return None

    @property
    def votes(self) -> Votes | None:
        """The votes, where there are any."""
        if isinstance(self.data, Dataset):
            return self.data.crowd() if self.data.has("votes") or self.data.has("counts") else None
        return self.data

    def _one_fit(self, method: Identifier, watch: Watch) -> Fit | None:
        known = [*self.given.fits, *self._fits_by(self.by, watch)]
        for fit in known:
            if all(getattr(fit, part) is not None for part in method.reads):
                return fit
        if known and self.alone:
            return known[0]
        return next(iter(self._fits_by(_makers(method), watch)), None)

    def _all_fits(self, method: Identifier, watch: Watch) -> tuple[Fit, ...]:
        known = [*self.given.fits, *self._fits_by(self.by, watch)]
        if not known:
            known = self._fits_by(_makers(method), watch)
        if known and len(known) < 2:
            raise InputError(f"{method.name()} holds fits against each other; give or name two methods or more")
        return tuple(known)

    def _fits_by(self, makers: Sequence[Aggregator], watch: Watch) -> list[Fit]:
        """A fit by each, made now or before; none where there are no votes to make it of."""
        votes = self.votes if makers else None
        if votes is None:
            return []
        for maker in makers:
            if maker.word not in self.made:
                self.made[maker.word] = maker.fit(votes, watch=watch)
        return [self.made[maker.word] for maker in makers]


def _makers(method: Identifier) -> list[Aggregator]:
    return [aggregate.methods.make(word) for word in method.fitted_by]
