"""Evaluate predictions against true or soft labels, compare models, find leaks, and describe votes and answers."""

from plurivox.evaluate.crossed_bootstrap import compare_runs
from plurivox.evaluate.describe_answers import AnswersDescription, describe_answers
from plurivox.evaluate.describe_votes import Description, describe
from plurivox.evaluate.distance_to_people import (
    MEASURES_AGAINST_PEOPLE,
    PeopleMeasure,
    measures_from_sums,
    numbers_per_task,
)
from plurivox.evaluate.evaluate_prediction import evaluate_labels, uses_soft_reference
from plurivox.evaluate.evaluation_result import Evaluation
from plurivox.evaluate.find_evaluation_faults import check_reference, find_faults, find_labels_in_names
from plurivox.evaluate.finite_vote_floor import DirichletCrowd, finite_vote_numbers
from plurivox.evaluate.intervals_and_tests import (
    Interval,
    RankTest,
    Spread,
    Test,
    bootstrap,
    mann_whitney,
    paired_bootstrap,
    paired_test,
    simultaneous_bootstrap,
    spread,
    t_interval,
)
from plurivox.evaluate.label_agreement import LabelAgreement, agreement_per_label
from plurivox.evaluate.label_mismatch import labels_meet
from plurivox.evaluate.measures.calibration import (
    NLL_CLIP,
    Reliability,
    aurra,
    brier,
    classwise_ece,
    ece,
    nll,
    reliability,
    rms_calibration,
)
from plurivox.evaluate.measures.hard_label_measures import (
    accuracy,
    balanced_accuracy,
    confusion_counts,
    f1,
    majority_baseline,
    precision,
    recall,
    top_k_accuracy,
)
from plurivox.evaluate.measures.measure_registry import MEASURES, Measure, by_task
from plurivox.evaluate.measures.soft_label_measures import (
    cross_entropy,
    entropy_correlation,
    entropy_similarity,
    inverse_kl_divergence,
    jensen_shannon_distance,
    jensen_shannon_divergence,
    kl_divergence,
    manhattan,
    smoothed_cross_entropy,
    soft_accuracy,
    soft_macro_f1,
    soft_micro_f1,
    total_variation,
)
from plurivox.evaluate.measures.vote_likelihood import count_deviance, count_log_likelihood, shares_of, vote_floor
from plurivox.evaluate.measures.wasserstein_distances import sorted_wasserstein, wasserstein
from plurivox.evaluate.methods_over_datasets import MethodsOverDatasets
from plurivox.evaluate.paired_comparison import Difference, compare_predictions
from plurivox.evaluate.prediction_comparison import PredictionComparison, compare_several_predictions
from plurivox.evaluate.rank_tests import FriedmanTest, friedman, holm, p_value_text, wilcoxon_signed_rank
from plurivox.evaluate.soft_label_differences import Contrast, most_different, softening
from plurivox.evaluate.train_test_leaks import Finding, find_copies, find_leaks, find_name_copies, find_twins
from plurivox.evaluate.two_model_correctness import CorrectnessTable, correctness_table

__all__ = [
    "MEASURES",
    "MEASURES_AGAINST_PEOPLE",
    "NLL_CLIP",
    "AnswersDescription",
    "Contrast",
    "CorrectnessTable",
    "Description",
    "Difference",
    "DirichletCrowd",
    "Evaluation",
    "Finding",
    "FriedmanTest",
    "Interval",
    "LabelAgreement",
    "Measure",
    "MethodsOverDatasets",
    "PeopleMeasure",
    "PredictionComparison",
    "RankTest",
    "Reliability",
    "Spread",
    "Test",
    "accuracy",
    "agreement_per_label",
    "aurra",
    "balanced_accuracy",
    "bootstrap",
    "brier",
    "by_task",
    "check_reference",
    "classwise_ece",
    "compare_predictions",
    "compare_runs",
    "compare_several_predictions",
    "confusion_counts",
    "correctness_table",
    "count_deviance",
    "count_log_likelihood",
    "cross_entropy",
    "describe",
    "describe_answers",
    "ece",
    "entropy_correlation",
    "entropy_similarity",
    "evaluate_labels",
    "f1",
    "find_copies",
    "find_faults",
    "find_labels_in_names",
    "find_leaks",
    "find_name_copies",
    "find_twins",
    "finite_vote_numbers",
    "friedman",
    "holm",
    "inverse_kl_divergence",
    "jensen_shannon_distance",
    "jensen_shannon_divergence",
    "kl_divergence",
    "labels_meet",
    "majority_baseline",
    "manhattan",
    "mann_whitney",
    "measures_from_sums",
    "most_different",
    "nll",
    "numbers_per_task",
    "p_value_text",
    "paired_bootstrap",
    "paired_test",
    "precision",
    "recall",
    "reliability",
    "rms_calibration",
    "shares_of",
    "simultaneous_bootstrap",
    "smoothed_cross_entropy",
    "soft_accuracy",
    "soft_macro_f1",
    "soft_micro_f1",
    "softening",
    "sorted_wasserstein",
    "spread",
    "t_interval",
    "top_k_accuracy",
    "total_variation",
    "uses_soft_reference",
    "vote_floor",
    "wasserstein",
    "wilcoxon_signed_rank",
]
