"""Soft labels of a study for both questions: its aggregators for truth and for people, and their fits in each snapshot."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plurivox.aggregate import DEFAULT_METHODS
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.errors import PlurivoxError
from plurivox.core.method import parse_spec
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand
from plurivox.core.votes import Votes
from plurivox.engine.beta_intervals import beta_interval_95, jeffreys_interval_95
from plurivox.web.jobs.study_statistics import Histograms, soft_label_histograms_and_label_shares
from plurivox.web.store.database import current_unix_time
from plurivox.web.study.config import Study, aggregator_of_study
from plurivox.workflows import fit

LEAN_METHODS: dict[Estimand, str] = {
    "truth": "one-coin",
    "people": "vote-shares",
}  # used if the default cannot be computed
MIN_SECONDS = 5.0  # a fit for truth that takes longer is repeated only now and then
TINY = 1e-9  # smallest parameter of a Beta distribution
IDLE_FACTOR = 9  # after a long fit, truth is not computed again for so many times its seconds


class QuantityFit(NamedTuple):
    """The fit for truth or for people, the spec of its method, and an alert for the owner ("" if there is none)."""

    fitted: Fit | None
    by: str
    alert: str

    @property
    def weights_people(self) -> bool:
        """Whether the method estimates how reliable people are."""
        return self.fitted is not None and not (self.fitted.confusion is None and self.fitted.ability is None)


def fit_quantity_of_study(study: Study, votes: Votes, quantity: Estimand) -> QuantityFit:
    """Fit the study's aggregator for truth or for people, or the default; if that fails, a method that needs less.

    The alert tells that a method failed. A default that needs more memory than there is, or other answers, has not failed.
    """
    if not len(votes):
        return QuantityFit(None, "", "")
    named, alert = aggregator_of_study(study, quantity), ""
    for spec in dict.fromkeys((named or DEFAULT_METHODS[quantity], DEFAULT_METHODS[quantity], LEAN_METHODS[quantity])):
        try:
            found = QuantityFit(fit(votes, spec), spec, "")
        except Exception as cause:  # noqa: BLE001 - the owner gets an alert, and another method in the meantime
            if not isinstance(cause, PlurivoxError):
                alert = alert or f"The aggregator {spec!r} failed: {type(cause).__name__}: {cause}"
            elif spec == named:
                alert = f"The aggregator {spec!r} of study.toml failed: {cause}"
        else:
            told = f"{alert} For now, the soft labels for {quantity} are {spec}." if alert else ""
            return found._replace(alert=told)
    return QuantityFit(
        None, "", f"{alert or 'No aggregator can be computed.'} There are no soft labels for {quantity}."
    )


def intervals_of_shares(people: Fit, share: Floats, tasks: Ints) -> tuple[Floats, Floats]:
    """Return (low, high) of the 95% interval of shares of people (n_tasks, n_shares) in tasks of a fit; NaN if it has none.

    Shares by calibrated-shares have the interval of their posterior, vote shares the Jeffreys interval of as many votes. Other
    methods do not tell how certain their shares are.
    """
    concentration = people.found.get("concentration per task")
    if concentration is not None:
        c = np.asarray(concentration)[tasks][:, None]
        low, high = beta_interval_95(np.maximum(c * share, TINY), np.maximum(c * (1 - share), TINY))
        return np.minimum(low, share), np.maximum(high, share)
    if parse_spec(people.made_by)[0] == LEAN_METHODS["people"] and people.soft.support is not None:
        return jeffreys_interval_95(share, np.rint(people.soft.support[tasks])[:, None])
    return np.full(share.shape, np.nan), np.full(share.shape, np.nan)


class ProbabilitiesByTask(NamedTuple):
    """Probabilities of the labels of tasks by database id, rounded to 5 digits; NaN for a task without them."""

    ids: Ints  # (n_tasks,) sorted
    prob: Any  # (n_tasks, n_labels) float32
    labels: Names

    @classmethod
    def of(cls, ids: Ints, prob: Floats, labels: Names) -> "ProbabilitiesByTask":
        """Sort rows of probabilities by the database id of their task, and round them."""
        order = np.argsort(ids)
        return cls(ids[order], np.round(prob[order], 5).astype(np.float32), labels)

    def rows_of(self, ids: Ints) -> Any:
        """(n_ids, n_labels) the rows of tasks with these ids, NaN for other tasks."""
        place = np.minimum(np.searchsorted(self.ids, ids), max(len(self.ids) - 1, 0))
        rows = np.full((len(ids), len(self.labels)), np.nan, np.float32)
        known = self.ids[place] == ids if len(self.ids) else np.zeros(len(ids), bool)
        rows[known] = self.prob[place[known]]
        return rows


@dataclass(frozen=True)
class Truth:
    """Soft labels for truth, which may be of fewer answers than the snapshot if computing them takes long."""

    prob: Any  # (n_tasks, n_labels) NaN for tasks without them
    by: str
    weights_people: bool
    histograms: Histograms
    alert: str
    fitted: Fit | None  # None if it was not computed from all answers of this snapshot
    due: float | None  # when it is to be computed again; None if it is of all answers


class TruthComputer:
    """Computes the soft labels for truth of one snapshot after the other; after a long fit it keeps them for a while."""

    def __init__(self) -> None:
        self.forget()
        self._is_first_fit = True  # its time is not typical: methods are imported and compiled

    def forget(self) -> None:
        """Forget the last fit, so that the next snapshot computes truth again."""
        self._held: tuple[Truth, ProbabilitiesByTask] | None = None
        self._not_before = 0.0

    def truth_of_tasks(self, study: Study, votes: Votes, ids: Ints, has_votes: Bools) -> Truth:
        """Return truth of the tasks with these database ids, from all votes, or from earlier votes if computing takes long."""
        now = current_unix_time()
        if self._held is not None and now < self._not_before and np.array_equal(self._held[1].labels, votes.labels):
            held, rows = self._held
            return Truth(
                rows.rows_of(ids), held.by, held.weights_people, held.histograms, held.alert, None, self._not_before
            )
        began = time.perf_counter()
        found = fit_quantity_of_study(study, votes, "truth")
        seconds = time.perf_counter() - began
        if found.fitted is None:
            prob, histograms = np.full((len(ids), len(votes.labels)), np.nan), Histograms([], [], {})
        else:
            prob = np.array(found.fitted.soft.prob)
            prob[~has_votes] = np.nan
            histograms = soft_label_histograms_and_label_shares(found.fitted, has_votes)
        truth = Truth(prob, found.by, found.weights_people, histograms, found.alert, found.fitted, None)
        self.forget()
        if seconds > MIN_SECONDS and not self._is_first_fit:
            self._held = truth, ProbabilitiesByTask.of(ids, prob, votes.labels)
            self._not_before = current_unix_time() + IDLE_FACTOR * seconds
        self._is_first_fit = False
        return truth
