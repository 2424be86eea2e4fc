"""Draw a chart of votes, soft labels, scores, trained nets or files of these: `plot`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox import charts
from plurivox.charts import Chart
from plurivox.core.errors import InputError, OptionError, first_few, require_package
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.workflows.chart_data import collect_chart_data
from plurivox.workflows.things_to_draw import natural_chart

if TYPE_CHECKING:
    from plurivox.charts._contract import Axes, Figure

INSTALL = "pip install 'plurivox[plot]'"
THEMES = ("light", "dark")


def plot(
    thing: Any,
    chart: str | Chart | None = None,
    *,
    gold: Any = None,
    against: Any = None,
    methods: str | Sequence[Any] | None = None,
    scores: str | Sequence[Any] | None = None,
    images: Any = None,
    texts: Any = None,
    part: str | None = None,
    ax: "Axes | None" = None,
    theme: str = "light",
    progress: Progress = no_progress,
    **options: Any,
) -> "Figure":
    """Draw a chart and return it as a matplotlib Figure, whose `caption` says in words what it shows.

    `thing` is what to draw: votes, a data set, a DataFrame or a path of these; a Fit, SoftLabels, Scores, Dynamics, a trained
    net or a comparison, or files of these; a list or a mapping {name: thing} of several. `chart` is the name of a chart with
    its options, such as "workload" or "hardest[k=12]"; without it the usual chart of the thing is drawn.

    What a chart needs beyond that is computed from the votes: the aggregators `methods` are fitted and the `scores` computed
    (lists, or comma-separated; each chart has its own defaults). `gold` are true labels, `against` a second table of labels,
    `images` and `texts` a table or folder, or a mapping from tasks. `ax`: draw in the place of these axes.

    `print(pv.charts.methods)` lists the charts; the needs of each are in its help, such as `help(pv.charts.Workload)`.

    >>> figure = plot("toy", "workload")
    >>> figure.caption
    '30 workers gave 1,500 votes: a median of 49.5 per worker, from 37 to 66. The busiest tenth (3 workers) gave 12% of them.'
    """
    require_package("matplotlib", "drawing a chart", INSTALL)
    from plurivox.charts._figure import draw_figure, draw_on_axes
    from plurivox.charts._shared.theme import ThemeName

    if theme not in THEMES:
        raise OptionError(f"theme must be {' or '.join(THEMES)}; got {theme!r}")
    made = make_chart(thing, chart, **options)
    data = collect_chart_data(
        thing,
        made,
        gold=gold,
        against=against,
        methods=_as_list(methods),
        scores=_as_list(scores),
        images=images,
        texts=texts,
        part=part,
        progress=progress,
    )
    shown: ThemeName = "dark" if theme == "dark" else "light"
    return draw_figure(made, data, theme=shown) if ax is None else draw_on_axes(made, data, ax, theme=shown)


def make_chart(thing: Any, chart: str | Chart | None, **options: Any) -> Chart:
    """Return the chart of this name or spec with these options; without a name, the usual chart of the thing."""
    if chart is None:
        chart = natural_chart(thing)
        if not chart:
            raise InputError(
                f"{type(thing).__name__} has no usual chart; name one, such as {first_few(charts.methods)}"
            )
    return charts.methods.make(chart, **options)


def check_figure_path(path: str | Path) -> None:
    """Raise InputError if the file is not of a type that charts are written as, or MissingExtra without matplotlib."""
    require_package("matplotlib", "drawing a chart", INSTALL)
    from plurivox.charts._shared.figure_files import check_figure_file_type

    check_figure_file_type(Path(path))


def write_figure(figure: "Figure", path: str | Path) -> None:
    """Write the figure of a chart to a .svg, .png or .pdf file; in .svg, names appear when the pointer is over a mark."""
    from plurivox.charts._shared.figure_files import ChartFigure

    check_figure_path(path)
    if isinstance(figure, ChartFigure):
        figure.write(path)
    else:
        figure.savefig(path)


def _as_list(given: str | Sequence[Any] | None) -> list[Any] | None:
    """Return methods or scores as a list; a text is split at its commas."""
    if isinstance(given, str):
        return split_at_commas_outside_brackets(given)
    return None if given is None else list(given)
