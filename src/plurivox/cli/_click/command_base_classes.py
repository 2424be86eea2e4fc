"""Base classes of commands and groups: sections in the help, suggestions for misspelt names, --json, --quiet, --threads."""

import importlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._click.output import Screen
from plurivox.cli._click.parameters import GENERAL, JSON, NET_THREADS, QUIET, THREADS, replace_input_by_source
from plurivox.cli._click.standard_streams import standard_streams_while_block_runs
from plurivox.core.errors import InputError, unknown_name_error


class BaseCommand(click.Command):
    """Click command whose --help option reads "show this help"."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        if (option := super().get_help_option(ctx)) is not None:
            option.help = "show this help"
        return option


class Command(BaseCommand):
    """Command whose callback takes a `screen` and returns a CommandResult, printed as text or, with --json, as JSON."""

    def __init__(
        self,
        name: str,
        *,
        params: Sequence[click.Parameter],
        computes: bool = False,
        nets: bool = False,
        **settings: Any,
    ) -> None:
        """Add --json and --quiet, and --threads if the command `computes`; `nets`: threads may change the last digits."""
        threads = NET_THREADS if nets else THREADS
        common = [threads, JSON, QUIET] if computes else [JSON, QUIET]
        super().__init__(name, params=[*params, *common], **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command: convert its parameters, call its callback with warnings shown as notes, and print the result.

        `-` among the parameters is standard input or output.
        """
        param_values = ctx.params
        screen = Screen(json=param_values.pop("json"), quiet=param_values.pop("quiet"), argv=tuple(ctx.obj or ()))
        if (threads := param_values.pop("threads", None)) is not None:
            set_thread_count(threads)
        with standard_streams_while_block_runs(self.params, param_values, json=screen.json) as screen.streams:
            self.convert_params_to_callback_args_in_place(param_values)
            param_values["screen"] = screen
            with screen.print_warnings_as_notes_while_block_runs():
                result = super().invoke(ctx)
            screen.print_result(result)

    def convert_params_to_callback_args_in_place(self, param_values: dict[str, Any]) -> None:
        """Convert {parameter name: parsed value} of a command line to keyword arguments of the callback, in place."""
        replace_input_by_source(param_values)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of a command to its help, grouped by section, with the texts aligned in one column."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(param, "section", GENERAL), []).append(record)
        width = min(30, max(len(left) for records in sections.values() for left, _ in records))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(left.ljust(width), right) for left, right in records])


class CommandGroup(BaseCommand, click.Group):
    """Click group whose help lists the names and summaries of its commands without creating the commands."""

    kind = "command"

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name, subcommand_metavar=f"{self.kind.upper()} ...", **settings)

    def summary_by_command_name(self) -> Mapping[str, str]:
        """Return {command name: summary}, in the order of the help."""
        return {name: command.get_short_help_str(200) for name, command in self.commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.summary_by_command_name())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` begins with; raise an error that suggests similar names if there is none."""
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            if self.kind != "command" and Path(name).exists():
                raise InputError(
                    f"{name} is a file or folder; give a {self.kind} before it ({ctx.command_path} --help lists them)"
                )
            raise unknown_name_error(self.kind, name, self.summary_by_command_name())
        return name if command else None, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section(f"{self.kind.capitalize()}s"):
            formatter.write_dl(list(self.summary_by_command_name().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=line)
            for name, line in self.summary_by_command_name().items()
            if name.startswith(incomplete)
        ]


class LazyGroup(CommandGroup):
    """Click group that imports a command only when it is called; `table` maps command names to (module:attribute, summary)."""

    def __init__(self, name: str, table: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(name, **settings)
        self.table = table

    def summary_by_command_name(self) -> Mapping[str, str]:
        return {name: line for name, (_, line) in self.table.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in self.table:
            return None
        module, _, attribute = self.table[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


def set_thread_count(n_threads: int) -> None:
    """Set the number of threads of polars, kernels and torch to `n_threads`; call before polars and torch are imported."""
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(n_threads)
    if importlib.util.find_spec("plurivox.engine.parallel_task_blocks") is not None:
        importlib.import_module("plurivox.engine.parallel_task_blocks").set_threads(n_threads)
