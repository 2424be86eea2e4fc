"""`plurivox report INPUT -o report.html`: one page on the votes, from what they are to what to do next."""

from pathlib import Path

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GOLD,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Choice,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._method_commands import click_type_of_method_list

SECTION = "What the report shows"


def run_report(
    screen: Screen,
    source: Source,
    out: Path,
    pdf: bool,
    for_: str | None,
    gold: Path | None,
    methods: str | None,
    scores: str | None,
    runs: tuple[Path, ...],
    images: Path | None,
    texts: Path | None,
    method_seconds: float,
    seed: int,
    part: str | None,
) -> CommandResult:
    """Run `plurivox report`: compute the report, write it to `out`, and print its questions and answers."""
    from plurivox.core.errors import InputError
    from plurivox.workflows.make_report import report as make_report
    from plurivox.workflows.report.pdf import find_browser

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is written as .html, not as {out}; --pdf writes a .pdf file beside it")
    if pdf:
        find_browser()  # before minutes are spent
    with screen.show_progress_bar_while_block_runs("report") as progress:
        made = make_report(
            source.read_dataset(),
            for_=for_,
            gold=gold,
            methods=methods or None,
            scores=scores or None,
            runs=runs,
            images=images,
            texts=texts,
            part=part,
            method_seconds=method_seconds,
            seed=seed,
            name_in_commands=name_with_reading_flags(source),
            command=screen.quoted_command_line,
            progress=progress,
        )
    made.write(out)
    wrote = [out]
    if pdf:
        wrote.append(out.with_suffix(".pdf"))
        made.write_pdf(wrote[-1])
    summary = made.summary()
    document = {
        "command": screen.quoted_command_line,
        "input": source.name,
        "for": made.question,
        "summary": dict(summary),
        "out": wrote,
    }
    text = "\n\n".join(f"{question}\n{answer}" for question, answer in summary)
    return CommandResult(document, text=text, summary=f"wrote {' and '.join(map(str, wrote))}")


def name_with_reading_flags(source: Source) -> str:
    """Return the input as commands name it: its name, and the flags on how to read it that were given."""
    import shlex

    parts = [shlex.quote(source.name)]
    for flag in READING_FLAGS:
        given = source.read_options.get(str(flag.name))
        if given is None:
            continue
        if isinstance(given, bool):
            parts.append((flag.opts if given else flag.secondary_opts)[0])
        else:
            value = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
            parts += [flag.opts[0], shlex.quote(value)]
    return " ".join(parts)


def _contents_flag(name: str, what: str) -> Flag:
    """Return the option for the images or texts of tasks."""
    return Flag(
        [name],
        SECTION,
        type=click.Path(path_type=Path, exists=True),
        metavar="PATH",
        help=f"{what}  [default: those of the data set]",
    )


report = Command(
    "report",
    params=[
        INPUT,
        out_flag("page to write: .html, one file that loads nothing", required=True, stdout_suffix=".html"),
        Flag(
            ["--pdf"], IN_AND_OUT, is_flag=True, help="print the page to a .pdf file beside it, by Chromium or Chrome"
        ),
        GOLD,
        Flag(
            ["--for", "for_"],
            SECTION,
            type=Choice("question", ("truth", "people")),
            help="what the page is about: which label is right (truth), or what people say (people)  [default: truth, or "
            "people if no worker is named]",
        ),
        Flag(
            ["--methods"],
            SECTION,
            type=click_type_of_method_list("aggregate"),
            metavar="LIST",
            help="aggregation methods to show beside the chosen ones, comma-separated  [default: seven usual ones]",
        ),
        Flag(
            ["--scores"],
            SECTION,
            type=click_type_of_method_list("identify"),
            metavar="LIST",
            help="scores of tasks and workers to show beside the usual ones, comma-separated",
        ),
        Flag(
            ["--run", "runs"],
            SECTION,
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            multiple=True,
            metavar="FOLDER",
            help="folder of a training (plurivox train -o FOLDER); may be repeated",
        ),
        _contents_flag("--images", "a table with task (or idx) and image, or a folder of image files"),
        _contents_flag("--texts", "a table with task and text"),
        Flag(
            ["--method-seconds"],
            SECTION,
            type=float,
            default=20.0,
            metavar="X",
            help="leave out methods that take longer than this, except the default ones  [default: 20]",
        ),
        Flag(
            ["--seed"], SECTION, type=int, default=0, metavar="N", help="seed of samples and simulations  [default: 0]"
        ),
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_report,
    help="Write a report on votes: one HTML page with agreement, workers to doubt, hard tasks, what each method says, how sure "
    "the labels are, what may be wrong, and what to do next, each with the command that does it.",
)
