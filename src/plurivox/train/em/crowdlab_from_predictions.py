"""CROWDLAB: soft labels from votes and a classifier's probabilities together. Needs no torch."""

from typing import Literal, get_args

import numpy as np

from plurivox.core.errors import OptionError, first_few
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine import crowdlab as engine

Consensus = Literal["best", "majority"]


def crowdlab(
    votes: Votes, prediction: SoftLabels, consensus: Consensus = "best", *, progress: Progress = no_progress
) -> Fit:
    """Estimate soft labels from votes and a classifier's probabilities, weighted by their estimated accuracy (CROWDLAB).

    q(k) = (w_M p_M(k) + sum over votes (j, y) of w_j (P if y = k else (1 - P) / (K - 1))) / (w_M + sum_j w_j), with p_M the
    probabilities of the classifier, which must not have been trained on that task (`pv.train_folds` predicts out of fold).
    Weights come from how often workers agree with each other and the classifier with the label; `identify crowdlab`, which
    scores by the same q, documents the formula. The fit's soft labels are q over the classifier's labels; `ability` is w_j;
    `found` holds w_M (`model_weight`), P (`agreement`) and the labels that the weights were computed from (`label`): with
    consensus="best" the most probable by a first q, with "majority" those with the most votes. A task without votes gets the
    classifier's probabilities.

    Goh, Tkachenko & Mueller (2022), https://doi.org/10.48550/arXiv.2210.06812

    >>> votes = Votes.of(task=list("aaabbbcccd"), worker=[1, 2, 3] * 3 + [3], label=list("xxxyyyxxyx"))
    >>> prediction = SoftLabels.of([[.9, .1], [.2, .8], [.6, .4], [.3, .7]], tasks=list("abcd"), labels=list("xy"))
    >>> crowdlab(votes, prediction).soft.prob.round(3)
    array([[0.896, 0.104],
           [0.166, 0.834],
           [0.712, 0.288],
           [0.3  , 0.7  ]])
    """
    if consensus not in get_args(Consensus):
        raise OptionError(f"consensus is one of {first_few(get_args(Consensus))}; got {consensus!r}")
    table = engine.CrowdlabVotes(votes, prediction, "crowdlab")
    label, weights = engine.consensus_labels_and_trust_weights(table, consensus, "crowdlab", progress)
    soft = SoftLabels.of(
        table.crowdlab_probabilities_of_all_tasks(weights),
        votes.tasks,
        prediction.labels,
        support=votes.support,
        estimates="truth",
    )
    return Fit(
        soft,
        votes.workers,
        "crowdlab" if consensus == "best" else f"crowdlab[consensus={consensus}]",
        prior=np.bincount(label, minlength=prediction.n_labels) / len(label),
        ability=weights.worker,
        found={"model_weight": weights.model, "agreement": weights.hit, "label": prediction.labels[label]},
    )
