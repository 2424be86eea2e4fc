"""Shares of labels in votes, in soft labels of methods and in gold labels."""

from dataclasses import dataclass

import numpy as np

from plurivox.charts._contract import ChartData
from plurivox.charts._shared.label_pairs import LabelGroups
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.core.array_types import Floats, Names
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.beta_intervals import jeffreys_interval_95

MAX_METHODS = 4


@dataclass(frozen=True)
class Shares:
    """Shares of the labels of one table: of votes, soft labels or true labels."""

    name: str
    share: Floats  # (n_groups,)
    low: Floats | None = None  # (n_groups,) 95% interval
    high: Floats | None = None
    is_gold: bool = False

    def largest(self, n: int) -> float:
        """Return the largest share, or upper end of its interval, of the first n labels."""
        return float((self.share if self.high is None else self.high)[:n].max(initial=0))


def all_labels(data: ChartData) -> Names:
    """Return the labels of the votes, and behind them those that only soft or gold labels have."""
    assert data.votes is not None
    names = list(data.votes.labels.tolist())
    for soft in (*list(data.soft.values())[:MAX_METHODS], *([] if data.gold is None else [data.gold])):
        names += list(soft.labels[positions(as_names(names, "labels"), soft.labels) < 0].tolist())
    return as_names(names, "labels")


def shares_of_tables(data: ChartData, groups: LabelGroups, *, gold_interval: bool = True) -> list[Shares]:
    """Return the shares of labels in the votes, in the soft labels of up to four methods, and in the gold labels."""
    assert data.votes is not None
    votes = data.votes
    found = [Shares("votes", shares_of_votes(votes, groups))]
    for name, soft in list(data.soft.items())[:MAX_METHODS]:
        mean, _ = _mean_probabilities(soft)
        found.append(Shares(f"mean of {shown_name(name)}", _sums_by_name(groups, soft.labels, mean)))
    if (gold := gold_on_tasks_with_votes(data)) is not None:
        mean, n = _mean_probabilities(gold)
        share = np.clip(_sums_by_name(groups, gold.labels, mean), 0, 1)
        low, high = jeffreys_interval_95(share, n) if gold_interval else (None, None)
        n_voted = len(votes.tasks_with_votes)
        part = "" if n == n_voted else f" ({n:,} of {n_voted:,} tasks)"
        found.append(Shares(f"gold labels{part}", share, low, high, is_gold=True))
    return found


def shares_of_votes(votes: Votes, groups: LabelGroups) -> Floats:
    """(n_groups,) the share of the labels in votes."""
    weight = np.bincount(votes.label, votes.weights, minlength=votes.n_labels)
    return _sums_by_name(groups, votes.labels, weight / max(votes.n_answers, 1e-300))


def gold_on_tasks_with_votes(data: ChartData) -> SoftLabels | None:
    """Return the gold labels of the tasks that have votes; None if there are none."""
    if data.gold is None or data.votes is None:
        return None
    gold = data.gold.shared(data.votes.tasks_with_votes)
    return gold if len(gold) else None


def _mean_probabilities(soft: SoftLabels) -> tuple[Floats, int]:
    """Return ((n_labels,) the mean probability of each label, number of tasks), without tasks that have no votes."""
    known = np.ones(len(soft), bool) if soft.support is None else soft.support > 0
    sums = np.zeros(soft.n_labels)
    for where, block in soft.rows():
        sums += block[known[where]].sum(0)
    n = int(known.sum())
    return sums / max(n, 1), n


def _sums_by_name(groups: LabelGroups, labels: Names, per_label: Floats) -> Floats:
    """(n_groups,) the sums of numbers per label, for labels in an order of their own."""
    whole = np.zeros(len(groups.labels))
    whole[positions(groups.labels, labels)] = per_label
    return groups.sums(whole)
