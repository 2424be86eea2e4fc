"""plurivox: from what a crowd says to a trained, honestly judged model.

>>> import plurivox as pv
>>> votes = pv.votes(task=["a", "a", "b"], worker=["ann", "bo", "ann"], label=["cat", "dog", "dog"])
>>> pv.fit(votes, "majority-vote", ties="share").soft.prob
array([[0.5, 0.5],
       [0. , 1. ]])
"""

import logging

from plurivox.core.lazy import importer

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

# what `pv.<name>` means; nothing is imported before it is used, so `import plurivox` costs next to nothing
# (`make stubs` tells editors and type checkers the same)
HOMES = {
    "Answers": "core.answers",
    "Audit": "core.audit",
    "Confusion": "core.results",
    "Dataset": "io.dataset",
    "Dynamics": "core.results",
    "Fit": "core.results",
    "PlurivoxError": "core.errors",
    "PlurivoxWarning": "core.errors",
    "Scores": "core.results",
    "SoftLabels": "core.labels",
    "Votes": "core.votes",
    "aggregate": "",
    "assign": "",
    "answers": "io.entered",
    "clean": "",
    "clean_set": "recipes._cleaning",
    "core": "",
    "counts": "io.frames",
    "describe": "evaluate.describe",
    "elicit": "",
    "elicit_votes": "recipes._eliciting",
    "engine": "",
    "evaluate": "",
    "fit": "recipes._doing",
    "identify": "",
    "io": "",
    "load": "recipes._doing",
    "rank": "recipes._scoring",
    "prune": "recipes._pruning",
    "read": "io.reading",
    "read_soft": "io.soft",
    "recipes": "",
    "score": "recipes._scoring",
    "simulate": "",
    "simulate_crowd": "recipes._doing",
    "subsample": "core.sampling",
    "train": "",
    "votes": "io.frames",
    "write": "io.writing",
    "write_elicited": "recipes._eliciting",
    "write_crowd": "recipes._doing",
    "write_soft": "io.soft",
}
__all__ = ["__version__", *HOMES]
__getattr__ = importer(__name__, HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
