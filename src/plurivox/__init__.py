"""plurivox: from what a crowd says to a trained, honestly judged model.

>>> import plurivox as pv
>>> votes = pv.votes(task=["a", "a", "b"], worker=["ann", "bo", "ann"], label=["cat", "dog", "dog"])
>>> pv.fit(votes, "majority-vote", ties="share").soft.prob
array([[0.5, 0.5],
       [0. , 1. ]])
"""

import logging

from plurivox.core.lazy import lazy_getattr

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

# what `pv.<name>` means; nothing is imported before it is used, so `import plurivox` costs next to nothing
# (`make stubs` tells editors and type checkers the same)
EXPORTS = {
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
    "answers": "io.answer_frames",
    "assign": "",
    "choose": "workflows.grid_search",
    "clean": "",
    "clean_set": "workflows.clean",
    "compare": "workflows.compare_methods",
    "core": "",
    "counts": "io.vote_frames",
    "describe": "workflows.describe_dataset",
    "elicit": "",
    "elicit_votes": "workflows.elicit",
    "engine": "",
    "evaluate": "",
    "fit": "workflows.fit_votes",
    "identify": "",
    "io": "",
    "evaluate_labels": "workflows.label_evaluation",
    "load": "core.base",
    "plan_batches": "workflows.assign_tasks",
    "propose": "workflows.assign_tasks",
    "prune": "workflows.prune_by_score",
    "rank": "workflows.score_tasks_workers",
    "read": "io.dataset_reader",
    "read_soft": "io.soft_label_files",
    "recipes": "",
    "score": "workflows.score_tasks_workers",
    "simulate": "",
    "simulate_crowd": "workflows.simulated_crowd",
    "subsample": "core.sampling",
    "train": "",
    "train_runs": "workflows.train",
    "votes": "io.vote_frames",
    "workflows": "",
    "write": "io.folder_writer",
    "write_cleaned": "workflows.clean",
    "write_crowd": "workflows.simulated_crowd",
    "write_elicited": "workflows.elicit",
    "write_soft": "io.soft_label_files",
}
__all__ = ["__version__", *EXPORTS]
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return sorted(__all__)
