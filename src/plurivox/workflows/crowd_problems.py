"""What could go wrong when votes are aggregated: properties of a crowd under which methods fail, as sentences."""

import numpy as np
from scipy import sparse

from plurivox.core.array_types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.evaluate import Description

FEW_VOTES = 10  # of a worker
VOTES_PER_MATRIX_ROW = 5  # fewer votes per row of a confusion matrix do not determine it
MAX_PAIRED_WORKERS = 3_000
MIN_COMMON_MISTAKES = 5  # of two workers suspected of copying


def crowd_problems(votes: Votes, about: Description, consensus: Ints) -> list[str]:
    """Return sentences on what could go wrong with these plain votes; `consensus` (n_tasks,) are the fitted labels."""
    load = votes.n_answers_per_worker[votes.n_answers_per_worker > 0]
    found = []
    per_row = float(np.median(load)) / votes.n_labels if len(load) else np.inf
    if per_row < VOTES_PER_MATRIX_ROW:
        found.append(
            f"Confusion matrices are hardly determined: the median worker gave {np.median(load):,.0f} votes for a matrix of "
            f"{votes.n_labels} rows; unpooled Dawid-Skene may be worse than vote shares."
        )
    if len(load) and (share := float((load < FEW_VOTES).mean())) > 0.25:
        of_votes = load[load < FEW_VOTES].sum() / load.sum()
        found.append(
            f"{share:.0%} of the workers gave fewer than {FEW_VOTES} votes ({of_votes:.0%} of all votes): "
            "little is known about them."
        )
    if len(load) == 1:
        found.append("One worker gave all votes: their mistakes cannot be told from the truth.")
    elif len(load) and load.max() / load.sum() > max(0.3, 1.5 / len(load)):
        found.append(f"One worker gave {load.max() / load.sum():.0%} of all votes: their mistakes become everyone's.")
    found += _problems_of_agreement(votes, about)
    if copies := suspected_copies(votes, consensus):
        first, second, n, expected = copies[0]
        pairs = "1 pair" if len(copies) == 1 else f"{len(copies)} pairs"
        found.append(
            f"{pairs} of workers share more mistakes than chance explains (such as {first} and {second}: {n} against "
            f"{expected:.1f} expected). Copies count as independent votes: check them."
        )
    return found


def _problems_of_agreement(votes: Votes, about: Description) -> list[str]:
    """Return sentences on unanimous tasks, tasks with one vote, repeated answers and rare labels."""
    found = []
    if about.share_unanimous > 0.9:
        found.append(
            f"{about.share_unanimous:.0%} of the tasks have votes for one label only: no method can tell which of them are "
            "wrong, nor who is good; the expected quality rests on assumptions."
        )
    single = float((votes.support[votes.support > 0] <= 1).mean())
    if single > 0.1:
        found.append(f"{single:.0%} of the tasks have one vote: nothing on them shows a mistake.")
    if about.n_repeats:
        found.append(
            f"{about.n_repeats:,} answers repeat an earlier one of the same worker to the same task: they are not independent "
            "(repeats='first' (--repeats first) keeps one)."
        )
    share = np.bincount(votes.label, minlength=votes.n_labels) / max(len(votes), 1)
    if votes.n_labels > 1 and share.max() > 0.85:
        found.append(
            f"{share.max():.0%} of the votes are for one label: accuracy says little; look at the rare labels by recall or F1."
        )
    if n_rare := int(((share * len(votes) < 20) & (share > 0)).sum()):
        found.append(f"{n_rare} of the labels have fewer than 20 votes: how workers treat them is not known.")
    return found


def suspected_copies(votes: Votes, consensus: Ints) -> list[tuple[str, str, int, float]]:
    """Return (worker, worker, common mistakes, expected number) of pairs of workers who share too many mistakes, worst first.

    A mistake is a vote against the fitted label of the task, common if both give the same label. Expected is
    n_pair e_1 e_2 c, with the tasks of the pair, the workers' shares of mistakes, and the factor c with which the
    expectation holds for all pairs together (mistakes gather on hard tasks). A pair is listed if the
    Poisson probability of so many is below 1e-3 over the number of pairs.

    >>> task, votes = np.repeat(np.arange(60), 5), np.random.default_rng(1).random((60, 5)) < 0.2
    >>> votes[:, 4] = votes[:, 3]
    >>> crowd = Votes.of(task, np.tile(list("abcde"), 60), votes.astype(int).ravel())
    >>> [pair[:2] for pair in suspected_copies(crowd, np.zeros(60, int))]
    [('d', 'e')]
    """
    n_workers = votes.n_workers
    if not 2 < n_workers <= MAX_PAIRED_WORKERS or (votes.worker < 0).any():
        return []
    wrong = votes.label != consensus[votes.task]
    together = _pair_counts(votes.worker, votes.task.astype(np.int64), n_workers)
    key = votes.task.astype(np.int64) * votes.n_labels + votes.label
    common = _pair_counts(votes.worker[wrong], key[wrong], n_workers)
    load = np.maximum(votes.n_answers_per_worker, 1)
    rate = np.bincount(votes.worker[wrong], minlength=n_workers) / load
    first, second = np.nonzero(np.triu(together, 1))
    n_common, expected = common[first, second], together[first, second] * rate[first] * rate[second]
    if not len(first) or not expected.sum():
        return []
    from scipy.stats import poisson  # imported here because it is slow

    expected = expected * np.median([n_common.sum() / expected.sum(), 0.5, 5.0])
    p = poisson.sf(n_common - 1, expected)
    bad = np.flatnonzero((p < 1e-3 / len(first)) & (n_common >= MIN_COMMON_MISTAKES) & (n_common > 2 * expected))
    order = bad[np.argsort(p[bad], kind="stable")]
    names = [str(name) for name in votes.workers.tolist()]
    return [(names[first[i]], names[second[i]], int(n_common[i]), float(expected[i])) for i in order]


def _pair_counts(worker: Ints, key: Ints, n_workers: int) -> Floats:
    """Return (n_workers, n_workers) the number of keys that two workers have in common."""
    _, code = np.unique(key, return_inverse=True)
    has = sparse.csr_array((np.ones(len(code)), (worker, code)), (n_workers, int(code.max(initial=0)) + 1))
    has.data[:] = np.minimum(has.data, 1)
    return np.asarray((has @ has.T).todense())
