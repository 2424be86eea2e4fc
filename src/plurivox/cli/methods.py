"""`plurivox methods [ROOM]`: what there is to choose from."""

from typing import Any

from plurivox.cli._build import INNER, ROOMS, catalogue, help_lines, registry
from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import GENERAL, OneOf, Operand
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import MissingExtra
from plurivox.core.method import Option
from plurivox.core.registry import BrokenGuest


def run(screen: Screen, room: str | None) -> Answer:
    """List names and help lines; options only for machines, because they need the methods imported."""
    rooms = [room] if room else [*ROOMS, *INNER]
    if screen.json:
        return Answer({"methods": {one: [about(one, name) for name in catalogue(one)] for one in rooms}})
    blocks = [f"{one}\n" + table(list(help_lines(one).items()), indent="  ") for one in rooms]
    return Answer({}, text="\n\n".join(blocks))


def about(room: str, name: str) -> dict[str, Any]:
    """A method as a form needs it; of one that cannot be loaded, its error."""
    try:
        method = registry(room)[name]
    except (BrokenGuest, MissingExtra) as fault:
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
        Operand("room", GENERAL, "one room only", type=OneOf("room", (*ROOMS, *INNER)), required=False, metavar="ROOM")
    ],
    callback=run,
    help="List the methods of each room. Options of one: plurivox ROOM METHOD --help, or all with --json.",
)
