"""Workflows: public functions that combine several steps; the Python API, the command line and the web call the same ones."""

from plurivox.core.lazy_exports import lazy_getattr

EXPORTS = {
    "Agreement": "crowd_agreement",
    "BatchPlan": "assign_tasks",
    "BothFits": "truth_and_people",
    "Choice": "choose_option_value",
    "Comparison": "compare_aggregators",
    "Curve": "answer_cost_in_seconds",
    "EnteredDescription": "describe_dataset",
    "OutOfFold": "out_of_fold_predictions",
    "PeopleComparison": "compare_against_people",
    "Ranking": "ranking_by_several_scores",
    "Recommendation": "recommendation",
    "TRUTH_AND_PEOPLE": "truth_and_people",
    "agreement": "crowd_agreement",
    "break_even": "answer_cost_in_seconds",
    "check_leaks": "leak_check",
    "choose": "choose_option_value",
    "clean_set": "clean_dataset",
    "compare": "compare_aggregators",
    "compare_labels": "compare_predictions",
    "correctness_of_two_models": "label_differences",
    "convert_estimates": "truth_people_conversion",
    "curve": "answer_cost_in_seconds",
    "describe": "describe_dataset",
    "elicit_votes": "convert_answers_to_votes",
    "fit": "fit_votes",
    "fit_both": "truth_and_people",
    "evaluate_labels": "label_evaluation",
    "most_different_tasks": "label_differences",
    "plan_batches": "assign_tasks",
    "plot": "plot_chart",
    "propose": "assign_tasks",
    "prune": "prune_by_score",
    "prune_and_compare": "prune_by_score",
    "rank": "score_tasks_workers",
    "recommend": "recommend_method",
    "Report": "make_report",
    "score": "score_tasks_workers",
    "seconds_per_answer": "answer_cost_in_seconds",
    "simulate_crowd": "simulate_and_write_crowd",
    "train_folds": "out_of_fold_predictions",
    "train_once": "train_nets",
    "train_runs": "train_nets",
    "write_cleaned": "clean_dataset",
    "write_crowd": "simulate_and_write_crowd",
    "write_elicited": "convert_answers_to_votes",
    "write_figure": "plot_chart",
}
__all__ = sorted(EXPORTS)
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return __all__
