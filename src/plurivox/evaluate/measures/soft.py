"""Measures between two distributions over labels: their distance, and whether a guess is unsure where the truth is.

Each takes (guess, truth) and looks at the tasks both have: q is the guess, p the truth. Distances are averaged over tasks.
Entropies are divided by log K, so that they run from 0 to 1 whatever the number K of labels.
"""

from functools import partial

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense, Rows
from plurivox.core.types import Floats
from plurivox.evaluate.alignment import blocks, each, meet, parts

CLIP = 1e-12  # the least a guess can give where its logarithm is taken
FLAT = 1e-9  # entropies that vary less than this do not vary


def cross_entropy(guess: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """The mean of -sum_k p_k log q_k in nats, where p is the truth and q the guess, at least `clip`.

    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(cross_entropy(guess, truth), 4)
    0.6931
    """
    return _mean(each(partial(cross_entropies, clip=clip), *meet(guess, truth)))


def kl_divergence(guess: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """What the guess loses on the truth: the mean of KL(p || q) = sum_k p_k log(p_k / q_k) in nats.

    q is at least `clip`. It punishes a guess that leaves out what the truth holds. Cross-entropy is this and the entropy of
    the truth. Kullback and Leibler (1951), https://doi.org/10.1214/aoms/1177729694

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(kl_divergence(guess, truth), 4)
    0.1927
    """
    return _mean(each(partial(relative_entropies, clip=clip), *meet(guess, truth)))


def inverse_kl_divergence(guess: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """What the truth loses on the guess: the mean of KL(q || p) = sum_k q_k log(q_k / p_k) in nats.

    p is at least `clip`. It punishes a guess that has mass where the truth has little; a truth of few votes has zeros, and
    then it speaks of the clip alone. Fornaciari et al. (2021), eq. 3, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(inverse_kl_divergence(guess, truth), 4)
    0.2231
    """
    left, right = meet(guess, truth)
    return _mean(each(partial(relative_entropies, clip=clip), right, left))


def jensen_shannon_divergence(guess: SoftLabels, truth: SoftLabels, *, base: float = np.e) -> float:
    """How far each is from their mixture m = (p + q) / 2: the mean of (KL(p || m) + KL(q || m)) / 2.

    In nats it ends at log 2; with `base=2`, in bits, at 1. It is no distance: its square root is, see
    `jensen_shannon_distance`. PO-JSD of Kurniawan et al. (2026) is 1 less the value in bits.
    Lin (1991), https://doi.org/10.1109/18.61115

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([1, 0], [.5, .5]))
    >>> round(jensen_shannon_divergence(guess, truth), 4), round(jensen_shannon_divergence(guess, truth, base=2), 4)
    (0.2158, 0.3113)
    """
    return _mean(each(jensen_shannon_divergences, *meet(guess, truth))) / float(np.log(base))


def jensen_shannon_distance(guess: SoftLabels, truth: SoftLabels, *, base: float = np.e) -> float:
    """The mean over tasks of the square root of the Jensen-Shannon divergence, which is a metric.

    scipy's `jensenshannon` and the published "JSD" of Uma et al. (2021), https://doi.org/10.1613/jair.1.12752, are this one,
    in nats. Endres and Schindelin (2003), https://doi.org/10.1109/TIT.2003.813506

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([1, 0], [.5, .5]))
    >>> round(jensen_shannon_distance(guess, truth), 4)
    0.4645
    """
    return _mean(each(jensen_shannon_distances, *meet(guess, truth))) / float(np.sqrt(np.log(base)))


def total_variation(guess: SoftLabels, truth: SoftLabels) -> float:
    """The mean of 1/2 sum_k |p_k - q_k|: the mass that must move to turn one into the other, 0 to 1.

    Levin, Peres and Wilmer (2009), Markov Chains and Mixing Times, section 4.1, https://doi.org/10.1090/mbk/058

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(total_variation(guess, truth), 4)
    0.3
    """
    return _mean(each(total_variations, *meet(guess, truth)))


def soft_accuracy(guess: SoftLabels, truth: SoftLabels) -> float:
    """The mass that guess and truth have in common: the mean of sum_k min(p_k, q_k).

    Rows sum to one here, so it is 1 - `total_variation`; for one-hot rows it is the accuracy.
    Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_accuracy(guess, truth), 4)
    0.7
    """
    return _mean(each(overlaps, *meet(guess, truth)))


def soft_micro_f1(guess: SoftLabels, truth: SoftLabels) -> float:
    """Twice the mass in common over all mass: 2 sum_ik min(p, q) / sum_ik (p + q).

    Rows sum to one here, so it equals `soft_accuracy` and 1 - `total_variation`; it differs where several labels may be true
    at once. Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_micro_f1(guess, truth), 4)
    0.7
    """
    common, mass = _masses(guess, truth)
    return float(2 * common.sum() / mass.sum())


def soft_macro_f1(guess: SoftLabels, truth: SoftLabels) -> float:
    """The soft F1 of each label, averaged over the labels that have mass: F_k = 2 sum_i min(p, q) / sum_i (p + q).

    Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_macro_f1(guess, truth), 4)
    0.6703
    """
    common, mass = _masses(guess, truth)
    return float((2 * common[mass > 0] / mass[mass > 0]).mean())


def entropy_correlation(guess: SoftLabels, truth: SoftLabels) -> float:
    """One Pearson r over all tasks, between the normalised entropies H(q) / log K and H(p) / log K.

    nan where either side has the same entropy on every task, as gold labels have.
    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> guess = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_correlation(guess, truth), 4)
    0.8794
    """
    x, y = (side - side.mean() for side in normalised_entropies(*meet(guess, truth)))
    return _cosine(x, y)


def entropy_similarity(guess: SoftLabels, truth: SoftLabels) -> float:
    """The cosine between the normalised entropies of all tasks, 0 to 1; nan where one side is sure everywhere.

    Uma et al. (2021), section 5, https://doi.org/10.1613/jair.1.12752

    >>> guess = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_similarity(guess, truth), 4)
    0.7579
    """
    return _cosine(*normalised_entropies(*meet(guess, truth)))


# ---- of single tasks: (n, n_labels) of the guess and of the truth -> (n,)


def cross_entropies(q: Floats, p: Floats, clip: float = CLIP) -> Floats:
    return -(p * np.log(np.maximum(q, clip))).sum(1)


def relative_entropies(q: Floats, p: Floats, clip: float = CLIP) -> Floats:
    """KL(p || q) of every row."""
    return (p * np.log(np.where(p > 0, p, 1) / np.where(p > 0, np.maximum(q, clip), 1))).sum(1)


def jensen_shannon_divergences(q: Floats, p: Floats) -> Floats:
    middle = (p + q) / 2
    return np.maximum(relative_entropies(middle, p, 0) + relative_entropies(middle, q, 0), 0) / 2


def jensen_shannon_distances(q: Floats, p: Floats) -> Floats:
    return np.sqrt(jensen_shannon_divergences(q, p))


def total_variations(q: Floats, p: Floats) -> Floats:
    return np.abs(p - q).sum(1) / 2


def overlaps(q: Floats, p: Floats) -> Floats:
    return np.minimum(p, q).sum(1)


def _masses(guess: SoftLabels, truth: SoftLabels) -> tuple[Floats, Floats]:
    """(n_labels,) each: the mass in common, and that of both together."""
    left, right = meet(guess, truth)
    common, mass = np.zeros((2, left.n_labels))
    for q, p in blocks(left, right):
        common += np.minimum(p, q).sum(0)
        mass += (p + q).sum(0)
    return common, mass


def _mean(values: Floats) -> float:
    return float(values.mean())


def normalised_entropies(left: Rows, right: Rows) -> tuple[Floats, Floats]:
    """(n_tasks,) each: H / log K of the guess and of the truth; 0 where there is but one label."""
    top = max(float(np.log(left.n_labels)), 1e-300) if left.n_labels else 1.0
    one, two = (np.maximum(_entropies(side), 0) / top for side in (left, right))
    return one, two


def _entropies(rows: Rows) -> Floats:
    """(n_tasks,) in nats; a part of the rows at a time stays in the cache."""
    if not isinstance(rows, Dense):
        return rows.entropy()
    return np.concatenate([Dense(block).entropy() for _, block in parts(rows)])


def _cosine(x: Floats, y: Floats) -> float:
    """nan where a side is flat."""
    lengths = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    return float(x @ y) / (lengths[0] * lengths[1]) if min(lengths) > FLAT * len(x) ** 0.5 else float("nan")
