"""Charts of a report: drawn as SVG whose ids differ from those of all other charts of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plurivox import charts
from plurivox.charts import ChartData, MethodMeasures
from plurivox.core.results import Confusion, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import Evaluation
from plurivox.workflows.report.page_content import Picture
from plurivox.workflows.report.report_inputs import ReportInputs
from plurivox.workflows.report.report_results import GOLD_MEASURES, ReportResults

PICTURE_TITLES = {  # shorter than the summaries of the charts, and only of what a report shows of them
    "agreement": "Agreement of pairs of workers",
    "comparison": "Measures against gold labels, with 95% intervals over tasks",
    "confusion": "Confusion matrices of the workers to check first",
    "label-shift": "Tasks on which the method and the vote shares differ most",
    "labels": "Shares of the labels, and pairs of labels that people disagree on",
    "posterior": "Soft labels of the most uncertain tasks, and the entropy of those of all tasks",
    "training": "Loss and measures by epoch",
    "votes-per-task": "Votes per task",
    "worker-scores": "Scores of workers, and how alike they rank them",
    "workload": "Votes per worker",
}
MEASURE_TITLES = {"accuracy": "accuracy", "nll": "NLL", "brier": "Brier score", "ece": "ECE"}


@dataclass
class Pictures:
    """Draws the charts of one report from its data; counts them, so that their ids differ."""

    inputs: ReportInputs
    data: ChartData
    n_drawn: int = field(default=0)

    @classmethod
    def of(cls, inputs: ReportInputs, results: ReportResults) -> "Pictures":
        """Return the pictures of a report with these inputs and results."""
        return cls(inputs, chart_data_of_report(inputs, results))

    def with_soft(self, soft: Mapping[str, SoftLabels]) -> ChartData:
        """Return the data of the report with only these soft labels, and their fits."""
        fits = {spec: fit for spec, fit in self.data.fits.items() if spec in soft}
        return replace(self.data, soft=dict(soft), fits=fits)

    def with_scores(self, scores: Sequence[Scores]) -> ChartData:
        """Return the data of the report with only these scores, and without confusion matrices."""
        return replace(self.data, scores=tuple(scores), confusions={}, fits={})

    def draw(
        self, chart: str, data: ChartData | None = None, *, flags: str = "", without_input: bool = False, **options: Any
    ) -> Picture:
        """Draw a chart of the report's data, or of other data; `flags` are those of the command beside the options.

        Of a chart of something else than the data, `without_input`, they name its input.
        """
        from plurivox.charts._figure import draw_figure

        made = charts.methods.make(chart, **options)
        figure = draw_figure(made, self.data if data is None else data)
        self.n_drawn += 1
        option_flags = [f"--{name.replace('_', '-')} {value}" for name, value in options.items()]
        given = "" if without_input else self.inputs.name_in_commands
        parts = ["plurivox plot", chart, given, *option_flags, flags, f"-o {chart}.svg"]
        return Picture(
            title=PICTURE_TITLES.get(chart, figure.title),
            svg=figure.to_svg(id_prefix=f"c{self.n_drawn}-"),
            caption=figure.caption,
            command=" ".join(part for part in parts if part),
        )


def chart_data_of_report(inputs: ReportInputs, results: ReportResults) -> ChartData:
    """Return what the charts of a report draw."""
    confusions: dict[str, Confusion] = {
        spec: fit.confusion for spec, fit in results.fits.items() if fit.confusion is not None
    }
    return ChartData(
        name=inputs.name,
        votes=inputs.votes,
        answers=inputs.answers,
        gold=inputs.gold,
        soft={spec: fit.soft for spec, fit in results.fits.items()},
        fits=dict(results.fits),
        confusions=confusions,
        scores=(*results.worker_scores, *results.task_scores),
        histories={run.name: run.histories for run in inputs.runs if run.histories},
        measures=measures_against_gold(inputs.name, results.evaluations) if results.evaluations else None,
        contents=inputs.contents or None,
    )


def measures_against_gold(name: str, evaluations: Mapping[str, Evaluation]) -> MethodMeasures:
    """Return the measures of methods on one data set with their intervals over tasks."""
    columns: dict[str, list[tuple[float, float, float]]] = {MEASURE_TITLES[one]: [] for one in GOLD_MEASURES}
    for found in evaluations.values():
        measured = found.measure.tolist()
        for one in GOLD_MEASURES:
            at = found[one] if one in measured else None
            columns[MEASURE_TITLES[one]].append((np.nan,) * 3 if at is None else (at.mean, at.low, at.high))
    tables = {title: np.array(rows, float) for title, rows in columns.items()}
    return MethodMeasures(
        datasets=(name,),
        methods=tuple(evaluations),
        values={title: table[None, :, 0] for title, table in tables.items()},
        low={title: table[:, 1] for title, table in tables.items()},
        high={title: table[:, 2] for title, table in tables.items()},
        interval_text="95% interval over tasks",
    )
