"""`plurivox recommend INPUT [--for truth|people|training]`: which aggregation method suits these votes, and how well."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GOLD,
    INPUT,
    PART,
    READING_FLAGS,
    Choice,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._click.result_file import check_result_file_type, write_result_file

if TYPE_CHECKING:
    from plurivox.workflows.recommendation import Recommendation

FILE_TYPES = (".csv", ".md", ".npz")
SECTION = "Recommendation"


def run_recommend(
    screen: Screen,
    source: Source,
    for_: str,
    methods: str | None,
    seed: int,
    out: Path | None,
    gold: Path | None,
    part: str | None,
) -> CommandResult:
    """Run `plurivox recommend`: simulate crowds like this one, compare methods on them, and show what to use."""
    from plurivox.workflows.recommend_method import recommend as recommend_method

    check_result_file_type(out, "a recommendation", FILE_TYPES)
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs("simulated crowds") as progress:
        made = recommend_method(data, for_, gold=gold, methods=methods or None, part=part, seed=seed, progress=progress)
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    document = {
        "command": screen.quoted_command_line,
        "input": source.name,
        "for": made.question,
        "recommended": made.recommended,
        "default": made.default,
        "expected": {measure: made.expected(measure) for measure in made.measures},
        "best_or_within_noise": made.sureness,
        "rivals": made.rivals,
        "gain_of_one_more_vote": dict(zip(made.measures[:3], made.gain.mean(0).tolist(), strict=True)),
        "least_certain": made.least_certain,
        "crowd": made.crowd,
        "worlds": made.worlds,
        "problems": made.problems,
        "candidates": made.columns(),
        "out": out,
    }
    return CommandResult(document, text=made.text(), summary=next_step_text(source.name, made, out))


def next_step_text(input_name: str, made: "Recommendation", out: Path | None) -> str:
    """Return the command that aggregates the votes by the recommended method, or trains a net on its labels."""
    import shlex

    from plurivox.workflows.report.commands import aggregate_command

    wrote = f"wrote {out}\n" if out else ""
    if made.question == "training":
        return f"{wrote}Next: plurivox train {shlex.quote(input_name)} --target {shlex.quote(made.recommended)} -o run"
    name = f"{made.question}.csv"
    to = name if Path(input_name).name != name else f"soft-labels-{name}"
    return f"{wrote}Next: {aggregate_command(made.recommended, shlex.quote(input_name), to)}"


recommend = Command(
    "recommend",
    params=[
        INPUT,
        Flag(
            ["--for", "for_"],
            SECTION,
            type=Choice("question", ("truth", "people", "training")),
            default="truth",
            help="what the soft labels are for: the probability that a label is right (truth), what share of the people would "
            "say it (people), or labels to train on (training)  [default: truth]",
        ),
        out_flag("write the recommendation and all candidates: .csv, .md or .npz"),
        GOLD,
        Flag(
            ["--methods"],
            SECTION,
            metavar="LIST",
            help="candidates beside the default, comma-separated, options in square brackets  [default: a list per question]",
        ),
        Flag(["--seed"], SECTION, type=int, default=0, metavar="N", help="seed of the simulated crowds  [default: 0]"),
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_recommend,
    help="Recommend an aggregation method for these votes: simulate crowds like theirs, predict hidden votes, use what gold "
    "there is; show the quality to expect, what another vote would bring, and what could go wrong.",
)
