"""Agreement on each label: specific agreement, and Krippendorff's alpha of the label against all others."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Bools, Floats
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import has_two_or_more_answers
from plurivox.evaluate.bootstrap_over_tasks import MAX_CELLS, MAX_GROUPS

PERCENTILES = (2.5, 97.5)


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement on each label, over tasks with two votes or more; nan where a label has no votes there."""

    n_votes: Floats  # (n_labels,)
    n_tasks: Floats  # (n_labels,) tasks with a vote for the label
    specific: (
        Floats  # (n_labels,) given a vote for the label, the share of the other votes on its task that are for it too
    )
    specific_interval: Floats  # (2, n_labels) 95%, bootstrap over tasks; nan without resamples
    alpha: Floats  # (n_labels,) Krippendorff's alpha of "this label" against "another label"
    alpha_interval: Floats  # (2, n_labels)


@takes_what_users_hold
def agreement_per_label(votes: Votes, *, resamples: int = 1000, seed: int = 0) -> LabelAgreement:
    """Return the agreement on each label: specific agreement, and the alpha of the label against all others.

    specific(k) = sum_t n_tk (n_tk - 1) / sum_t n_tk (n_t - 1), with n_tk the votes for label k on task t and n_t all votes on
    it. For two labels and two workers it is the positive (and negative) agreement. For soft answers the pairs are expected
    ones. `votes` have one answer per task and worker.

    Specific agreement: Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, 3rd edition, section 18;
    Cicchetti & Feinstein (1990), https://doi.org/10.1016/0895-4356(90)90159-M

    >>> votes = Votes.of(task=list("aabbcc"), worker=[1, 2] * 3, label=list("xxxyyy"))
    >>> found = agreement_per_label(votes, resamples=0)
    >>> found.specific.round(3), found.alpha.round(3)
    (array([0.667, 0.667]), array([0.444, 0.444]))
    """
    terms = _terms_of_tasks_with_two_votes(votes)
    found = _specific_and_alpha(np.ones((1, terms.shape[0])) @ terms, votes.n_labels)
    drawn = np.full((1, 2, votes.n_labels), np.nan)
    if resamples and terms.shape[0]:
        drawn = _bootstrap(_as_random_groups(terms, seed), votes.n_labels, resamples, seed)
    low_high = np.full((2, 2, votes.n_labels), np.nan)
    known = ~np.isnan(drawn).all(0)
    low_high[:, known] = np.nanpercentile(drawn[:, known], PERCENTILES, axis=0)
    used = has_two_or_more_answers(votes.support)[votes.task]
    return LabelAgreement(
        n_votes=np.bincount(votes.label[used], votes.weights[used], minlength=votes.n_labels).astype(np.float64),
        n_tasks=np.bincount(
            np.unique(votes.task[used].astype(np.int64) * votes.n_labels + votes.label[used]) % votes.n_labels,
            minlength=votes.n_labels,
        ).astype(np.float64),
        specific=found[0, 0],
        specific_interval=low_high[:, 0],
        alpha=found[0, 1],
        alpha_interval=low_high[:, 1],
    )


def _terms_of_tasks_with_two_votes(votes: Votes) -> sparse.csr_array:
    """Return (n_tasks, 5 n_labels + 1) terms of each task with two votes or more.

    For each label: pairs for it, pairs of one vote for it and any other, disagreeing pairs / (n_t - 1), votes, and the
    disagreement within soft answers; then the number of votes on the task.
    """
    shape, n = (votes.n_tasks, votes.n_labels), votes.support
    cells = (votes.task.astype(np.int64), votes.label.astype(np.int64))
    count = sparse.csr_array((votes.weights, cells), shape)
    is_soft = _mask_of_rows_of_soft_answers(votes)
    squares = sparse.csr_array((np.where(is_soft, votes.weights**2, votes.weights), cells), shape)
    others = sparse.csr_array(count.multiply((n - 1)[:, None]))
    both = count.multiply(count) - squares
    apart = sparse.csr_array((others - both).multiply((1 / np.maximum(n - 1, 1e-300))[:, None]))
    total = sparse.csr_array(n[:, None])
    terms = sparse.csr_array(sparse.hstack([both, others, apart, count, count - squares, total]))
    return terms[has_two_or_more_answers(n)]


def _mask_of_rows_of_soft_answers(votes: Votes) -> Bools:
    """(n_rows,) whether a row belongs to an answer of several rows; other rows are plain votes or counts of them."""
    if votes.answer is None:
        return np.zeros(len(votes), bool)
    _, answer, n_rows = np.unique(votes.answer, return_inverse=True, return_counts=True)
    return np.asarray(n_rows[answer] > 1)


def _specific_and_alpha(sums: Floats, n_labels: int) -> Floats:
    """Return (n, 2, n_labels) specific agreement and alpha of each label, from sums of the terms of tasks (n, n_terms)."""
    both, others, apart, count, within = (sums[:, k * n_labels : (k + 1) * n_labels] for k in range(5))
    n = sums[:, -1:]
    by_chance = count * (n - count) - within
    specific = np.divide(both, others, out=np.full(both.shape, np.nan), where=others > 1e-12)
    alpha = 1 - np.divide((n - 1) * apart, by_chance, out=np.full(both.shape, np.nan), where=by_chance > 1e-12 * n**2)
    return np.stack([specific, alpha], 1)


def _as_random_groups(terms: sparse.csr_array, seed: int) -> sparse.csr_array:
    """Return the terms of tasks, summed over `MAX_GROUPS` random groups of tasks if there are more tasks than that."""
    n_tasks = terms.shape[0]
    if n_tasks <= MAX_GROUPS:
        return terms
    group = np.random.default_rng(seed).permutation(n_tasks) % MAX_GROUPS
    return sparse.csr_array((np.ones(n_tasks), (group, np.arange(n_tasks))), (MAX_GROUPS, n_tasks)) @ terms


def _bootstrap(terms: sparse.csr_array, n_labels: int, resamples: int, seed: int) -> Floats:
    """Return (resamples, 2, n_labels) specific agreement and alpha of resampled tasks (rows of `terms`)."""
    rng, n_tasks, drawn = np.random.default_rng(seed), terms.shape[0], []
    size = max(MAX_CELLS // max(n_tasks, terms.shape[1]), 1)
    for begin in range(0, resamples, size):
        counts = np.empty((min(size, resamples - begin), n_tasks))
        for row in counts:
            row[:] = np.bincount(rng.integers(0, n_tasks, n_tasks), minlength=n_tasks)
        drawn.append(_specific_and_alpha(counts @ terms, n_labels))
    return np.concatenate(drawn)
