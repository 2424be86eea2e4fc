"""Measures: functions of a prediction and a reference, and the table of all of them."""

from plurivox.evaluate.measures.measure import MEASURES, Measure, by_task

__all__ = ["MEASURES", "Measure", "by_task"]
