"""`plurivox evaluate --tasks` and `--cells`: where two label tables differ most, and where two models are right or wrong."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox.cli._click.output import CommandResult, Screen, rows_text
from plurivox.cli._click.parameters import check_table_file_type
from plurivox.core.count_text import count_text
from plurivox.core.errors import OptionError
from plurivox.io.tabular.table_file_names import file_suffix

if TYPE_CHECKING:
    from plurivox.evaluate.two_model_correctness import Statistic

DISTANCE = "total-variation"


def compare_task_by_task_or_none(
    screen: Screen,
    inputs: dict[str, Any],
    out: Path | None,
    n_tasks: int | None,
    other_model: str | None,
    statistic: "Statistic | None",
    measures: str | None,
) -> CommandResult | None:
    """Return the tasks on which labels differ most (--tasks), the table of two models (--cells), or None for neither."""
    if other_model is not None:
        if n_tasks is not None or measures is not None:
            raise OptionError("--cells shows the table of two models; leave out --tasks and --measures")
        return show_correctness_of_two_models(screen, {**inputs, "other": other_model}, statistic or "kurtosis", out)
    if statistic is not None:
        raise OptionError("--statistic is of the soft labels in the table of two models: add --cells OTHER")
    if n_tasks is not None:
        return show_most_different_tasks(screen, inputs, n_tasks, measures or DISTANCE, out)
    return None


def show_most_different_tasks(
    screen: Screen, inputs: dict[str, Any], n: int, measure: str, out: Path | None
) -> CommandResult:
    """Show the n tasks on which prediction and truth differ most, by a measure; write all tasks to `out`."""
    from plurivox import io
    from plurivox.workflows.label_differences import most_different_tasks

    if out is not None:
        check_table_file_type(out, ".npz")
    found, reference = most_different_tasks(**inputs, measure=measure)
    for note in found.notes:
        screen.print_note(note)
    columns = {
        name.replace("left_", "prediction_").replace("right_", "reference_"): column
        for name, column in found.columns().items()
    }
    if out is not None and file_suffix(out) == ".npz":
        found.save(out)
    elif out is not None:
        io.write_table(columns, out)
    columns = {name: column[:n] for name, column in columns.items()}
    given = {name: inputs[name] for name in ("prediction", "truth", "against")}
    document = {"command": screen.quoted_command_line, **given, "by": measure, "tasks": len(found)}
    document |= {"reference": reference, "rows": columns}
    shown = (
        f"the {min(n, len(found)):,} of {count_text(len(found), 'task')} with the worst {measure}, against {reference}"
    )
    summary = shown + (f"; wrote {out}" if out else "")
    return CommandResult({**document, "out": out}, text=rows_text(columns), summary=summary)


def show_correctness_of_two_models(
    screen: Screen, inputs: dict[str, Any], statistic: "Statistic", out: Path | None
) -> CommandResult:
    """Show, and write to `out`, the 2 x 2 table of two models, right or wrong, with a statistic of the soft labels."""
    from plurivox import io
    from plurivox.workflows.label_differences import correctness_of_two_models

    if out is not None:
        check_table_file_type(out, ".npz")
    found = correctness_of_two_models(**inputs, statistic=statistic)
    for note in found.notes:
        screen.print_note(note)
    if out is not None:
        io.save_npz_or_write_table(found, out)
    columns = found.columns()
    other = inputs["other"] if inputs["other"] != inputs["prediction"] else f"{inputs['other']} (OTHER)"
    titles = (inputs["prediction"], other, "tasks", f"mean {statistic}")
    given = {name: inputs[name] for name in ("prediction", "other", "truth", "against")}
    test = {"u": found.u, "p": found.p_value}
    document = {"command": screen.quoted_command_line, **given, "statistic": statistic, "cells": columns, "test": test}
    p_text = "-" if found.p_value != found.p_value else f"U = {found.u:g}, p = {found.p_value:.4f}"
    line = f"Mann-Whitney test of the {statistic} where only one model is right: {p_text}"
    text = f"{rows_text(dict(zip(titles, columns.values(), strict=True)))}\n{line}"
    return CommandResult({**document, "out": out}, text=text, summary=f"wrote {out}" if out else "")
