"""Options and arguments that know their heading in the help, and those that every command has."""

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from plurivox.core.errors import unknown

GENERAL = "General"


class Flag(click.Option):
    """An option under a heading of the help."""

    def __init__(self, names: Sequence[str], section: str, **about: Any) -> None:
        super().__init__(names, **about)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Nothing of click's own: defaults and ranges stand in our words in the help."""
        del ctx
        return {}


class Operand(click.Argument):
    """An argument with a line in the help."""

    def __init__(self, name: str, section: str, about: str, **rest: Any) -> None:
        super().__init__([name], **rest)
        self.section, self.about = section, about

    def make_metavar(self, ctx: click.Context) -> str:
        word = super().make_metavar(ctx)
        return word if self.required else f"[{word}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return self.make_metavar(ctx), self.about


class OneOf(click.ParamType[str]):
    """One of a few words; another one is answered with the nearest of them."""

    def __init__(self, kind: str, words: Sequence[str]) -> None:
        self.name, self.words = kind, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        if value not in self.words:
            raise unknown(self.name, str(value), self.words)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


JSON = Flag(["--json"], GENERAL, is_flag=True, help="answer with one JSON document")
QUIET = Flag(["--quiet", "-q"], GENERAL, is_flag=True, help="no notes, no progress, no closing line")


def _threads(promise: str) -> Flag:
    help_text = f"threads to use; {promise}  [default: all cores]"
    return Flag(["--threads"], GENERAL, type=click.IntRange(min=1), metavar="N", help=help_text)


THREADS = _threads("the answer is the same for any number")
NET_THREADS = _threads("another number may change the last digits of a net")
