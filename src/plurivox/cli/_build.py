"""Rooms -> commands: every method of a registry is a command, and its options are flags."""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._click.command import Command, Index
from plurivox.cli._click.flags import GENERAL, Completed, Flag
from plurivox.cli._click.screen import Answer
from plurivox.core.errors import OptionError
from plurivox.core.method import Method, Option
from plurivox.core.registry import BrokenPlugin, Catalogue, Methods

STEPS = (
    "simulate",
    "clean",
    "elicit",
    "aggregate",
    "identify",
    "assign",
    "recipes",
)  # the rooms with a registry, in the order of the walk
INNER = ("train.targets", "train.losses", "train.heads", "train.nets")  # their methods are words of `plurivox train`
COMMAND_OF = {"recipes": "recipe"}  # where the command of a room is not called like the room
METAVARS = {int: "N", float: "X", str: "TEXT", bool: "yes|no"}
Params = Callable[[type[Method]], Sequence[click.Parameter]]


def catalogue(step: str) -> Catalogue:
    """The names and help lines of a room; nothing of it is imported."""
    return Catalogue(f"plurivox.{step}")


def registry(step: str) -> Methods[Any]:
    """The methods of a room."""
    found = importlib.import_module(f"plurivox.{step}").methods
    assert isinstance(found, Methods)
    return found


def help_lines(step: str) -> dict[str, str]:
    """name -> help line, for every method of a room; of one that cannot be loaded its error."""
    listed, lines = catalogue(step), {}
    for name in listed:
        try:
            lines[name] = listed.summary(name)
            if not lines[name]:
                registry(step)[name]  # no source to read a line off: is there anything at all?
        except BrokenPlugin as fault:
            lines[name] = str(fault)
    return lines


def method_list(step: str) -> Completed:
    """Methods of a room, perhaps several with commas between; the shell completes the last one."""

    def complete(incomplete: str) -> list[CompletionItem[Any]]:
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(before + comma + name) for name in catalogue(step) if name.startswith(last)]

    return Completed(step, complete)


class MethodGroup(Index):
    """A group with a command for every method of a room, made when it is called.

    `params` gives the operands and options that the room's commands have beside those of the method; `run` gets
    them by name, with the `method` made from its own.
    """

    kind = "method"

    def __init__(self, step: str, run: Callable[..., Answer], params: Params, help: str) -> None:
        self.kind = COMMAND_OF.get(step, "method")
        super().__init__(COMMAND_OF.get(step, step), help=help)
        self.step, self.run, self.own_params = step, run, params

    @cached_property
    def _lines(self) -> Mapping[str, str]:
        return help_lines(self.step)

    def lines(self) -> Mapping[str, str]:
        return self._lines

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in catalogue(self.step):
            return None
        name, note = catalogue(self.step).resolve(cmd_name)
        if note and not ctx.resilient_parsing:
            click.echo(f"note: {note}", err=True)
        method = registry(self.step)[name]
        return MethodCommand(name, method, self.own_params(method), self.run)


class MethodCommand(Command):
    """The command of one method."""

    def __init__(
        self, name: str, method: type[Method], params: Sequence[click.Parameter], run: Callable[..., Answer]
    ) -> None:
        self.method = method
        options = [flag_of(one, f"Options of {name}") for one in method.options() if one.name != "seed"]
        before = [one for one in params if getattr(one, "section", "").startswith("Input")]
        after = [one for one in params if one not in before]
        super().__init__(
            name,
            params=[*before, *options, *after, seed_flag(name, method)],
            works=True,
            callback=run,
            help=method.summary(),
            epilog=rest_of_docstring(method),
        )
        refuse_clashes(name, self.params)

    def prepare(self, given: dict[str, Any]) -> None:
        """Make the method of its options."""
        options = {one.name: given.pop(one.name) for one in self.method.options()}
        super().prepare(given)
        given["method"] = self.method(**options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Paragraphs are wrapped; indented ones, such as formulas, stay as written."""
        del ctx
        for paragraph in (self.epilog or "").split("\n\n"):
            lines = paragraph.splitlines()
            formatter.write_paragraph()
            if any(line.startswith(" ") for line in lines):
                formatter.write("\n".join(lines) + "\n")
            elif lines:
                formatter.write_text(" ".join(lines))


class Value(click.ParamType[Any]):
    """A value of a method's option; the option itself reads and checks it."""

    def __init__(self, option: Option) -> None:
        self.name, self.option = option.flag, option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param, ctx
        try:
            return self.option.check(self.option.parse(value) if isinstance(value, str) else value)
        except OptionError as cause:
            raise OptionError(f"--{cause}") from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(word) for word in self.option.choices if word.startswith(incomplete)]


def flag_of(option: Option, section: str) -> Flag:
    """An option of a method as a flag, its default and range in the help."""
    limits = "" if option.choices else option.range
    facts = [limits, f"default: {_shown(option.default)}"]
    help = f"{option.help}  [{'; '.join(filter(None, facts))}]"
    if option.kind is bool and not option.optional:
        names = [f"--{option.flag}/--no-{option.flag}", option.name]
        return Flag(names, section, default=option.default, help=help)
    metavar = f"[{'|'.join(option.choices)}]" if option.choices else METAVARS[option.kind]
    return Flag(
        [f"--{option.flag}", option.name],
        section,
        type=Value(option),
        default=option.default,
        metavar=metavar,
        help=help,
    )


def seed_flag(name: str, method: type[Method]) -> Flag:
    """--seed: the method's own, or one that says it has no effect."""
    for option in method.options():
        if option.name == "seed":
            return flag_of(option, GENERAL)
    help = f"no effect: {name} leaves nothing to chance"
    return Flag(["--seed"], GENERAL, type=int, metavar="N", expose_value=False, help=help)


def rest_of_docstring(method: type[Method]) -> str:
    """What follows a docstring's first line, without its examples: formula and reference."""
    paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")[1:]
    return "\n\n".join(one for one in paragraphs if not one.lstrip().startswith(">>>"))


def refuse_clashes(name: str, params: Sequence[click.Parameter]) -> None:
    """Two options of one name would hide each other."""
    seen = {"-h", "--help"}
    for one in params:
        words = {one.name, *one.opts, *one.secondary_opts}
        if clash := words & seen:
            raise OptionError(f"{name} has two options called {sorted(clash)[0]}; its own one needs another name")
        seen |= words


def _shown(default: Any) -> str:
    if default is None or default == "" or isinstance(default, bool):
        return {None: "none", "": "none", True: "yes", False: "no"}[default]
    return f"{default:g}" if isinstance(default, float) else str(default)
