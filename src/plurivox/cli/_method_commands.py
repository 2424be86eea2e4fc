"""Commands built from registries: every method is a command, and its options are the flags of that command."""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import click
from click.shell_completion import CompletionItem

from plurivox.cli._click.command_base_classes import Command, CommandGroup
from plurivox.cli._click.output import CommandResult
from plurivox.cli._click.parameters import GENERAL, Flag, TextWithCompletion
from plurivox.core.errors import OptionError
from plurivox.core.method import Method, Option, parse_spec
from plurivox.core.registry import BrokenPlugin, Catalogue, Methods

# packages with a registry and a command, in the order of the pipeline
STEPS = (
    "simulate",
    "clean",
    "elicit",
    "aggregate",
    "identify",
    "assign",
    "charts",
    "recipes",
)
# chosen by options of `plurivox train`
TRAIN_REGISTRIES = (
    "train.targets",
    "train.losses",
    "train.heads",
    "train.nets",
)
COMMAND_OF = {"recipes": "recipe", "charts": "plot"}  # steps whose command has another name
# what help and errors call a method
KIND_OF = {
    "charts": "chart",
    "recipes": "recipe",
    "clean": "rule",
    "elicit": "form",
    "identify": "score",
}
METAVARS = {int: "N", float: "X", str: "TEXT", bool: "yes|no"}
ParamsOfMethod = Callable[[type[Method]], Sequence[click.Parameter]]


def method_catalogue(step: str) -> Catalogue:
    """Return the catalogue of a step such as aggregate: names and summaries of its methods, without importing them."""
    return Catalogue(f"plurivox.{step}")


def import_method_registry(step: str) -> Methods[Any]:
    """Import the package of a step such as aggregate and return its registry of methods."""
    found = importlib.import_module(f"plurivox.{step}").methods
    assert isinstance(found, Methods)
    return found


def summary_by_method_name(step: str) -> dict[str, str]:
    """Return {method name: summary} for a step; a plugin that cannot be loaded has its error as summary."""
    listed, summaries = method_catalogue(step), {}
    for name in listed:
        try:
            summaries[name] = listed.summary(name)
            if not summaries[name]:
                # there is no source file to read a summary from: load it, which may raise
                import_method_registry(step)[name]
        except BrokenPlugin as fault:
            summaries[name] = str(fault)
    return summaries


def click_type_of_method_list(step: str) -> TextWithCompletion:
    """Return the click type of a comma-separated list of methods of a step; the shell completes the last name."""

    def complete_last_method_in_list(incomplete_list: str) -> list[CompletionItem[Any]]:
        """Return completions of the last method name in a comma-separated list."""
        before, comma, last = incomplete_list.rpartition(",")
        return [CompletionItem(before + comma + name) for name in method_catalogue(step) if name.startswith(last)]

    return TextWithCompletion(step, complete_last_method_in_list)


class MethodGroup(CommandGroup):
    """Click group with one command per method of a step such as aggregate, each created when it is called.

    `params` returns the arguments and options that the step's commands have in addition to those of the method; `run`
    gets their values by name, and the configured `method`.
    """

    kind = "method"

    def __init__(self, step: str, run: Callable[..., CommandResult], params: ParamsOfMethod, help: str) -> None:
        self.kind = KIND_OF.get(step, "method")
        super().__init__(COMMAND_OF.get(step, step), help=help)
        self.step, self.run, self.own_params = step, run, params

    @cached_property
    def _summary_by_method_name(self) -> Mapping[str, str]:
        return summary_by_method_name(self.step)

    def summary_by_command_name(self) -> Mapping[str, str]:
        return self._summary_by_method_name

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*self._method_and_flags_of_spec(args[0]), *args[1:]] if args else args)

    def _method_and_flags_of_spec(self, first: str) -> list[str]:
        """Return the method and its flags for a spec such as dawid-skene[pool=4], as results name it; else the text itself."""
        if "[" not in first or not first.endswith("]") or first.partition("[")[0] not in method_catalogue(self.step):
            return [first]
        name, options = parse_spec(first)
        given = {option.replace("-", "_") for option in options}
        made = import_method_registry(self.step).make(
            first
        )  # raises OptionError for an option or value that is not valid
        flags = [name]
        for option in made.options():
            if option.name in given:
                value, flag = getattr(made, option.name), option.name_with_dashes
                is_switch = option.kind is bool and not option.optional
                text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
                flags.append((f"--{flag}" if value else f"--no-{flag}") if is_switch else f"--{flag}={text}")
        return flags

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in method_catalogue(self.step):
            return None
        name, note = method_catalogue(self.step).current_name_and_rename_note(cmd_name)
        if note and not ctx.resilient_parsing:
            click.echo(f"note: {note}", err=True)
        method = import_method_registry(self.step)[name]
        return MethodCommand(name, method, self.own_params(method), self.run)


class MethodCommand(Command):
    """Click command of one method, such as `aggregate glad`, with the method's options as flags."""

    def __init__(
        self, name: str, method: type[Method], params: Sequence[click.Parameter], run: Callable[..., CommandResult]
    ) -> None:
        self.method = method
        options = [option_flag(option, f"Options of {name}") for option in method.options() if option.name != "seed"]
        before = [param for param in params if getattr(param, "section", "").startswith("Input")]
        after = [param for param in params if param not in before]
        super().__init__(
            name,
            params=[*before, *options, *after, seed_flag_even_if_deterministic(name, method)],
            computes=True,
            callback=run,
            help=method.summary(),
            epilog=docstring_without_summary_and_examples(method),
        )
        check_no_two_params_share_name(name, self.params)

    def convert_params_to_callback_args_in_place(self, param_values: dict[str, Any]) -> None:
        """Replace the method's options in `param_values`, in place, by one `method` made with them."""
        options = {option.name: param_values.pop(option.name) for option in self.method.options()}
        super().convert_params_to_callback_args_in_place(param_values)
        param_values["method"] = self.method(**options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write formula and reference of the method below its options in the help; indented formulas are not wrapped."""
        del ctx
        for paragraph in (self.epilog or "").split("\n\n"):
            lines = paragraph.splitlines()
            formatter.write_paragraph()
            if any(line.startswith(" ") for line in lines):
                formatter.write("\n".join(lines) + "\n")
            elif lines:
                formatter.write_text(" ".join(lines))


class OptionValue(click.ParamType[Any]):
    """Click type of a method's option; the option itself parses and checks the value."""

    def __init__(self, option: Option) -> None:
        self.name, self.option = option.name_with_dashes, option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param, ctx
        try:
            return self.option.check_and_convert_option_value(
                self.option.convert_text_to_option_type(value) if isinstance(value, str) else value
            )
        except OptionError as cause:
            raise OptionError(f"--{cause}") from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(choice) for choice in self.option.choices if choice.startswith(incomplete)]


def option_flag(option: Option, section: str) -> Flag:
    """Return the command-line flag of a method's option, with the option's range and default in the help text."""
    limits = "" if option.choices else option.allowed_values_text
    details = [limits, f"default: {_option_default_text(option.default)}"]
    help = f"{option.help}  [{'; '.join(filter(None, details))}]"
    if option.kind is bool and not option.optional:
        names = [f"--{option.name_with_dashes}/--no-{option.name_with_dashes}", option.name]
        return Flag(names, section, default=option.default, help=help)
    metavar = f"[{'|'.join(option.choices)}]" if option.choices else METAVARS[option.kind]
    return Flag(
        [f"--{option.name_with_dashes}", option.name],
        section,
        type=OptionValue(option),
        default=option.default,
        metavar=metavar,
        help=help,
    )


def seed_flag_even_if_deterministic(method_name: str, method: type[Method]) -> Flag:
    """Return --seed: the method's own option, or a flag without effect if the method is not random."""
    for option in method.options():
        if option.name == "seed":
            return option_flag(option, GENERAL)
    help = f"no effect: {method_name} is deterministic"
    return Flag(["--seed"], GENERAL, type=int, metavar="N", expose_value=False, help=help)


def docstring_without_summary_and_examples(method: type[Method]) -> str:
    """Return a method's docstring without its first line and its examples: formula and reference."""
    paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")[1:]
    return "\n\n".join(text for text in paragraphs if not text.lstrip().startswith(">>>"))


def check_no_two_params_share_name(command_name: str, params: Sequence[click.Parameter]) -> None:
    """Raise OptionError if two parameters of a command share a name."""
    taken = {"-h", "--help"}
    for param in params:
        names = {param.name, *param.opts, *param.secondary_opts}
        if clash := names & taken:
            raise OptionError(
                f"{command_name} has two options called {sorted(clash)[0]}; rename the option of the method"
            )
        taken |= names


def _option_default_text(default: Any) -> str:
    """Return the default of an option as the help shows it."""
    if default is None or default == "" or isinstance(default, bool):
        return {None: "none", "": "none", True: "yes", False: "no"}[default]
    return f"{default:g}" if isinstance(default, float) else str(default)
