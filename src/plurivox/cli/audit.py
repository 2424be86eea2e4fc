"""`plurivox audit INPUT`: what would make numbers look better than they are, before they are believed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.file_flags import INPUT, PART, READING_FLAGS, Source
from plurivox.cli._click.flags import Flag
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.cli._click.train_flags import pack_pictures, picture_flags, read_inputs, split_flag
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.evaluate.leaks import Finding
    from plurivox.train.data.training_data import Material
    from plurivox.workflows.train_inputs import Pictures

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
    if bool(trained_on) != bool(scored_on):
        raise InputError("--trained-on and --scored-on belong together: how votes became labels for each")
    material = read_inputs(screen, source, part, pictures)
    found, looked = look(material, split, near)
    if trained_on:
        from plurivox.evaluate import check_reference

        found += check_reference(trained_on, scored_on)
        looked.append("target and reference")
    rows = [(finding.kind, finding.words) for finding in found]
    told = [{"kind": one.kind, "words": one.words, "tasks": list(one.tasks)} for one in found]
    text = table(rows) if rows else f"nothing found; looked at {', '.join(looked)}"
    return Answer({"input": source.where, "looked_at": looked, "findings": told}, text=text)


def look(material: "Material", split: Path | None, near: float) -> "tuple[list[Finding], list[str]]":
    """(what was found, what was looked at)."""
    from plurivox.evaluate import find_labels_in_names, find_leaks
    from plurivox.workflows.train_inputs import divide

    found, looked = [], []
    if material.gold is not None and len(material.gold):
        found += find_labels_in_names(material.gold)
        looked.append("labels in names")
    if split is None and not material.parts():
        return found, [*looked, "no splits: there are none, give --split FILE"]
    part_of = {task: name for name, tasks in divide(material, split).items() for task in tasks.tolist()}
    tasks = material.tasks.tolist()
    found += find_leaks(tasks, material.x, part_of, near=near)
    return found, [*looked, "copies by name, content and features"]


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
