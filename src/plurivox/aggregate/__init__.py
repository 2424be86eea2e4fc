"""Aggregation methods, which turn votes into a `Fit` with soft labels: one file per method, classes imported lazily."""

from plurivox.aggregate._contract import DEFAULT_METHODS, DEFAULT_TRAINING_LABELS, Aggregator, EMAggregator, methods

__all__ = ["DEFAULT_METHODS", "DEFAULT_TRAINING_LABELS", "Aggregator", "EMAggregator", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
