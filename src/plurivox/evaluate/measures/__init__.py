"""Measures: functions of a prediction and a reference, and the table of all of them."""

from plurivox.evaluate.measures.measure import KINDS, MEASURES, Measure, by_task, chosen

__all__ = ["KINDS", "MEASURES", "Measure", "by_task", "chosen"]
