"""Error messages: print a user error as one line on stderr and return the exit code."""

import re
import sys
import zipfile

import click

from plurivox.core.errors import PlurivoxError, unknown_name_error

EXIT_USER_ERROR, EXIT_INTERRUPTED = 2, 130


def is_user_error(error: Exception) -> bool:
    """Return whether an error is the user's, reported in one line; any other error is a bug and keeps its traceback."""
    user_errors = PlurivoxError, click.ClickException, click.Abort, OSError, zipfile.BadZipFile, MemoryError
    return (
        isinstance(error, user_errors)
        or _is_polars_error(error)
        or _means_polars_or_narwhals_missing(error)
        or _is_torch_out_of_memory(error)
    )


def print_error_and_return_exit_code(error: Exception) -> int:
    """Print the message of a user error to stderr and return the exit code of the command."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return EXIT_USER_ERROR
    click.echo(f"error: {replace_line_breaks_by_spaces(user_message_of_error(error))}", err=True)
    if isinstance(error, click.Abort):
        return EXIT_INTERRUPTED
    return error.exit_code if isinstance(error, click.ClickException) and error.exit_code != 1 else EXIT_USER_ERROR


def replace_line_breaks_by_spaces(text: str) -> str:
    """Return the text with line breaks replaced by spaces."""
    return re.sub(r"\s*\n\s*", " ", text.strip())


def user_message_of_error(error: Exception) -> str:
    """Return the message that a user sees for an error of plurivox, click, the system, polars or torch."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        params = error.ctx.command.get_params(error.ctx)
        flags = [flag for param in params for flag in (*param.opts, *param.secondary_opts)]
        long = [flag for flag in flags if flag.startswith("--")]
        return _append_help_hint(str(unknown_name_error("option", error.option_name, long)), error)
    if isinstance(error, click.MissingParameter) and (flag := _option_with_optional_value_or_none(error)):
        where = error.param.human_readable_name if error.param is not None else "the argument"
        value = error.ctx.params[flag.name or ""] if error.ctx is not None else ""
        return _append_help_hint(
            f"missing argument {where}: {value} was taken as the value of {flag.opts[0]}; give {where} before {flag.opts[0]}, "
            f"or {flag.opts[0]} with its value: {flag.opts[0]} {flag.flag_value}",
            error,
        )
    if isinstance(error, click.UsageError):
        return _append_help_hint(_remove_capital_and_full_stop(error.format_message()), error)
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{_remove_capital_and_full_stop(error.strerror or str(error) or type(error).__name__)}"
    if isinstance(error, click.Abort):
        return "interrupted"
    if isinstance(error, MemoryError) or _is_torch_out_of_memory(error):
        return f"out of memory{': ' if str(error) else ''}{_remove_capital_and_full_stop(str(error))}"
    if _means_polars_or_narwhals_missing(error):
        return (
            "reading and writing tables needs polars and narwhals; run: pip install polars narwhals, or use .npz files"
        )
    if isinstance(error, zipfile.BadZipFile) or _is_polars_error(error):
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        return f"the data cannot be read or written: {_remove_capital_and_full_stop(first_line)}"
    return str(error)


def _option_with_optional_value_or_none(error: click.MissingParameter) -> click.Option | None:
    """Return the option of the command line, if any, whose value is optional and may have taken the missing argument."""
    if error.ctx is None or not isinstance(error.param, click.Argument):
        return None
    for param in error.ctx.command.params:
        if not isinstance(param, click.Option) or param.is_flag or not isinstance(param.flag_value, str):
            continue  # its value is not optional
        if error.ctx.params.get(param.name or "") not in (None, param.flag_value):
            return param
    return None


def _is_polars_error(error: Exception) -> bool:
    """Return whether polars raised the error, without importing polars."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(error, polars.exceptions.PolarsError)


def _is_torch_out_of_memory(error: Exception) -> bool:
    """Return whether the error means that torch is out of memory, on a GPU or a CPU; torch is not imported."""
    name, text = type(error).__name__, str(error)
    return isinstance(error, RuntimeError) and (name == "OutOfMemoryError" or "DefaultCPUAllocator" in text)


def _means_polars_or_narwhals_missing(error: Exception) -> bool:
    """Return whether the error means that polars or narwhals is not installed."""
    return isinstance(error, ModuleNotFoundError) and error.name in ("polars", "narwhals")


def _append_help_hint(text: str, error: click.UsageError) -> str:
    """Return an error message with "(see COMMAND --help)" appended."""
    return f"{text} (see {error.ctx.command_path} --help)" if error.ctx is not None else text


def _remove_capital_and_full_stop(library_message: str) -> str:
    """Return the message of another library without its initial capital and its final full stop."""
    library_message = library_message.rstrip(".")
    return library_message[:1].lower() + library_message[1:]
