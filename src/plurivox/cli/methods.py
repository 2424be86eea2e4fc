"""`plurivox methods [ROOM]`: what there is to choose from."""

from typing import Any

from plurivox.cli._build import ROOMS, catalogue, registry
from plurivox.cli._command import Command
from plurivox.cli._flags import GENERAL, OneOf, Operand
from plurivox.cli._show import Answer, Screen, table
from plurivox.core.method import Method, Option


def run(screen: Screen, room: str | None) -> Answer:
    """List names and help lines; options only for machines, because they need the methods imported."""
    rooms = [room] if room else list(ROOMS)
    if screen.json:
        return Answer({"methods": {one: [about(cls) for cls in registry(one).values()] for one in rooms}})
    blocks = []
    for one in rooms:
        listed = catalogue(one)
        blocks.append(f"{one}\n" + table([(name, listed.summary(name)) for name in listed], indent="  "))
    return Answer({}, text="\n\n".join(blocks))


def about(method: type[Method]) -> dict[str, Any]:
    """A method as a form needs it."""
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
    params=[Operand("room", GENERAL, "one room only", type=OneOf("room", ROOMS), required=False, metavar="ROOM")],
    callback=run,
    help="List the methods of each room. Options of one: plurivox ROOM METHOD --help.",
)
