"""The `plurivox` command line: all commands with the summaries that --help shows without importing the commands."""

import atexit
import gc
import sys

atexit.register(gc.freeze)  # no search for garbage when the process ends: it takes a fifth of a short command

try:
    import signal
    import threading
    from collections.abc import Iterator, Sequence
    from contextlib import contextmanager
    from typing import Any

    import click

    from plurivox.cli._click.command_base_classes import LazyGroup
    from plurivox.cli._click.error_output import EXIT_INTERRUPTED, is_user_error, print_error_and_return_exit_code
    from plurivox.core.errors import InputError
except KeyboardInterrupt:  # Ctrl-C during the first imports
    sys.exit(130)

COMMANDS = {  # name: (module:attribute, summary), in the order of the pipeline
    "studio": ("plurivox.cli.studio:studio", "Collect labels from people in a web application that you run."),
    "agreement": (
        "plurivox.cli.agreement:agreement",
        "Show how much workers agree: alpha, kappas, per label and pair.",
    ),
    "describe": ("plurivox.cli.describe:describe", "Show sizes, agreement and accuracy of the votes or answers."),
    "simulate": ("plurivox.cli.simulate:simulate", "Simulate a crowd with known true labels."),
    "clean": ("plurivox.cli.clean:clean", "Remove faulty answers and careless workers; list the reasons."),
    "elicit": ("plurivox.cli.elicit:elicit", "Convert answers (as people entered them) into votes."),
    "aggregate": ("plurivox.cli.aggregate:aggregate", "Aggregate votes into soft labels."),
    "identify": ("plurivox.cli.identify:identify", "Find hard tasks and unreliable workers."),
    "assign": ("plurivox.cli.assign:assign", "Choose which worker labels which task next, or plan batches."),
    "train": ("plurivox.cli.train:train", "Train neural networks on the votes and evaluate them."),
    "predict": ("plurivox.cli.predict:predict", "Predict soft labels with a trained network."),
    "recommend": ("plurivox.cli.recommend:recommend", "Recommend an aggregation method for your votes."),
    "compare": ("plurivox.cli.compare:compare", "Compare aggregation methods on data with gold labels."),
    "evaluate": ("plurivox.cli.evaluate:evaluate", "Evaluate soft labels against true labels, with intervals."),
    "plot": ("plurivox.cli.plot:plot", "Draw a chart of votes, labels, scores, workers or trainings."),
    "report": ("plurivox.cli.report:report", "Write one HTML page on votes: what they show and what to do next."),
    "audit": ("plurivox.cli.audit:audit", "Check a data set for leaks between train and test."),
    "recipe": ("plurivox.cli.recipe:recipe", "Run a whole experiment, such as the tables of a paper."),
    "convert": ("plurivox.cli.convert:convert", "Convert data between file formats."),
    "datasets": ("plurivox.cli.datasets:datasets", "List, inspect and install data sets."),
    "methods": ("plurivox.cli.methods:methods", "List the methods of each step."),
    "completion": ("plurivox.cli.completion:completion", "Print the script for tab completion in a shell."),
}
ABOUT = (
    "Turn several annotators' labels into soft labels, find unreliable annotators and hard tasks, "
    "train and evaluate models on the disagreement."
)
NEXT_STEPS = "Next: plurivox methods, then plurivox aggregate majority-vote --help"


class MainGroup(LazyGroup):
    """Click group of all commands; prints a user error as one line on stderr and exits with its code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; raise Interrupted after Ctrl-C, because click would exit with another code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; no partial file was left behind") from None
        except EOFError as cause:  # click would report it as an aborted prompt
            raise InputError(f"unexpected end of a file: it is truncated ({cause})") from cause

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and exit with its code: 0, 2 after a user error, 130 after Ctrl-C, 143 after SIGTERM."""
        del prog_name  # the script may be called by a path; help and completion always print plurivox
        argv = list(sys.argv[1:] if args is None else args)
        try:
            with exit_on_sigterm_while_block_runs():
                code = super().main(argv, "plurivox", complete_var, standalone_mode=False, obj=argv, **extra)
        except Exception as error:
            if not is_user_error(error):
                raise
            code = print_error_and_return_exit_code(error)
        except KeyboardInterrupt:  # before or after the command itself
            code = print_error_and_return_exit_code(Interrupted("interrupted"))
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


class Interrupted(click.ClickException):
    """Error raised after Ctrl-C; exit code 130."""

    exit_code = EXIT_INTERRUPTED


@contextmanager
def exit_on_sigterm_while_block_runs() -> Iterator[None]:
    """Raise SystemExit on SIGTERM while the block runs, so that partial files are removed."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


main = MainGroup(
    "plurivox",
    COMMANDS,
    help=ABOUT,
    epilog=NEXT_STEPS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
version = click.version_option(
    package_name="plurivox", prog_name="plurivox", message="%(prog)s %(version)s", help="show the version"
)
version(main)
