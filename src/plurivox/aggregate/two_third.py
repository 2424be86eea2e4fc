"""Two-thirds agreement: a label needs two thirds of the votes of a task; other tasks stay undecided."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares
from plurivox.aggregate._shared.weighted_votes import TIE_TOLERANCE, WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class TwoThird(Aggregator):
    """Two-thirds majority: probability 1 on a label with two thirds of at least two votes; tasks without one are undecided.

    p(k | task) = 1 if n_k / n >= `share` and n >= `least`, with n_k the weight of the votes for label k and n their sum. A task
    is undecided if no label, or more than one, reaches that: its soft label is the vote shares n_k / n, or uniform over all
    labels (`otherwise`), and the shares of all votes if it has no votes. `found["undecided"]` is the number of undecided tasks,
    `found["decided"]` a boolean per task.

    The rule is that of peerannot: Lefort et al. (2024), https://computo-journal.org/published-202402-lefort-peerannot

    >>> votes = Votes.of(task=list("aaabb"), worker=[1, 2, 3, 1, 2], label=["no", "no", "yes", "yes", "no"])
    >>> fit = TwoThird().fit(votes)
    >>> fit.soft.prob, fit.found
    (array([[1. , 0. ],
           [0.5, 0.5]]), {'undecided': 1, 'decided': array([ True, False])})
    """

    share: float = option(2 / 3, "a task is decided if one label has at least this share of its votes", low=0.5, high=1)
    least: float = option(2, "a task is decided only if it has at least this many votes", low=0)
    otherwise: Literal["shares", "even"] = option(
        "shares",
        "soft label of an undecided task (no label reaches `share`, or too few votes): vote shares, or uniform",
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        weighted = WeightedVotes.group_by_task_and_label(votes)
        shares = weighted.label_shares_by_task(weighted.vote_weight_per_task_label_pair)
        enough = votes.support[weighted.task] >= self.least - TIE_TOLERANCE
        chosen = enough & (shares.mass >= self.share - TIE_TOLERANCE)
        n_chosen = np.bincount(weighted.task[chosen], minlength=votes.n_tasks)
        decided = n_chosen == 1  # at share=0.5 two labels can reach it
        here = decided[weighted.task]
        body = replace(shares, mass=np.where(here, chosen, shares.mass), rest=np.where(decided, 0, shares.rest))
        if self.otherwise == "even":
            body = _make_rows_uniform_over_all_labels(body, ~decided)
        found = {"undecided": int((~decided).sum()), "decided": decided}
        return Fit(
            weighted.shares_to_soft_labels(body),
            votes.workers,
            self.spec,
            prior=overall_vote_shares(votes),
            found=found,
        )


def _make_rows_uniform_over_all_labels(soft_label_rows: Candidates, row_mask: np.ndarray) -> Candidates:
    """Return soft-label rows, those in the mask `row_mask` (n_rows,) replaced by a uniform distribution over all labels."""
    even = row_mask[soft_label_rows.row_of_each_candidate]
    rest = np.where(
        row_mask, soft_label_rows.n_unlisted_labels_per_row / soft_label_rows.n_labels, soft_label_rows.rest
    )
    return replace(soft_label_rows, mass=np.where(even, 1 / soft_label_rows.n_labels, soft_label_rows.mass), rest=rest)
