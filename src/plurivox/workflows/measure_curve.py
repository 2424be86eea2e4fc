"""Measures of soft labels as a function of the number of answers per task, from random draws of the votes."""

from collections.abc import Sequence

import numpy as np

from plurivox.aggregate import Aggregator
from plurivox.charts import Chart, ChartData, MeasureCurve
from plurivox.core.progress_callbacks import Progress
from plurivox.core.sample_existing_answers import subsample


def measure_curves(
    data: ChartData, aggregators: Sequence[Aggregator], chart: Chart, progress: Progress
) -> tuple[MeasureCurve, ...]:
    """Return one curve per aggregator: a measure against answers per task. `chart` is the chart `curve`, with its options."""
    from plurivox import evaluate

    assert data.votes is not None and data.gold is not None
    most = int(np.median(data.votes.support[data.votes.support > 0]))
    numbers, made = list(range(1, most + 1)), []
    for n_done, one in enumerate(aggregators):
        values = np.array(
            [
                [evaluate.accuracy(one.fit(subsample(data.votes, m, seed)).soft, data.gold) for seed in range(5)]
                for m in numbers
            ]
        )
        made.append(MeasureCurve(one.spec, np.array(numbers, float), values.mean(1)))
        progress(n_done, len(aggregators))
    return tuple(made)
