"""Charts: pictures of votes, soft labels, scores and trained nets. Every file without a leading underscore is a chart."""

from plurivox.charts._contract import Chart, ChartData, MeasureCurve, MethodMeasures, methods

__all__ = ["Chart", "ChartData", "MeasureCurve", "MethodMeasures", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
