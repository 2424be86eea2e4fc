"""Workflows: public functions that span several steps. What a user calls in Python and what the interfaces call is the same."""

from plurivox.core.lazy_import import lazy_getattr

EXPORTS = {
    "BatchPlan": "assign_tasks",
    "Choice": "tune",
    "Comparison": "compare_methods",
    "Curve": "answer_cost",
    "EnteredDescription": "describe_crowd",
    "Ranking": "rank_scores",
    "break_even": "answer_cost",
    "check_leaks": "leak_check",
    "choose": "tune",
    "clean_set": "clean",
    "compare": "compare_methods",
    "curve": "answer_cost",
    "describe": "describe_crowd",
    "elicit_votes": "elicit",
    "fit": "fit_votes",
    "evaluate_labels": "label_evaluation",
    "plan_batches": "assign_tasks",
    "propose": "assign_tasks",
    "prune": "prune_crowd",
    "prune_and_compare": "prune_crowd",
    "rank": "score_crowd",
    "score": "score_crowd",
    "seconds_per_answer": "answer_cost",
    "simulate_crowd": "simulated_crowd",
    "train_once": "train",
    "train_runs": "train",
    "write_cleaned": "clean",
    "write_crowd": "simulated_crowd",
    "write_elicited": "elicit",
}
__all__ = sorted(EXPORTS)
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return __all__
