"""`plurivox convert INPUT [OUT]`: write data in another format, or (`--for`) soft labels that answer the other question."""

from pathlib import Path

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import (
    FORCE,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Choice,
    Flag,
    OutFolder,
    Source,
    check_distinct_files,
    out_flag,
)
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError


def run_convert(
    screen: Screen,
    source: Source,
    output: Path | None,
    out: Path | None,
    form: str,
    part: str | None,
    force: bool,
    to: str | None,
    model: Path | None,
    votes: str | None,
    items: Path | None,
    from_name: str | None,
    to_name: str | None,
) -> CommandResult:
    """Run `plurivox convert`: read the input and write it in the format of the file suffix or, for a folder, of --form.

    Without an output the first rows are shown.
    With --for the input is a saved fit or soft labels, which are converted to estimates of the truth or of what people say.
    """
    from plurivox import io

    if output is not None and out is not None:
        raise InputError(f"two outputs are given, {output} and {out}; give one: OUT, or -o OUT")
    target = output if out is None else out
    check_distinct_files(source, target)
    if to is not None:
        return convert_estimates_and_write(screen, source, target, to, model, votes)
    if model is not None or votes is not None:
        raise InputError("--model and --votes convert soft labels: add --for people or --for truth")
    if target is None:
        return show_first_rows(screen, source, part)
    data = io.convert(
        source.path_or_dataset_to_read,
        target,
        form=form,
        part=part,
        replace=force,
        items=items,
        from_name=from_name,
        to_name=to_name,
        **source.read_options,
    )
    document = {"command": screen.quoted_command_line, "input": source.name, "out": target, "parts": data.parts()}
    return CommandResult(document, summary=f"read {source.name}; wrote {target}")


def show_first_rows(screen: Screen, source: Source, part: str | None) -> CommandResult:
    """Read the input and show the first rows of the table that a file would contain."""
    from plurivox.io.dataset_conversion import columns_of_main_part, name_of_main_part

    data = source.read_dataset()
    name, columns = name_of_main_part(data, part), columns_of_main_part(data, part)
    document = {"command": screen.quoted_command_line, "input": source.name, "out": None, "parts": data.parts()}
    summary = f"{source.name} contains {', '.join(data.parts())}; shown: {name}"
    return CommandResult(document, text=first_rows_text(columns, "row"), summary=summary)


def convert_estimates_and_write(
    screen: Screen, source: Source, output: Path | None, to: str, model: Path | None, votes: str | None
) -> CommandResult:
    """Convert a saved fit or soft labels to estimates of the truth or of what people say, and write them."""
    from plurivox import io
    from plurivox.workflows import convert_estimates

    for other in filter(None, (model, votes)):
        check_distinct_files(Source(str(other), {}), output)
    labels = convert_estimates(source.name, to, model=model, votes=votes)
    for note in labels.notes:
        screen.print_note(note)
    if output is not None:
        io.write_soft(labels, output)
    document = {"command": screen.quoted_command_line, "input": source.name, "out": output, "estimates": to}
    text = "" if output else first_rows_text(labels.columns(), "task", ".3f")
    summary = f"estimates of {to}: {count_text(len(labels), 'task')}" + (f"; wrote {output}" if output else "")
    return CommandResult({**document, "tasks": len(labels)}, text=text, summary=summary)


ESTIMATES = "Estimates of the truth and of what people say"
FORM = Flag(
    ["--form"],
    IN_AND_OUT,
    type=Choice("format", ("plurivox", "peerannot", "label-studio", "huggingface")),
    default="plurivox",
    help="format of OUT: of a folder, plurivox or peerannot; label-studio: soft labels as predictions, a .json file to import; "
    "huggingface: a .parquet file for datasets; soft labels are added to the labels of a peerannot folder  [default: plurivox]",
)
LABEL_STUDIO = "Predictions for Label Studio (--form label-studio)"
LABEL_STUDIO_FLAGS = (
    Flag(
        ["--items"],
        LABEL_STUDIO,
        type=click.Path(path_type=Path),
        metavar="EXPORT.json",
        help="JSON export of the project: its tasks get predictions for the control that was annotated",
    ),
    Flag(
        ["--from-name"],
        LABEL_STUDIO,
        metavar="NAME",
        help="name of the control, such as the Choices tag  [default: that of --items]",
    ),
    Flag(
        ["--to-name"],
        LABEL_STUDIO,
        metavar="NAME",
        help="name of the object tag that is labelled  [default: that of --items]",
    ),
)
convert = Command(
    "convert",
    params=[
        INPUT,
        Argument(
            "output",
            IN_AND_OUT,
            "a file (.csv, .parquet, .jsonl, .npz, ..., or .npy for soft labels; the suffix sets the format), a data-set "
            "folder, or - for standard output  [default: show the first rows]",
            type=OutFolder(".csv"),
            metavar="OUT",
            required=False,
        ),
        out_flag("another way to give OUT", metavar="OUT", folder=True, stdout_suffix=".csv"),
        FORM,
        FORCE,
        Flag(
            ["--for", "to"],
            ESTIMATES,
            type=Choice("estimate", ("truth", "people")),
            help="INPUT is a saved fit or soft labels: write the probability that a label is right (truth), or the share of "
            "people who would give it (people)",
        ),
        Flag(
            ["--model"],
            ESTIMATES,
            type=click.Path(path_type=Path),
            metavar="FIT.npz",
            help="saved fit of the truth (aggregate --save) that says how people err  [default: INPUT]",
        ),
        Flag(
            ["--votes"],
            ESTIMATES,
            type=SOURCE_NAME,
            metavar="VOTES",
            help="votes of the model: all count alike, and it needs no confusion matrices  [default: the mean of its matrices]",
        ),
        *LABEL_STUDIO_FLAGS,
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_convert,
    help="Convert votes, answers or soft labels between file formats; soft labels also between the truth and what people say "
    "(--for).",
)
