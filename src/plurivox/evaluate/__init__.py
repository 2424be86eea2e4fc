"""Evaluate: (guess, truth) -> number, and what a crowd looks like. Pure functions on the nouns."""

from plurivox.evaluate.calibration import brier, ece, nll
from plurivox.evaluate.describe import Description, describe
from plurivox.evaluate.hard import accuracy, balanced_accuracy
from plurivox.evaluate.soft import cross_entropy, total_variation
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
    "nll",
    "paired_bootstrap",
    "total_variation",
]
