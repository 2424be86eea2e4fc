"""A mistake in one line: what is wrong, what to do, and the exit code."""

import re
import sys
import zipfile

import click

from plurivox.core.errors import PlurivoxError, unknown_name

MISTAKE, STOPPED = 2, 130


def is_ours(error: Exception) -> bool:
    """Whether a person can mend it: then a line is enough. Anything else is a fault of the program, with traceback."""
    mendable = PlurivoxError, click.ClickException, click.Abort, OSError, zipfile.BadZipFile, MemoryError
    return isinstance(error, mendable) or _is_of_polars(error) or _lacks_tables(error) or _lacks_memory(error)


def explain(error: Exception) -> int:
    """Tell the mistake on stderr and return the exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return MISTAKE
    click.echo(f"error: {one_line(_words(error))}", err=True)
    if isinstance(error, click.Abort):
        return STOPPED
    return error.exit_code if isinstance(error, click.ClickException) and error.exit_code != 1 else MISTAKE


def one_line(text: str) -> str:
    """The text without its line breaks."""
    return re.sub(r"\s*\n\s*", " ", text.strip())


def _words(error: Exception) -> str:
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        flags = [flag for one in error.ctx.command.get_params(error.ctx) for flag in (*one.opts, *one.secondary_opts)]
        long = [flag for flag in flags if flag.startswith("--")]
        return _with_help(str(unknown_name("option", error.option_name, long)), error)
    if isinstance(error, click.UsageError):
        return _with_help(_calm(error.format_message()), error)
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{_calm(error.strerror or str(error) or type(error).__name__)}"
    if isinstance(error, click.Abort):
        return "stopped"
    if isinstance(error, MemoryError) or _lacks_memory(error):
        return f"there is not enough memory{': ' if str(error) else ''}{_calm(str(error))}"
    if _lacks_tables(error):
        return (
            "reading and writing tables needs polars and narwhals; run: pip install polars narwhals, or use .npz files"
        )
    if isinstance(error, zipfile.BadZipFile) or _is_of_polars(error):
        return f"the data cannot be read or written: {_calm((str(error).splitlines() or [type(error).__name__])[0])}"
    return str(error)


def _is_of_polars(error: Exception) -> bool:
    """Whether polars refused the data; where it was never imported, it did not."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(error, polars.exceptions.PolarsError)


def _lacks_memory(error: Exception) -> bool:
    """Whether torch found no room, on a GPU or on a CPU."""
    said = type(error).__name__, str(error)
    return isinstance(error, RuntimeError) and (said[0] == "OutOfMemoryError" or "DefaultCPUAllocator" in said[1])


def _lacks_tables(error: Exception) -> bool:
    """Whether this machine has nothing to read tables with, as one that only trains."""
    return isinstance(error, ModuleNotFoundError) and error.name in ("polars", "narwhals")


def _with_help(text: str, error: click.UsageError) -> str:
    return f"{text} (see {error.ctx.command_path} --help)" if error.ctx is not None else text


def _calm(text: str) -> str:
    """A message of another program in our tone: no capital at its head, no full stop at its end."""
    text = text.rstrip(".")
    return text[:1].lower() + text[1:]
