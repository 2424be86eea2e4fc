"""`plurivox audit INPUT`: check a data set for leaks, which make test results look better than they are."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.image_and_split_flags import (
    make_image_flags,
    make_split_flag,
    replace_image_options_by_pictures,
)
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import INPUT, PART, READING_FLAGS, Flag, Source
from plurivox.core.aligned_table_text import aligned_table_text

if TYPE_CHECKING:
    from plurivox.workflows.training_inputs import Pictures

CHECKS = "Checks"


class Audit(Command):
    """The command `audit`, with the image options packed into one argument."""

    def convert_params_to_callback_args_in_place(self, param_values: dict[str, object]) -> None:
        """Convert {parameter name: value} to arguments of the callback, in place; the image options become `pictures`."""
        super().convert_params_to_callback_args_in_place(param_values)
        replace_image_options_by_pictures(param_values)


def run_leak_audit(
    screen: Screen,
    source: Source,
    part: str | None,
    pictures: "Pictures",
    split: Path | None,
    near: float,
    trained_on: str,
    scored_on: str,
) -> CommandResult:
    """Run `plurivox audit`: read inputs, splits and labels of a data set, and list leaks such as duplicates across splits."""
    from plurivox.workflows.leak_check import check_leaks
    from plurivox.workflows.load_training_data import load_training_data

    training_data = load_training_data(
        source.path_or_dataset_to_read, pictures, part, screen.print_note, **source.read_options
    )
    found, checked = check_leaks(training_data, split, near=near, trained_on=trained_on, scored_on=scored_on)
    rows = [(finding.kind, finding.words) for finding in found]
    findings = [{"kind": finding.kind, "words": finding.words, "tasks": list(finding.tasks)} for finding in found]
    text = aligned_table_text(rows) if rows else f"no leaks found; checked: {', '.join(checked)}"
    return CommandResult({"input": source.name, "looked_at": checked, "findings": findings}, text=text)


audit = Audit(
    "audit",
    params=[
        INPUT,
        *READING_FLAGS,
        PART,
        *make_image_flags(),
        make_split_flag(CHECKS),
        Flag(
            ["--near"],
            CHECKS,
            type=click.FloatRange(0, 1, min_open=True),
            default=0.99,
            metavar="X",
            help="report two tasks as near-duplicates if the cosine of their centred inputs reaches X  [default: 0.99]",
        ),
        Flag(
            ["--trained-on"],
            CHECKS,
            default="",
            metavar="METHOD",
            help="method that made the training labels from the votes",
        ),
        Flag(
            ["--scored-on"],
            CHECKS,
            default="",
            metavar="METHOD",
            help="method that made the evaluation labels from the votes",
        ),
    ],
    computes=True,
    callback=run_leak_audit,
    help="Check for leaks: training tasks in the test set, labels in task names, evaluation against the training labels.",
)
