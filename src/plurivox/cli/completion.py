"""`plurivox completion SHELL`: print the script for tab completion in a shell."""

import click
from click.shell_completion import get_completion_class

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import GENERAL, Argument, Choice

SHELLS = ("bash", "zsh", "fish")


def run_completion_script(screen: Screen, shell: str) -> CommandResult:
    """Run `plurivox completion`: return the script that sets up tab completion in a shell."""
    del screen
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    script = found(root, {}, "plurivox", "_PLURIVOX_COMPLETE").source()
    return CommandResult({"shell": shell, "script": script}, text=script.rstrip())


completion = Command(
    "completion",
    params=[Argument("shell", GENERAL, " or ".join(SHELLS), type=Choice("shell", SHELLS), metavar="SHELL")],
    callback=run_completion_script,
    help="Print the script for tab completion of commands, methods, data sets and options in a shell.",
    epilog='bash and zsh: eval "$(plurivox completion bash)". fish: plurivox completion fish | source.',
)
