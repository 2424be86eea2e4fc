"""Method and option: how a method declares itself, once.

A method is a frozen dataclass whose fields are its options. One line is an option's type, default, help, range, flag
on the command line, field in a form and row in the documents.
"""

import dataclasses
import math
import re
import types
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from plurivox.core.errors import OptionError, unknown_name


def option(default: Any, help: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field of a method with what a person must know about it. Its type says the rest."""
    return dataclasses.field(default=default, metadata={"help": help, "low": low, "high": high})


@dataclass(frozen=True)
class Option:
    """One option of a method, read off its field."""

    name: str
    kind: type  # bool, int, float or str
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False  # None is a value of its own

    @property
    def flag(self) -> str:
        """The name as typed on a command line, without the dashes before it."""
        return self.name.replace("_", "-")

    @property
    def range(self) -> str:
        """The allowed values in words, empty where everything goes."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.high is not None else ""

    def read(self, text: str) -> Any:
        """The value that a text stands for."""
        word = text.strip()
        if self.optional and word.lower() in ("none", ""):
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
            if word.lower() not in truth:
                raise OptionError(f"{self.flag} is yes or no; got {text!r}")
            return truth[word.lower()]
        try:
            return self.kind(word)
        except ValueError:
            raise OptionError(f"{self.flag} must be {_article(self.kind)}; got {text!r}") from None

    def check(self, value: Any) -> Any:
        """The value in its own type, or an error that says what it may be."""
        if value is None and self.optional:
            return None
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        given: Any = value
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise OptionError(f"{self.flag} must be {_article(self.kind)}; got {value!r}")
        if self.choices and value not in self.choices:
            raise OptionError(f"{self.flag} is one of {self.range}; got {value!r}")
        if isinstance(value, float) and math.isnan(value):
            raise OptionError(f"{self.flag} must be a number; got nan")
        if (self.low is not None and given < self.low) or (self.high is not None and given > self.high):
            raise OptionError(f"{self.flag} must be {self.range}; got {value!r}")
        return value


@dataclass(frozen=True)
class Method:
    """Frozen options and one verb. `repr(method)` is enough to make it again."""

    takes: ClassVar[frozenset[str]] = frozenset()  # what it can use beyond the bare minimum
    aliases: ClassVar[tuple[str, ...]] = ()  # other names by which users know it
    former_names: ClassVar[tuple[str, ...]] = ()  # names of older versions: understood, with a warning

    def __post_init__(self) -> None:
        for one in self.options():
            try:
                object.__setattr__(self, one.name, one.check(getattr(self, one.name)))
            except OptionError as cause:
                raise OptionError(f"{self.name()}: {cause}") from None

    @classmethod
    def name(cls) -> str:
        """The name by which it is called: that of its file, with dashes.

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
        """Its options in the order they are written."""
        hints = get_type_hints(cls)
        return tuple(_option(field, hints[field.name]) for field in dataclasses.fields(cls))

    @classmethod
    def summary(cls) -> str:
        """The first line of its docstring: also its help text."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @property
    def spec(self) -> str:
        """The method in one word, options that differ from their default in brackets.

        >>> from plurivox.aggregate import MajorityVote
        >>> MajorityVote(ties="random", seed=7).spec
        'majority-vote[ties=random,seed=7]'
        """
        differs = [o for o in self.options() if getattr(self, o.name) != o.default]
        told = [f"{o.flag}={_enclosed(str(getattr(self, o.name)))}" for o in differs]
        return self.name() + (f"[{','.join(told)}]" if told else "")

    @classmethod
    def from_options(cls, given: dict[str, Any]) -> Self:
        """The method with options given by name; texts are read as the option's type."""
        known = {o.flag: o for o in cls.options()}
        values = {}
        for flag, value in given.items():
            name = flag.replace("_", "-")
            if name not in known:
                raise unknown_name(f"option of {cls.name()} called", name, known)
            values[known[name].name] = known[name].read(value) if isinstance(value, str) else value
        return cls(**values)


def parse_spec(word: str) -> tuple[str, dict[str, str]]:
    """A method in one word as its name and its options; brackets may nest, and hold a value that is a list.

    >>> parse_spec("dawid-skene-clusters[clusters=5,seed=1]")
    ('dawid-skene-clusters', {'clusters': '5', 'seed': '1'})
    >>> parse_spec("average[parts=[wawa,iwmv[max-iter=3]]]")
    ('average', {'parts': 'wawa,iwmv[max-iter=3]'})
    """
    name, bracket, inside = word.strip().partition("[")
    if not bracket:
        return name, {}
    if not inside.endswith("]"):
        raise OptionError(f"{word!r} lacks its closing bracket; write NAME[option=value,...]")
    given: dict[str, str] = {}
    for part in split_list(inside[:-1]):
        flag, equals, value = part.partition("=")
        if not equals or not flag.strip():
            raise OptionError(f"{part!r} in {word!r} is not option=value")
        given[flag.strip()] = _opened(value.strip())
    return name.strip(), given


def split_list(text: str) -> list[str]:
    """Parts of a list at its commas, not at those inside brackets.

    >>> split_list("glad, average[parts=[a,b]]")
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


def _enclosed(value: str) -> str:
    """A value as it stands in a word: in brackets where a comma of its own would end it."""
    return f"[{value}]" if len(split_list(value)) > 1 or value.startswith("[") else value


def _opened(value: str) -> str:
    """A value as it was before it was put in brackets."""
    return value[1:-1] if value.startswith("[") and value.endswith("]") else value


def _option(field: Any, hint: Any) -> Option:
    """Read an option off a dataclass field and its type."""
    optional = False
    if get_origin(hint) in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not type(None)]
        optional, hint = len(inner) < len(get_args(hint)), inner[0]
    choices: tuple[str, ...] = get_args(hint) if get_origin(hint) is Literal else ()
    about = {name: field.metadata.get(name) for name in ("help", "low", "high")}
    assert about["help"], f"{field.name} of a method needs option(default, help)"
    return Option(field.name, str if choices else hint, field.default, choices=choices, optional=optional, **about)


def _article(kind: type) -> str:
    return {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}[kind]
