"""`plurivox methods [STEP]`: list the methods of one step or of all steps."""

from typing import Any

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import GENERAL, Argument, Choice
from plurivox.cli._method_commands import (
    STEPS,
    TRAIN_REGISTRIES,
    import_method_registry,
    method_catalogue,
    summary_by_method_name,
)
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.errors import MissingExtra
from plurivox.core.method import Option
from plurivox.core.registry import BrokenPlugin


def run_list_methods(screen: Screen, step: str | None) -> CommandResult:
    """Run `plurivox methods`: list method names and summaries; --json adds the options, which imports the methods."""
    steps = [step] if step else [*STEPS, *TRAIN_REGISTRIES]
    if screen.json:
        return CommandResult(
            {"methods": {step: [method_info(step, name) for name in method_catalogue(step)] for step in steps}}
        )
    blocks = [
        f"{step}\n" + aligned_table_text(list(summary_by_method_name(step).items()), indent="  ") for step in steps
    ]
    return CommandResult({}, text="\n\n".join(blocks))


def method_info(step: str, name: str) -> dict[str, Any]:
    """Return name, summary, inputs and options of a method for --json; name and error if it cannot be loaded."""
    try:
        method = import_method_registry(step)[name]
    except (BrokenPlugin, MissingExtra) as fault:
        return {"name": name, "error": str(fault)}
    return {
        "name": method.name(),
        "summary": method.summary(),
        "takes": method.takes,
        "options": [option_info(option) for option in method.options()],
    }


def option_info(option: Option) -> dict[str, Any]:
    """Return the properties of a method's option (type, default, range, ...) for --json."""
    return {
        "name": option.name,
        "flag": f"--{option.name_with_dashes}",
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
        Argument(
            "step",
            GENERAL,
            "list only the methods of this step",
            type=Choice("step", (*STEPS, *TRAIN_REGISTRIES)),
            required=False,
            metavar="STEP",
        )
    ],
    callback=run_list_methods,
    help="List the methods of each step. plurivox STEP METHOD --help shows the options of a method, --json those of all.",
)
