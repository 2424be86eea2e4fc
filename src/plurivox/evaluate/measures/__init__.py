"""Measures of a prediction against a reference, and the registry of them by name."""

from plurivox.evaluate.measures.measure_registry import KINDS, MEASURES, Measure, by_task, select_measures

__all__ = ["KINDS", "MEASURES", "Measure", "by_task", "select_measures"]
