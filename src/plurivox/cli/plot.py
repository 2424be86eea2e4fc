"""`plurivox plot CHART INPUT... -o FILE`: draw a chart and write it as .svg, .png or .pdf."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GOLD,
    IN_AND_OUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Choice,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._method_commands import MethodGroup, click_type_of_method_list
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.charts import Chart

COMPUTED = "What is drawn"
OUT = out_flag(
    "picture to write: .svg (names appear under the pointer), .png or .pdf; - writes .svg to standard output",
    required=True,
    stdout_suffix=".svg",
)
INPUTS = Argument(
    "inputs",
    IN_AND_OUT,
    "data sets, votes, soft labels, fits, scores, or folders of trainings to draw",
    type=SOURCE_NAME,
    metavar="INPUT...",
    nargs=-1,
    required=True,
)
THEME = Flag(
    ["--theme"],
    IN_AND_OUT,
    type=Choice("theme", ("light", "dark")),
    default="light",
    metavar="[light|dark]",
    help="for a light or a dark page  [default: light]",
)


def params_of_plot_beside_chart_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox plot CHART`, without those of the chart: what this chart can draw."""
    from plurivox.charts import Chart

    assert issubclass(method, Chart)
    usable = method.usable_data()
    given = [flag for used, flag in _flags_by_use(method) if used & usable]
    return [INPUTS, OUT, THEME, *given, *READING_FLAGS, PART]


def _flags_by_use(chart: "type[Chart]") -> list[tuple[set[str], Flag]]:
    """Return the options that only some charts have, each with the fields of `ChartData` that it fills."""
    return [
        (
            {"fits", "soft", "confusions", "curves", "measures"},
            Flag(
                ["--methods"],
                COMPUTED,
                type=click_type_of_method_list("aggregate"),
                metavar="LIST",
                help="aggregation methods to fit to the votes, comma-separated  "
                f"[default: {','.join(chart.fitted_by) or ('all' if 'measures' in chart.needs else 'none')}]",
            ),
        ),
        (
            {"scores"},
            Flag(
                ["--scores"],
                COMPUTED,
                type=click_type_of_method_list("identify"),
                metavar="LIST",
                help="scores to compute from the votes, comma-separated  "
                f"[default: {','.join(chart.scored_by) or 'none'}]",
            ),
        ),
        ({"gold"}, GOLD),
        (
            {"soft"},
            Flag(
                ["--against"],
                COMPUTED,
                type=SOURCE_NAME,
                metavar="FILE",
                help="a second table of labels: soft labels, a fit, or votes (their shares)",
            ),
        ),
        ({"contents"}, _contents_flag("--images", "a table with task (or idx) and image, or a folder of image files")),
        ({"contents"}, _contents_flag("--texts", "a table with task and text")),
    ]


def _contents_flag(name: str, what: str) -> Flag:
    """Return the option for the images or texts of tasks."""
    return Flag(
        [name],
        COMPUTED,
        type=click.Path(path_type=Path),
        metavar="PATH",
        help=f"{what}  [default: those of the data set]",
    )


def run_plot(
    screen: Screen, method: "Chart", sources: tuple[Source, ...], out: Path, theme: str, **collected: Any
) -> CommandResult:
    """Run `plurivox plot CHART`: draw the chart of the inputs, write it to `out` and print its caption."""
    from plurivox.workflows.plot_chart import check_figure_path, plot, write_figure

    check_figure_path(out)
    things = [source.read_dataset() if source.read_options else source.path_or_dataset_to_read for source in sources]
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        figure = plot(things, method, theme=theme, progress=progress, **collected)
    write_figure(figure, out)
    caption = getattr(figure, "caption", "")
    document = {
        "command": screen.quoted_command_line,
        "input": [source.name for source in sources],
        "chart": method.spec,
        "caption": caption,
        "out": out,
    }
    return CommandResult(document, text=caption, summary=f"wrote {out}")


plot = MethodGroup(
    "charts",
    run_plot,
    params_of_plot_beside_chart_options,
    help="Draw a chart: plurivox plot CHART INPUT -o FILE.",
)
