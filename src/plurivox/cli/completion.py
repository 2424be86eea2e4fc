"""`plurivox completion SHELL`: the script that makes a shell complete commands."""

import click
from click.shell_completion import get_completion_class

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import GENERAL, OneOf, Operand
from plurivox.cli._click.screen import Answer, Screen

SHELLS = ("bash", "zsh", "fish")


def run(screen: Screen, shell: str) -> Answer:
    """Print click's script for the shell."""
    del screen
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    script = found(root, {}, "plurivox", "_PLURIVOX_COMPLETE").source()
    return Answer({"shell": shell, "script": script}, text=script.rstrip())


completion = Command(
    "completion",
    params=[Operand("shell", GENERAL, " or ".join(SHELLS), type=OneOf("shell", SHELLS), metavar="SHELL")],
    callback=run,
    help="Print the script that makes a shell complete commands, method names, data sets and options.",
    epilog='bash and zsh: eval "$(plurivox completion bash)". fish: plurivox completion fish | source.',
)
