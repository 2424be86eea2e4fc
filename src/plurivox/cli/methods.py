"""`plurivox methods [ROOM]`: what there is to choose from."""

from typing import Any

from plurivox.cli._build import INNER, STEPS, catalogue, help_lines, registry
from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import GENERAL, OneOf, Operand
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import MissingExtra
from plurivox.core.method import Option
from plurivox.core.registry import BrokenPlugin


def run(screen: Screen, step: str | None) -> Answer:
    """List names and help lines; options only for machines, because they need the methods imported."""
    steps = [step] if step else [*STEPS, *INNER]
    if screen.json:
        return Answer({"methods": {one: [about(one, name) for name in catalogue(one)] for one in steps}})
    blocks = [f"{one}\n" + table(list(help_lines(one).items()), indent="  ") for one in steps]
    return Answer({}, text="\n\n".join(blocks))


def about(step: str, name: str) -> dict[str, Any]:
    """A method as a form needs it; of one that cannot be loaded, its error."""
    try:
        method = registry(step)[name]
    except (BrokenPlugin, MissingExtra) as fault:
        return {"name": name, "error": str(fault)}
    return {
        "name": method.name(),
        "summary": method.summary(),
        "takes": method.takes,
        "options": [about_option(one) for one in method.options()],
    }


def about_option(option: Option) -> dict[str, Any]:
    """An option as a form needs it."""
    return {
        "name": option.name,
        "flag": f"--{option.flag}",
        "kind": option.kind.__name__,
        "default": option.default,
        "help": option.help,
        "low": option.low,
        "high": option.high,
        "choices": option.choices,
        "optional": option.optional,
    }


methods = Command(
    "methods",
    params=[
        Operand(
            "step",
            GENERAL,
            "methods of this step only",
            type=OneOf("step", (*STEPS, *INNER)),
            required=False,
            metavar="STEP",
        )
    ],
    callback=run,
    help="List the methods of each step. Options of one method: plurivox STEP METHOD --help; of all: --json.",
)
