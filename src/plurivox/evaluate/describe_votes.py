"""Describe votes: sizes, agreement, entropy, ties and, with gold, accuracies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import as_names, encode, positions
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import agreeing_pair_share_per_task
from plurivox.evaluate._format_description_numbers import (
    Triple,
    count_in_parentheses_or_empty,
    format_median_and_range_or_keep_none,
    format_number_or_keep_none,
    format_percent_or_keep_none,
    mean_or_zero,
    median_and_range_of_positives_or_none,
)
from plurivox.evaluate.tied_true_labels import without_tied_true_labels

GOOD_WORKER = 0.75  # Uma et al. (2020) count the workers whose accuracy is above it


@dataclass(frozen=True)
class Description:
    """Statistics of votes: the descriptors of Uma et al. (2020), Table 1 and §5.1, and further sizes and shares.

    A statistic that cannot be computed is None: those of workers need names, accuracies need gold.
    """

    n_tasks: int
    n_tasks_without_votes: int
    n_workers: int
    n_labels: int
    n_labels_unused: int
    n_votes: float
    votes_per_task: Triple  # mean, smallest, largest over tasks with votes
    votes_per_worker: Triple | None  # median, smallest, largest
    votes_per_label: float | None  # Uma's coder/label ratio: mean votes per task over labels
    observed_agreement: float | None
    mean_entropy: float
    share_at_most_two_labels: float
    share_unanimous: float
    share_tied: float
    n_repeats: int
    n_unnamed: int
    n_missing: int  # answers without a label: missing or abstained
    seconds_median: float | None
    n_gold: int
    worker_accuracy: float | None  # mean over workers who answered a gold task
    share_good_workers: float | None  # of those, the share above GOOD_WORKER
    vote_accuracy: float | None  # mean over votes
    majority_accuracy: float | None  # ties shared evenly
    share_gold_unvoted: float | None  # share of gold tasks whose gold label got no vote
    majority_label_share: float | None  # accuracy of always answering gold's most frequent label
    soft: bool
    n_agreement: int  # tasks with several answers, of which observed_agreement is the mean
    n_gold_workers: int  # workers who answered a gold task

    def summary_values(self) -> dict[str, Any]:
        """Return all statistics of the votes as name -> value; None if a statistic cannot be computed."""
        return dict(vars(self))

    def rows(self) -> list[tuple[str, str]]:
        """Return one (name, value) pair of texts per statistic of the votes, for display; None values are left out."""
        middle, low, high = self.votes_per_task
        lines: list[tuple[str, str | None]] = [
            (
                "tasks",
                f"{self.n_tasks:,}" + count_in_parentheses_or_empty(self.n_tasks_without_votes, "without a vote"),
            ),
            ("workers", f"{self.n_workers:,}" if self.n_workers else "unknown: votes without names"),
            ("labels", f"{self.n_labels:,}" + count_in_parentheses_or_empty(self.n_labels_unused, "without a vote")),
            ("soft answers" if self.soft else "votes", f"{self.n_votes:,.0f}"),
            ("votes per task", f"{middle:.2f} ({low:g} to {high:g})"),
            ("votes per worker", format_median_and_range_or_keep_none(self.votes_per_worker)),
            ("votes per task / labels", format_number_or_keep_none(self.votes_per_label, 3)),
            ("observed agreement", self._agreement_text()),
            ("mean entropy of vote shares", f"{self.mean_entropy:.3f} nats"),
            ("tasks with one label voted", format_percent_or_keep_none(self.share_unanimous)),
            ("tasks with at most two", format_percent_or_keep_none(self.share_at_most_two_labels)),
            ("tasks with a tie at the top", format_percent_or_keep_none(self.share_tied)),
            ("repeated answers", f"{self.n_repeats:,}, not in agreement, entropy and ties" if self.n_repeats else None),
            ("answers without a label", f"{self.n_missing:,}" if self.n_missing else None),
            ("votes without a name", f"{self.n_unnamed:,}" if self.n_unnamed and self.n_workers else None),
            ("median seconds per answer", format_number_or_keep_none(self.seconds_median, 1)),
            ("tasks with votes and gold", f"{self.n_gold:,}" if self.n_gold else None),
            ("accuracy of a vote", format_number_or_keep_none(self.vote_accuracy, 4)),
            ("accuracy of workers, mean", format_number_or_keep_none(self.worker_accuracy, 4)),
            (f"workers above {GOOD_WORKER:g}", self._good_workers_text()),
            ("majority vote, ties shared", format_number_or_keep_none(self.majority_accuracy, 4)),
            ("always the most frequent label", format_number_or_keep_none(self.majority_label_share, 4)),
            ("gold label got no vote", format_percent_or_keep_none(self.share_gold_unvoted)),
        ]
        return [(name, value) for name, value in lines if value is not None]

    def _agreement_text(self) -> str | None:
        """Return the observed agreement as text, with its number of tasks if not all tasks with votes have several."""
        text = format_number_or_keep_none(self.observed_agreement, 3)
        if text is None or self.n_agreement == self.n_tasks - self.n_tasks_without_votes:
            return text
        return f"{text} (on {count_text(self.n_agreement, 'task')} with several answers)"

    def _good_workers_text(self) -> str | None:
        """Return the share of good workers as text, with the number of workers whose accuracy is known if not all are."""
        text = format_percent_or_keep_none(self.share_good_workers)
        return text if text is None or self.n_gold_workers == self.n_workers else f"{text} of {self.n_gold_workers:,}"


@takes_what_users_hold
def describe(votes: Votes, gold: SoftLabels | None = None) -> Description:
    """Return statistics of votes: sizes, agreement, entropy and ties; with gold, also accuracies.

    Observed agreement is the share of pairs of votes on a task that agree, averaged over tasks; for soft answers, the
    probability that labels drawn from two of them agree. Of a worker's repeated answers to a task only the first counts in it,
    in the entropy, and in the shares of tasks with one label, at most two or a tie; accuracies count all votes. Tasks with
    several equally probable gold labels are left out of what needs gold labels.

    Reference: Uma et al. (2020), Table 1, https://doi.org/10.1609/hcomp.v8i1.7478.

    >>> votes = Votes.of(task=["a", "a", "b", "b"], worker=[1, 2, 1, 2], label=["x", "x", "x", "y"])
    >>> about = describe(votes, SoftLabels.gold(["a", "b"], ["x", "y"]))
    >>> about.observed_agreement, about.vote_accuracy, about.majority_accuracy
    (0.5, 0.75, 0.75)
    """
    has_votes = votes.support > 0
    people = one_answer_per_task_and_worker(votes).votes  # one answer of each worker to each task
    tally = people.sparse_vote_counts()
    n_voted = np.bincount(tally.row_of_each_candidate[tally.mass > 0], minlength=votes.n_tasks)[has_votes]
    best = np.zeros(votes.n_tasks)
    np.maximum.at(best, tally.row_of_each_candidate, tally.mass)
    tied = (
        np.bincount(
            tally.row_of_each_candidate[tally.mass >= best[tally.row_of_each_candidate] - 1e-9], minlength=votes.n_tasks
        )[has_votes]
        > 1
    )
    share = tally.mass / np.maximum(people.support, 1e-300)[tally.row_of_each_candidate]
    entropy = np.bincount(
        tally.row_of_each_candidate, -share * np.log(np.where(share > 0, share, 1)), minlength=votes.n_tasks
    )[has_votes]
    support = votes.support[has_votes]
    seconds = None if votes.seconds is None else votes.seconds[~np.isnan(votes.seconds)]
    return Description(
        n_tasks=votes.n_tasks,
        n_tasks_without_votes=int((~has_votes).sum()),
        n_workers=votes.n_workers,
        n_labels=votes.n_labels,
        n_labels_unused=votes.n_labels - len(np.unique(votes.label)),
        n_votes=votes.n_answers,
        votes_per_task=(mean_or_zero(support), float(support.min(initial=np.inf)), float(support.max(initial=0))),
        votes_per_worker=median_and_range_of_positives_or_none(votes.n_answers_per_worker),
        votes_per_label=mean_or_zero(support) / votes.n_labels if votes.n_labels else None,
        observed_agreement=observed_agreement(votes),
        mean_entropy=mean_or_zero(entropy),
        share_at_most_two_labels=mean_or_zero(n_voted <= 2),
        share_unanimous=mean_or_zero(n_voted == 1),
        share_tied=mean_or_zero(tied),
        n_repeats=votes.n_repeats,
        n_unnamed=int((votes.worker < 0).sum()),
        n_missing=votes.missing,
        seconds_median=float(np.median(seconds)) if seconds is not None and len(seconds) else None,
        soft=votes.answer is not None,
        n_agreement=int((~np.isnan(agreeing_pair_share_per_task(votes))).sum()),
        **_gold_statistics_by_name(votes, gold),
    )


def observed_agreement(votes: Votes) -> float | None:
    """Return the share of pairs of answers to a task that agree, averaged over tasks with several answers; None if none has.

    Of a worker's repeated answers to a task only the first counts.
    """
    share = agreeing_pair_share_per_task(votes)
    defined = share[~np.isnan(share)]
    return mean_or_zero(defined) if len(defined) else None


def _gold_statistics_by_name(votes: Votes, gold: SoftLabels | None) -> dict[str, Any]:
    """Return name -> value of the statistics of votes that need gold labels; each is None if no voted task has gold."""
    names = ("worker_accuracy", "share_good_workers", "vote_accuracy", "majority_accuracy")
    empty: dict[str, Any] = dict.fromkeys((*names, "share_gold_unvoted", "majority_label_share"))
    known = None
    if gold is not None:
        known = without_tied_true_labels(gold, votes.tasks_with_votes)[0].shared(votes.tasks_with_votes)
    if known is None or not len(known):
        return empty | {"n_gold": 0, "n_gold_workers": 0}
    gold_votes = votes.on(known.tasks)
    truth = as_names(known.hard())
    true = positions(votes.labels, truth)  # -1: a gold label that is not a label of the votes
    right = gold_votes.weights * (gold_votes.label == true[gold_votes.task])
    tally = gold_votes.sparse_vote_counts()
    best = np.zeros(gold_votes.n_tasks)
    np.maximum.at(best, tally.row_of_each_candidate, tally.mass)
    top = tally.mass >= best[tally.row_of_each_candidate] - 1e-9
    n_top = np.bincount(tally.row_of_each_candidate[top], minlength=gold_votes.n_tasks)
    hit = tally.label == true[tally.row_of_each_candidate]
    named = gold_votes.worker >= 0
    by_worker = np.bincount(gold_votes.worker[named], right[named], minlength=gold_votes.n_workers)
    load = gold_votes.n_answers_per_worker
    accuracy = by_worker[load > 0] / load[load > 0]
    voted = np.bincount(tally.row_of_each_candidate[hit & (tally.mass > 0)], minlength=gold_votes.n_tasks) > 0
    return empty | {
        "n_gold": len(known),
        "n_gold_workers": len(accuracy),
        "worker_accuracy": mean_or_zero(accuracy) if len(accuracy) else None,
        "share_good_workers": mean_or_zero(accuracy > GOOD_WORKER) if len(accuracy) else None,
        "vote_accuracy": float(right.sum() / gold_votes.weights.sum()),
        "majority_accuracy": float(
            (hit & top).astype(float) @ (1 / np.maximum(n_top, 1))[tally.row_of_each_candidate] / len(known)
        ),
        "share_gold_unvoted": 1 - mean_or_zero(voted),
        "majority_label_share": float(np.bincount(encode(truth)[0]).max() / len(truth)),
    }
