"""`plurivox audit INPUT`: what would make numbers look better than they are, before they are believed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import INPUT, PART, READING_FLAGS, Flag, Source
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.cli._click.train_flags import pack_pictures, picture_flags, split_flag

if TYPE_CHECKING:
    from plurivox.workflows.load_training_data import Pictures

WHAT = "What is looked for"


class Audit(Command):
    """The command: where images come from is one thing."""

    def prepare(self, given: dict[str, object]) -> None:
        """Pack the flags of images."""
        super().prepare(given)
        pack_pictures(given)


def run(
    screen: Screen,
    source: Source,
    part: str | None,
    pictures: "Pictures",
    split: Path | None,
    near: float,
    trained_on: str,
    scored_on: str,
) -> Answer:
    """Read inputs, splits and labels; look; tell."""
    from plurivox.workflows.leak_check import check_leaks
    from plurivox.workflows.load_training_data import load_training_data

    training_data = load_training_data(source.place, pictures, part, screen.note, **source.how)
    found, looked = check_leaks(training_data, split, near=near, trained_on=trained_on, scored_on=scored_on)
    rows = [(finding.kind, finding.words) for finding in found]
    told = [{"kind": one.kind, "words": one.words, "tasks": list(one.tasks)} for one in found]
    text = table(rows) if rows else f"nothing found; looked at {', '.join(looked)}"
    return Answer({"input": source.where, "looked_at": looked, "findings": told}, text=text)


audit = Audit(
    "audit",
    params=[
        INPUT,
        *READING_FLAGS,
        PART,
        *picture_flags(),
        split_flag(WHAT),
        Flag(
            ["--near"],
            WHAT,
            type=click.FloatRange(0, 1, min_open=True),
            default=0.99,
            metavar="X",
            help="cosine of centred inputs from which two tasks are twins  [default: 0.99]",
        ),
        Flag(["--trained-on"], WHAT, default="", metavar="WORD", help="how votes became the labels that were taught"),
        Flag(["--scored-on"], WHAT, default="", metavar="WORD", help="how votes became the labels it is scored on"),
    ],
    works=True,
    callback=run,
    help="Look for leaks: test tasks that were trained on, labels in task names, soft measures taken against what was taught.",
)
