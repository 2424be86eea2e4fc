"""Evaluate: (guess, truth) -> number, and what a crowd looks like. Pure functions on the nouns."""

from plurivox.evaluate.calibration import brier, ece, nll
from plurivox.evaluate.describe import Description, describe
from plurivox.evaluate.distances import sorted_wasserstein
from plurivox.evaluate.entropies import entropy_correlation, entropy_similarity
from plurivox.evaluate.hard import accuracy, balanced_accuracy
from plurivox.evaluate.soft import (
    cross_entropy,
    inverse_kl_divergence,
    jensen_shannon_distance,
    jensen_shannon_divergence,
    kl_divergence,
    soft_accuracy,
    soft_macro_f1,
    soft_micro_f1,
    total_variation,
)
from plurivox.evaluate.statistics import Interval, bootstrap, paired_bootstrap

__all__ = [
    "Description",
    "Interval",
    "accuracy",
    "balanced_accuracy",
    "bootstrap",
    "brier",
    "cross_entropy",
    "describe",
    "ece",
    "entropy_correlation",
    "entropy_similarity",
    "inverse_kl_divergence",
    "jensen_shannon_distance",
    "jensen_shannon_divergence",
    "kl_divergence",
    "nll",
    "paired_bootstrap",
    "soft_accuracy",
    "soft_macro_f1",
    "soft_micro_f1",
    "sorted_wasserstein",
    "total_variation",
]
