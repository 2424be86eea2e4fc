"""Recalibrated pool of soft answers: its powers and concentration are learnt by predicting the top label of each answer."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from plurivox.core.array_types import Floats, Ints
from plurivox.core.votes import Votes

TIE = 1e-9  # weights of an answer that differ by less are tied
START = (-1.5, 0.5, 0.5)  # log concentration, power of the pool, power of the estimate from top labels
BOUNDS = ((-7.0, 7.0), (0.0, 10.0), (0.0, 10.0))


@dataclass(frozen=True, eq=False)
class Answers:
    """Soft answers as tables: what each answer says, its top label (ties share) and its task."""

    task: Ints  # (n_answers,)
    shares: Floats  # (n_answers, n_labels)
    top: Floats  # (n_answers, n_labels)


@dataclass(frozen=True)
class RecalibratedPool:
    """p(k) proportional to ((sum of answers + A m)_k / (n + A))^power * v_k^top_power, with v the estimate from top labels.

    Ranjan and Gneiting (2010), https://doi.org/10.1111/j.1467-9868.2009.00726.x: a linear pool of calibrated forecasts is not
    calibrated, it is too flat, and needs a further transform.
    """

    concentration: float
    power: float
    top_power: float

    def pooled(self, sums: Floats, from_top_labels: Floats, crowd: Floats) -> Floats:
        """(n_tasks, n_labels) the recalibrated pool, given the sums of the answers and the estimate from their top labels."""
        return np.exp(_log_pool((np.log(self.concentration), self.power, self.top_power), sums, from_top_labels, crowd))


def is_soft(votes: Votes) -> bool:
    """Return whether any answer gives weight to several labels."""
    return votes.answer is not None and bool(((votes.weights > 0) & (votes.weights < 1)).any())


def top_label_weights(votes: Votes) -> Floats:
    """(n_rows,) the weight of each row if every answer is replaced by its top label; tied top labels share the answer."""
    if votes.answer is None or not is_soft(votes):
        return votes.weights
    _, answer = np.unique(votes.answer, return_inverse=True)
    highest = np.zeros(answer.max() + 1)
    np.maximum.at(highest, answer, votes.weights)
    top = votes.weights >= highest[answer] - TIE
    return np.asarray(top / np.bincount(answer, top)[answer] * np.bincount(answer, votes.weights)[answer])


def read_answers(votes: Votes, top: Floats) -> Answers:
    """Return the soft answers of votes as tables; `top` are the weights of the rows by top labels."""
    assert votes.answer is not None
    _, first, answer = np.unique(votes.answer, return_index=True, return_inverse=True)
    shares, tops = np.zeros((2, len(first), votes.n_labels))
    np.add.at(shares, (answer, votes.label), votes.weights)
    np.add.at(tops, (answer, votes.label), top)
    return Answers(votes.task[first], shares, tops)


def learn_pool(answers: Answers, sums: Floats, from_other_top_labels: Floats, crowd: Floats) -> RecalibratedPool:
    """Return the pool that best predicts the top label of each answer from the other answers, by log score.

    `sums` (n_tasks, n_labels) are the sums of the answers of each task; `from_other_top_labels` (n_answers, n_labels) the
    estimate of the task's shares from the top labels of the other answers. An answer that is the only one of its task tells
    nothing. A weak prior keeps values that no answer informs.
    """
    others = np.maximum(sums[answers.task] - answers.shares, 0)
    informs = others.sum(1) > TIE
    others, top, from_top = others[informs], answers.top[informs], from_other_top_labels[informs]

    def loss(values: Floats) -> float:
        log_pool = _log_pool(tuple(values), others, from_top, crowd)
        return float(-(top * log_pool).sum() + ((values - START) ** 2).sum() / 2) / max(len(top), 1)

    found = minimize(loss, START, method="Nelder-Mead", bounds=BOUNDS, options={"xatol": 1e-4, "fatol": 1e-9}).x
    return RecalibratedPool(float(np.exp(found[0])), float(found[1]), float(found[2]))


def _log_pool(values: tuple[float, ...], sums: Floats, from_top_labels: Floats, crowd: Floats) -> Floats:
    """(n, n_labels) the log of the recalibrated pool for (log concentration, power, top power)."""
    concentration = np.exp(values[0])
    mean = (sums + concentration * crowd) / (sums.sum(1, keepdims=True) + concentration)
    log_pool = values[1] * np.log(mean) + values[2] * np.log(from_top_labels)
    log_pool -= log_pool.max(1, keepdims=True)
    return np.asarray(log_pool - np.log(np.exp(log_pool).sum(1, keepdims=True)))
