"""Turn several annotators' labels into soft labels, find unreliable annotators and hard tasks,
train and evaluate models on the disagreement.

>>> import plurivox as pv
>>> votes = pv.votes(task=["a", "a", "b"], worker=["ann", "bo", "ann"], label=["cat", "dog", "dog"])
>>> pv.fit(votes, "majority-vote", ties="share").soft.prob
array([[0.5, 0.5],
       [0. , 1. ]])
"""

import logging

from plurivox.core.lazy_exports import lazy_getattr

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

# public name -> module that defines it, imported on first use, so that `import plurivox` is fast
# (`make stubs` writes the same names to __init__.pyi for editors and type checkers)
EXPORTS = {
    "Answers": "core.answers",
    "Audit": "core.cleaning_audit",
    "Confusion": "core.results",
    "Dataset": "io.dataset",
    "Dynamics": "core.results",
    "Fit": "core.results",
    "PlurivoxError": "core.errors",
    "PlurivoxWarning": "core.errors",
    "Report": "workflows.make_report",
    "Scores": "core.results",
    "SoftLabels": "core.soft_labels",
    "Votes": "core.votes",
    "aggregate": "",
    "agreement": "workflows.crowd_agreement",
    "answers": "io.answers_from_tables",
    "assign": "",
    "charts": "",
    "choose": "workflows.choose_option_value",
    "clean": "",
    "clean_set": "workflows.clean_dataset",
    "compare": "workflows.compare_aggregators",
    "convert_estimates": "workflows.truth_people_conversion",
    "core": "",
    "counts": "io.counts_from_tables",
    "describe": "workflows.describe_dataset",
    "elicit": "",
    "elicit_votes": "workflows.convert_answers_to_votes",
    "engine": "",
    "evaluate": "",
    "fit": "workflows.fit_votes",
    "fit_both": "workflows.truth_and_people",
    "identify": "",
    "io": "",
    "evaluate_labels": "workflows.label_evaluation",
    "load": "core.data_type_base_class",
    "plan_batches": "workflows.assign_tasks",
    "plot": "workflows.plot_chart",
    "propose": "workflows.assign_tasks",
    "prune": "workflows.prune_by_score",
    "rank": "workflows.score_tasks_workers",
    "read": "io.dataset_reader",
    "read_soft": "io.soft_label_files",
    "recipes": "",
    "recommend": "workflows.recommend_method",
    "report": "workflows.make_report",
    "score": "workflows.score_tasks_workers",
    "simulate": "",
    "simulate_crowd": "workflows.simulate_and_write_crowd",
    "subsample": "core.sample_existing_answers",
    "train": "",
    "train_folds": "workflows.out_of_fold_predictions",
    "train_runs": "workflows.train_nets",
    "votes": "io.votes_from_tables",
    "workflows": "",
    "write": "io.plurivox_folder_writer",
    "write_cleaned": "workflows.clean_dataset",
    "write_crowd": "workflows.simulate_and_write_crowd",
    "write_elicited": "workflows.convert_answers_to_votes",
    "write_soft": "io.soft_label_files",
}
__all__ = ["__version__", *EXPORTS]
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return sorted(__all__)
