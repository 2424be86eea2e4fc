"""The commands' common face: headings in the help, names with their nearest neighbours, --json and --quiet."""

import importlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._click.flags import GENERAL, JSON, NET_THREADS, QUIET, THREADS, pack_source
from plurivox.cli._click.screen import Screen
from plurivox.core.errors import InputError, unknown_name


class Calm(click.Command):
    """A command whose help speaks in one tone."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        if (option := super().get_help_option(ctx)) is not None:
            option.help = "show this help"
        return option


class Command(Calm):
    """A command whose callback takes a `screen` and gives back an Answer, shown for people or for machines."""

    def __init__(
        self, name: str, *, params: Sequence[click.Parameter], works: bool = False, nets: bool = False, **about: Any
    ) -> None:
        """`works`: it computes something, so that the number of threads matters; `nets`: even to the last digits."""
        threads = NET_THREADS if nets else THREADS
        common = [threads, JSON, QUIET] if works else [JSON, QUIET]
        super().__init__(name, params=[*params, *common], **about)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the callback, gather what it had to note, and show its answer."""
        given = ctx.params
        screen = Screen(json=given.pop("json"), quiet=given.pop("quiet"), words=tuple(ctx.obj or ()))
        if (threads := given.pop("threads", None)) is not None:
            use_threads(threads)
        self.prepare(given)
        given["screen"] = screen
        with screen.hearing():
            answer = super().invoke(ctx)
        screen.show(answer)

    def prepare(self, given: dict[str, Any]) -> None:
        """Turn flags into what the callback takes."""
        pack_source(given)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every heading with its options, all in one column."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(param, "section", GENERAL), []).append(record)
        width = min(30, max(len(left) for records in sections.values() for left, _ in records))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(left.ljust(width), right) for left, right in records])


class Index(Calm, click.Group):
    """A group whose commands are known by name and help line before any of them is made."""

    kind = "command"

    def __init__(self, name: str, **about: Any) -> None:
        super().__init__(name, subcommand_metavar=f"{self.kind.upper()} ...", **about)

    def lines(self) -> Mapping[str, str]:
        """name -> help line, in the order to show them."""
        return {name: one.get_short_help_str(200) for name, one in self.commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.lines())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named first, or an error with the nearest names."""
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            if self.kind != "command" and Path(name).exists():
                raise InputError(
                    f"{name} is a file or folder; name a {self.kind} before it ({ctx.command_path} --help lists them)"
                )
            raise unknown_name(self.kind, name, self.lines())
        return name if command else None, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section(f"{self.kind.capitalize()}s"):
            formatter.write_dl(list(self.lines().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in self.lines().items() if name.startswith(incomplete)]


class Lazy(Index):
    """A group that imports a command when it is called: `table` says where each is, and its help line."""

    def __init__(self, name: str, table: Mapping[str, tuple[str, str]], **about: Any) -> None:
        super().__init__(name, **about)
        self.table = table

    def lines(self) -> Mapping[str, str]:
        return {name: line for name, (_, line) in self.table.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in self.table:
            return None
        module, _, attribute = self.table[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


def use_threads(n: int) -> None:
    """Let readers, kernels and nets use `n` threads; polars and torch ask once, when they are imported."""
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(n)
    if importlib.util.find_spec("plurivox.engine.threads") is not None:
        importlib.import_module("plurivox.engine.threads").set_threads(n)
