"""Method: base class of all algorithms, a frozen dataclass whose fields are its options; parse method specs.

One line declares an option's type, default, help and range, and from it the command-line flag, the form field and the row
in the documentation.
"""

import dataclasses
import math
import re
import types
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from plurivox.core.errors import OptionError, unknown_name_error


def option(default: Any, help: str, *, low: float | None = None, high: float | None = None) -> Any:
    """Return a dataclass field that declares an option of a method: default, help text and allowed range."""
    return dataclasses.field(default=default, metadata={"help": help, "low": low, "high": high})


@dataclass(frozen=True)
class Option:
    """Description of one option of a method: name, type, default, help, allowed values."""

    name: str
    kind: type  # bool, int, float or str
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False  # None is allowed

    @property
    def name_with_dashes(self) -> str:
        """The name of the option as typed on the command line, with dashes inside, without the leading dashes."""
        return self.name.replace("_", "-")

    @property
    def allowed_values_text(self) -> str:
        """The allowed values of the option as text, such as "at least 1"; empty if there is no limit."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.high is not None else ""

    def convert_text_to_option_type(self, text: str) -> Any:
        """Convert the text of an option value to the type of the option. Raise OptionError if that
        fails; do not check the range.
        """
        stripped = text.strip()
        if self.optional and stripped.lower() in ("none", ""):
            return None
        if self.kind is bool:
            truth = {
                "true": True,
                "yes": True,
                "1": True,
                "on": True,
                "false": False,
                "no": False,
                "0": False,
                "off": False,
            }
            if stripped.lower() not in truth:
                raise OptionError(f"{self.name_with_dashes} must be yes or no; got {text!r}")
            return truth[stripped.lower()]
        try:
            return self.kind(stripped)
        except ValueError:
            raise OptionError(f"{self.name_with_dashes} must be {_type_description(self.kind)}; got {text!r}") from None

    def check_and_convert_option_value(self, value: Any) -> Any:
        """Return an option value, an int converted to float for a float option. Raise OptionError
        if its type or range is wrong.
        """
        if value is None and self.optional:
            return None
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        given: Any = value
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise OptionError(f"{self.name_with_dashes} must be {_type_description(self.kind)}; got {value!r}")
        if self.choices and value not in self.choices:
            raise OptionError(f"{self.name_with_dashes} must be one of {self.allowed_values_text}; got {value!r}")
        if isinstance(value, float) and math.isnan(value):
            raise OptionError(f"{self.name_with_dashes} must be a number; got nan")
        if (self.low is not None and given < self.low) or (self.high is not None and given > self.high):
            raise OptionError(f"{self.name_with_dashes} must be {self.allowed_values_text}; got {value!r}")
        return value


@dataclass(frozen=True)
class Method:
    """Base class of all methods (aggregators, identifiers, ...): a frozen dataclass whose fields
    are the options of the method.
    """

    takes: ClassVar[frozenset[str]] = frozenset()  # optional inputs that the method supports, such as "gold"
    aliases: ClassVar[tuple[str, ...]] = ()  # other accepted names
    former_names: ClassVar[tuple[str, ...]] = ()  # names in older versions: accepted with a warning

    def __post_init__(self) -> None:
        for one in self.options():
            try:
                object.__setattr__(self, one.name, one.check_and_convert_option_value(getattr(self, one.name)))
            except OptionError as cause:
                raise OptionError(f"{self.name()}: {cause}") from None

    @classmethod
    def name(cls) -> str:
        """Return the method's name in specs and commands: its file name with dashes.

        >>> class FastDawidSkene(Method): ...
        >>> FastDawidSkene.name()
        'fast-dawid-skene'
        """
        file = cls.__module__.rpartition(".")[2]
        if file.replace("_", "") == cls.__name__.lower():
            return file.replace("_", "-")
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """Return descriptions (Option) of the options of the method, in the order of its dataclass fields."""
        hints = get_type_hints(cls)
        return tuple(_option_from_field(field, hints[field.name]) for field in dataclasses.fields(cls))

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the method's docstring, which is also its help text."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @property
    def spec(self) -> str:
        """The method with its options as text: NAME[option=value,...], only options that differ from their default.

        >>> from plurivox.aggregate import MajorityVote
        >>> MajorityVote(ties="random", seed=7).spec
        'majority-vote[ties=random,seed=7]'
        """
        differs = [o for o in self.options() if getattr(self, o.name) != o.default]
        given_options = [f"{o.name_with_dashes}={_add_brackets_if_list(str(getattr(self, o.name)))}" for o in differs]
        return self.name() + (f"[{','.join(given_options)}]" if given_options else "")

    @classmethod
    def from_options(cls, option_values: dict[str, Any]) -> Self:
        """Create a method object from option values by option name; texts are parsed. Raise
        UnknownName for an unknown option.
        """
        known = {o.name_with_dashes: o for o in cls.options()}
        values = {}
        for flag, value in option_values.items():
            name = flag.replace("_", "-")
            if name not in known:
                raise unknown_name_error(f"option of {cls.name()} called", name, known)
            values[known[name].name] = (
                known[name].convert_text_to_option_type(value) if isinstance(value, str) else value
            )
        return cls(**values)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split a spec NAME[option=value,...] into (name, options). Raise OptionError if it is malformed.

    Brackets may be nested; a value that is a list is in brackets.

    >>> parse_spec("dawid-skene-clusters[clusters=5,seed=1]")
    ('dawid-skene-clusters', {'clusters': '5', 'seed': '1'})
    >>> parse_spec("average[parts=[wawa,iwmv[max-iter=3]]]")
    ('average', {'parts': 'wawa,iwmv[max-iter=3]'})
    """
    name, bracket, inside = spec.strip().partition("[")
    if not bracket:
        return name, {}
    if not inside.endswith("]"):
        raise OptionError(f"{spec!r} lacks the closing bracket; write NAME[option=value,...]")
    given: dict[str, str] = {}
    for part in split_at_commas_outside_brackets(inside[:-1]):
        flag, equals, value = part.partition("=")
        if not equals or not flag.strip():
            raise OptionError(f"{part!r} in {spec!r} is not option=value")
        given[flag.strip()] = _strip_brackets(value.strip())
    return name.strip(), given


def split_at_commas_outside_brackets(text: str) -> list[str]:
    """Split a text into a list at its commas, except those inside square brackets; drop empty parts.

    >>> split_at_commas_outside_brackets("glad, average[parts=[a,b]]")
    ['glad', 'average[parts=[a,b]]']
    """
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _add_brackets_if_list(value: str) -> str:
    """Return an option value as written in a method spec: in square brackets if it is a list with commas."""
    return f"[{value}]" if len(split_at_commas_outside_brackets(value)) > 1 or value.startswith("[") else value


def _strip_brackets(value: str) -> str:
    """Return an option value from a method spec without the square brackets around it, if there are any."""
    return value[1:-1] if value.startswith("[") and value.endswith("]") else value


def _option_from_field(field: Any, hint: Any) -> Option:
    """Return the Option that a dataclass field and its type hint declare."""
    optional = False
    if get_origin(hint) in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not type(None)]
        optional, hint = len(inner) < len(get_args(hint)), inner[0]
    choices: tuple[str, ...] = get_args(hint) if get_origin(hint) is Literal else ()
    about = {name: field.metadata.get(name) for name in ("help", "low", "high")}
    assert about["help"], f"{field.name} of a method needs option(default, help)"
    return Option(field.name, str if choices else hint, field.default, choices=choices, optional=optional, **about)


def _type_description(kind: type) -> str:
    """Return the name of an option type for messages, such as "a whole number"."""
    return {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}[kind]
