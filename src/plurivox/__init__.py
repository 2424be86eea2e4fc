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
    "SoftLabels": "core.soft_labels",
    "Votes": "core.votes",
    "aggregate": "",
    "assign": "",
    "answers": "io.answer_frames",
    "clean": "",
    "clean_set": "workflows.clean",
    "core": "",
    "counts": "io.frames",
    "describe": "evaluate.describe",
    "elicit": "",
    "elicit_votes": "workflows.elicit",
    "engine": "",
    "evaluate": "",
    "fit": "workflows.api",
    "identify": "",
    "io": "",
    "load": "workflows.api",
    "rank": "workflows.score_crowd",
    "prune": "workflows.prune_crowd",
    "read": "io.dataset_reader",
    "read_soft": "io.soft_files",
    "recipes": "",
    "score": "workflows.score_crowd",
    "simulate": "",
    "simulate_crowd": "workflows.api",
    "subsample": "core.sampling",
    "train": "",
    "votes": "io.frames",
    "workflows": "",
    "write": "io.folder_writer",
    "write_elicited": "workflows.elicit",
    "write_crowd": "workflows.api",
    "write_soft": "io.soft_files",
}
__all__ = ["__version__", *HOMES]
__getattr__ = importer(__name__, HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
