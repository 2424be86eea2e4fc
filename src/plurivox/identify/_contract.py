"""Base class of scores of tasks, workers and crowds, and the evidence that they are computed from."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, warn_user
from plurivox.core.method import Method
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.registry import Methods
from plurivox.core.results import Dynamics, Fit, Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes

__all__ = ["Evidence", "Identifier", "methods"]

MEANING_OF_SCORES: dict[Estimand, str] = {  # what scores of tasks find
    "truth": "how uncertain it is which label is right (truth)",
    "people": "how much people disagree (people)",
}

EVIDENCE_HINTS = {  # field of `Evidence` -> how to provide it if it is missing
    "votes": "give the votes; answers as entered, such as those of a study, are converted to votes first (pv.elicit_votes, or "
    "plurivox elicit form-column INPUT -o votes)",
    "soft": "give soft labels, such as those of pv.fit: soft=... (--soft FILE)",
    "fit": "aggregate the votes first, or let plurivox identify do it",
    "fits": "aggregate the votes by two methods or more",
    "gold": "give known labels: gold=... (--gold FILE), or a data set that has them",
    "prediction": "give the probabilities of a classifier that was not trained on the tasks, such as those that plurivox train "
    "--folds 5 -o RUN writes: prediction='RUN/out_of_fold.csv' (--prediction RUN/out_of_fold.csv)",
    "dynamics": "record them while a classifier is trained (plurivox train --record visit), and give the file: "
    "dynamics=... (--dynamics FILE); or run plurivox recipe aum or waum",
    "worker_dynamics": "record them while one classifier per worker is trained, and give their folder: "
    "dynamics=... (--dynamics FOLDER); or run plurivox recipe waum-per-worker",
    "answers": "give the answers as entered: an answers table with the columns that the score needs",
}


@dataclass(frozen=True)
class Evidence:
    """The inputs of scores: votes, answers, gold, fits, training dynamics; those that a score does not need may be None."""

    votes: Votes | None = None
    soft: SoftLabels | None = None  # aggregated soft labels of the tasks
    fit: Fit | None = None
    fits: tuple[Fit, ...] = ()  # of several aggregators on the same votes
    gold: SoftLabels | None = None
    prediction: SoftLabels | None = None  # a classifier's probabilities
    dynamics: Dynamics | None = None
    worker_dynamics: Mapping[str, Dynamics] = field(default_factory=dict)  # worker -> those of the worker's classifier
    answers: Answers | None = None

    def has_evidence(self, field_or_alternatives: str) -> bool:
        """Return whether the evidence has a field of this name that is not empty; for "a|b", whether it has a or b."""
        values = (getattr(self, field_name) for field_name in field_or_alternatives.split("|"))
        return any(value is not None and not (isinstance(value, tuple | Mapping) and not value) for value in values)


@dataclass(frozen=True)
class Identifier(Method, ABC):
    """A score of tasks, of workers or of the crowd: `raw` is the number as its paper defines it, `badness` ranks.

    `needs` names the required fields of `Evidence`, `a|b` if one of two is enough; `may_use` those used if they are present,
    or needed with other options (`required_evidence` returns those needed with the current options). `fitted_by` is the
    aggregator that makes the `fit` (or those that make the `fits`) if the caller has none, and `fit_fields` are the fields of
    the `Fit` that must not be None. `takes` lists accepted votes beside plain votes of named workers: `soft` answers, `counts`
    without worker names. A higher badness is worse; it is a monotone function of raw, else `is_badness_monotone_in_raw` is
    False and the docstring says why. A score of tasks declares in `estimates` what a high value says: `people`, that people
    would disagree (ambiguous tasks), or `truth`, that the right label is uncertain or a label is wrong. Options become flags of
    `plurivox identify`, so their names must differ from its flags.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    of: ClassVar[ScoreTarget]
    needs: ClassVar[tuple[str, ...]] = ("votes",)
    may_use: ClassVar[tuple[str, ...]] = ()
    fitted_by: ClassVar[tuple[str, ...]] = ()
    fit_fields: ClassVar[tuple[str, ...]] = ()
    is_badness_monotone_in_raw: ClassVar[bool] = True
    estimates: ClassVar[Estimand] = "unknown"

    def score(self, evidence: Evidence, *, progress: Progress = no_progress) -> Scores:
        """Return the scores of all tasks or workers, or of the crowd; raise InputError if required evidence is missing."""
        for name in self.required_evidence():
            if not evidence.has_evidence(name):
                raise InputError(
                    f"{self.name()} needs {_evidence_name_as_text(name)}: {_how_to_provide_evidence(name)}"
                )
        self._raise_if_evidence_unsuitable(evidence)
        self._warn_if_soft_labels_estimate_the_other(evidence)
        return self._score(evidence, progress)

    def can_use_fit(self, fit: Fit) -> bool:
        """Return whether the fit estimates what this score needs, such as confusion matrices."""
        return all(getattr(fit, name) is not None for name in self.fit_fields)

    def required_evidence(self) -> tuple[str, ...]:
        """Return the names of the `Evidence` fields that this score requires with its current options."""
        return self.needs

    @classmethod
    def usable_evidence(cls) -> frozenset[str]:
        """Return the names of all `Evidence` fields that this score can use, required or not."""
        return frozenset("|".join((*cls.needs, *cls.may_use)).split("|"))

    def uses_order(self) -> bool:
        """Return whether the score uses the order of ordered labels with its current options."""
        return False

    @abstractmethod
    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        """Return the scores of tasks, workers or the crowd; the caller has checked that the required evidence is present."""

    def _raise_if_evidence_unsuitable(self, evidence: Evidence) -> None:
        """Raise InputError if the score does not accept votes of this kind, or the fit lacks a field that it needs."""
        votes = evidence.votes if "votes" in self.usable_evidence() else None
        if votes is not None and "soft" not in self.takes:
            votes.require_no_soft_answers(self.name())
        if votes is not None and "counts" not in self.takes:
            votes.require_worker_names(self.name())
        if "fit" in self.required_evidence() and evidence.fit is not None:
            for name in self.fit_fields:
                if getattr(evidence.fit, name) is None:
                    raise InputError(
                        f"{self.name()} needs the {name} of a fit, and {evidence.fit.made_by} estimates none; "
                        f"use a fit by {' or '.join(self.fitted_by)}"
                    )

    def _warn_if_soft_labels_estimate_the_other(self, evidence: Evidence) -> None:
        """Warn if the score is about the truth and the soft labels it is computed from are of people, or the reverse."""
        fit = evidence.fit if "fit" in self.required_evidence() else None
        soft = evidence.soft if fit is None and "soft" in self.usable_evidence() else None if fit is None else fit.soft
        given = "unknown" if soft is None else soft.estimates
        if "unknown" not in (given, self.estimates) and given != self.estimates:
            whose = "the soft labels" if fit is None else f"the soft labels of {fit.made_by}"
            warn_user(
                f"{self.name()} is about {MEANING_OF_SCORES[self.estimates]}, but {whose} estimate {given}, so it is about "
                f"{MEANING_OF_SCORES[given]} here"
            )


def _evidence_name_as_text(field: str) -> str:
    """Return the name of required evidence as text for a message: "answers|votes" becomes "answers or votes"."""
    return field.replace("_", " ").replace("|", " or ")


def _how_to_provide_evidence(missing_field: str) -> str:
    """Return a text that says how to provide the missing evidence `missing_field`; for "a|b", how to provide either."""
    return "; or ".join(EVIDENCE_HINTS[field_name] for field_name in missing_field.split("|"))


methods: Methods[Identifier] = Methods(__package__, Identifier)
