"""Convert soft labels from the truth to what people say and back, with one confusion matrix for the whole crowd."""

from dataclasses import replace

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.core.votes import Votes

MIN_PROB = 1e-9  # added to every entry of the matrix before its logarithm: no vote excludes a true label for certain


def mean_confusion_matrix(confusion: Confusion) -> Floats:
    """(n_labels, n_labels) the mean of the workers' confusion matrices [true label, label given], all workers alike."""
    index = np.arange(len(confusion.matrices)) if confusion.which is None else confusion.which
    weight = np.bincount(index, minlength=len(confusion.matrices)) / len(index)
    mean: Floats = np.tensordot(weight, confusion.matrices, 1)
    return mean / mean.sum(1, keepdims=True)


def confusion_matrix_of_all_votes(truth: SoftLabels, votes: Votes) -> Floats:
    """(n_labels, n_labels) the shares of the labels given by anyone to tasks of each true label.

    M[k, l] = (v[l] + sum_t p(k|t) n(t, l)) / (1 + sum_t p(k|t) n(t)): the mean of the workers' matrices, each weighted by its
    votes on tasks of that true label. v are the shares of the labels among all votes: one vote added to every row.

    >>> votes = Votes.of(list("aab"), [1, 2, 1], ["no", "yes", "yes"])
    >>> confusion_matrix_of_all_votes(SoftLabels.gold(["a", "b"], ["no", "yes"]), votes).round(3)
    array([[0.444, 0.556],
           [0.167, 0.833]])
    """
    known = truth.shared(votes.tasks)
    counts = votes.on(known.tasks).with_labels(truth.labels).counts()
    given = np.asarray(known.prob).T @ counts + counts.sum(0) / counts.sum()
    return given / given.sum(1, keepdims=True)


def truth_to_people(truth: SoftLabels, matrix: Floats) -> SoftLabels:
    """Return the probability that a person drawn from the crowd gives each label: q(l|t) = sum_k p(k|t) M[k, l].

    All tasks of a true label are alike to the crowd in this model; it cannot know that some are harder.

    >>> soft = SoftLabels.of([[1, 0], [.5, .5]], ["a", "b"], ["no", "yes"], estimates="truth")
    >>> truth_to_people(soft, np.array([[.8, .2], [.4, .6]])).prob
    array([[0.8, 0.2],
           [0.6, 0.4]])
    """
    return replace(truth, body=Dense(np.asarray(truth.prob) @ matrix), estimates="people")


def people_to_truth(people: SoftLabels, matrix: Floats, prior: Floats, n_answers: Floats) -> SoftLabels:
    """Return the probability that each label is right: p(k|t) = prior[k] prod_l M[k, l]^(n_t q(l|t)), divided by its sum.

    It is the posterior of a Dawid-Skene model in which all people share the matrix M, given n_t q(l|t) votes for label l.

    >>> soft = SoftLabels.of([[.75, .25]], ["a"], ["no", "yes"], estimates="people")
    >>> people_to_truth(soft, np.array([[.8, .2], [.2, .8]]), np.array([.5, .5]), np.array([4.])).prob.round(3)
    array([[0.941, 0.059]])
    """
    votes = np.asarray(people.prob) * n_answers[:, None]
    log_p = np.log(prior + MIN_PROB) + votes @ np.log(matrix + MIN_PROB).T
    p = np.exp(log_p - log_p.max(1, keepdims=True))
    return replace(people, body=Dense(p / p.sum(1, keepdims=True)), support=n_answers, estimates="truth")
