"""A cheap stand-in for training a network on soft labels: a linear classifier on simulated features, tested on true labels."""

import numpy as np

from plurivox.core.array_types import Floats, Ints

N_FEATURES = 16
SEPARATION = 2.5  # distance of a class centre from the origin, in standard deviations of the noise
MAX_TASKS = 2_000  # for training
N_TEST = 4_000
PENALTY = 1e-3  # L2, per task
MAX_ITER = 60


class TrainingTargetProxy:
    """Features of tasks with known truth, and a test set: scores soft labels by the linear classifier trained on them.

    The features of a task are the centre of its true class plus normal noise; the noise is up to twice as large on hard tasks.
    It tells how much of a difference in labels is left after training; it knows nothing about real inputs and networks.
    """

    def __init__(self, truth: Ints, n_labels: int, easiness: Floats | None, rng: np.random.Generator) -> None:
        self.n_labels = n_labels
        centres = rng.standard_normal((n_labels, N_FEATURES))
        centres *= SEPARATION / np.linalg.norm(centres, axis=1, keepdims=True)
        self.tasks = rng.permutation(len(truth))[:MAX_TASKS]
        scale = 1.0 if easiness is None else (2 - easiness[self.tasks])[:, None]
        noise = rng.standard_normal((len(self.tasks), N_FEATURES))
        self.x = _with_constant(centres[truth[self.tasks]] + scale * noise)
        self.test_truth = rng.choice(truth, N_TEST)
        self.test_x = _with_constant(centres[self.test_truth] + rng.standard_normal((N_TEST, N_FEATURES)))

    def probabilities_after_training(self, soft: Floats) -> Floats:
        """Return (n_test, n_labels) the predictions of the classifier trained on soft labels (n_tasks, n_labels)."""
        weights = fit_softmax_regression(self.x, soft[self.tasks])
        return softmax(self.test_x @ weights)


def fit_softmax_regression(x: Floats, soft: Floats) -> Floats:
    """Return (n_features, n_labels) weights that minimise the cross-entropy with soft labels plus an L2 penalty.

    >>> x = np.array([[1.0, 1], [1, -1]])
    >>> softmax(x @ fit_softmax_regression(x, np.eye(2))).argmax(1)
    array([0, 1])
    """
    from scipy.optimize import minimize  # imported here because it is slow

    shape = x.shape[1], soft.shape[1]

    def loss_and_gradient(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        prob = softmax(x @ weights)
        loss = -(soft * np.log(np.maximum(prob, 1e-300))).sum() / len(x) + PENALTY * (flat @ flat)
        return float(loss), (x.T @ (prob - soft) / len(x) + 2 * PENALTY * weights).ravel()

    start = np.zeros(shape[0] * shape[1])
    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITER})
    return np.asarray(found.x).reshape(shape)


def softmax(logits: Floats) -> Floats:
    """Return the rows of logits as probabilities."""
    power = np.exp(logits - logits.max(1, keepdims=True))
    return np.asarray(power / power.sum(1, keepdims=True))


def _with_constant(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])
