"""`plurivox`: the group of all commands. Its help is written here, so that showing it imports none of them."""

import sys

try:
    import signal
    import threading
    from collections.abc import Iterator, Sequence
    from contextlib import contextmanager
    from typing import Any

    import click

    from plurivox.cli._click.command import Lazy
    from plurivox.cli._click.error_output import STOPPED, explain, is_ours
    from plurivox.core.errors import InputError
except KeyboardInterrupt:  # Ctrl-C before there is anything to stop
    sys.exit(130)

COMMANDS = {  # name: where it is, its line in the help; in the order of the walk
    "studio": ("plurivox.cli.studio:studio", "Ask people for soft labels, in a web application of your own."),
    "describe": ("plurivox.cli.describe:describe", "Show what a crowd looks like: sizes, agreement, accuracy."),
    "simulate": ("plurivox.cli.simulate:simulate", "Draw a crowd with known truth."),
    "clean": ("plurivox.cli.clean:clean", "Take out faulty answers and careless people, and say why."),
    "elicit": ("plurivox.cli.elicit:elicit", "Turn what people entered into votes."),
    "aggregate": ("plurivox.cli.aggregate:aggregate", "Turn votes into soft labels."),
    "identify": ("plurivox.cli.identify:identify", "Find hard tasks and workers to doubt."),
    "assign": ("plurivox.cli.assign:assign", "Tell whom to ask what next, or make batches."),
    "train": ("plurivox.cli.train:train", "Train nets on what a crowd says, and measure them."),
    "predict": ("plurivox.cli.predict:predict", "Say what a trained net believes."),
    "compare": ("plurivox.cli.compare:compare", "Hold methods side by side on data with gold labels."),
    "evaluate": ("plurivox.cli.evaluate:evaluate", "Judge soft labels against truth, with intervals and a baseline."),
    "audit": ("plurivox.cli.audit:audit", "Look for leaks and telling names before numbers are believed."),
    "recipe": ("plurivox.cli.recipe:recipe", "Walk a whole recipe, such as the tables of a paper."),
    "convert": ("plurivox.cli.convert:convert", "Carry data from one form of file to another."),
    "datasets": ("plurivox.cli.datasets:datasets", "List, inspect and install data sets."),
    "methods": ("plurivox.cli.methods:methods", "List the methods of each step."),
    "completion": ("plurivox.cli.completion:completion", "Print the script that makes a shell complete commands."),
}
ABOUT = "From what a crowd says to a trained, honestly judged model."
TRY = "Try: plurivox methods, then plurivox aggregate majority-vote --help"


class Door(Lazy):
    """The whole command line: it also turns every mistake into one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C becomes an error of its own before click gives it another exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("stopped; no file is left half-written") from None
        except EOFError as cause:  # click would take it for the end of a talk; nobody is asked anything here
            raise InputError(f"a file ends before it should ({cause})") from cause

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and leave with its exit code: 0, 2 for a mistake, 130 after Ctrl-C, 143 after SIGTERM."""
        del prog_name  # a script may be called by a path; help and completion always say plurivox
        words = list(sys.argv[1:] if args is None else args)
        try:
            with heeding_sigterm():
                code = super().main(words, "plurivox", complete_var, standalone_mode=False, obj=words, **extra)
        except Exception as error:
            if not is_ours(error):
                raise
            code = explain(error)
        except KeyboardInterrupt:  # before or after the command itself
            code = explain(Stopped("stopped"))
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


class Stopped(click.ClickException):
    """Ctrl-C."""

    exit_code = STOPPED


@contextmanager
def heeding_sigterm() -> Iterator[None]:
    """Let SIGTERM leave through SystemExit, so that what is half-written is cleaned up."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


main = Door(
    "plurivox",
    COMMANDS,
    help=ABOUT,
    epilog=TRY,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
version = click.version_option(
    package_name="plurivox", prog_name="plurivox", message="%(prog)s %(version)s", help="show the version"
)
version(main)
