"""Options and arguments of commands: their headings in the help, those that every command has, INPUT and what is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from plurivox.core.errors import InputError, unknown_name

if TYPE_CHECKING:
    from plurivox.io import Dataset

GENERAL, IN_AND_OUT, READING = "General", "Input and output", "Reading INPUT"


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
            raise unknown_name(self.name, str(value), self.words)
        return str(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        del param, ctx
        return f"[{'|'.join(self.words)}]"

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


# ---- files


@dataclass(frozen=True)
class Source:
    """INPUT and how to read it, not read yet."""

    where: str
    how: Mapping[str, Any]  # only what was said

    def read(self) -> "Dataset":
        """The data set behind it."""
        from plurivox import io

        return io.read(self.place, **self.how)

    @property
    def place(self) -> str:
        """Where to read; a folder without a name of its own, such as `.`, by its full path."""
        return self.where if Path(self.where).name not in ("", "..") else str(Path(self.where).resolve())


def keep_apart(source: Source, *targets: Path | None) -> None:
    """Refuse to write two things to one file, or over the file that is read."""
    seen = {Path(source.where).resolve()} if Path(source.where).is_file() else set()
    for target in targets:
        if target is not None:
            if target.resolve() in seen:
                raise InputError(f"{target} is named twice; what is read and what is written need a file each")
            seen.add(target.resolve())


class Completed(click.ParamType[str]):
    """Any text; `complete` gives what the shell offers for the beginning of it."""

    def __init__(self, name: str, complete: Callable[[str], list[CompletionItem[Any]]]) -> None:
        self.name, self.complete = name, complete

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return self.complete(incomplete)


def _datasets(incomplete: str) -> list[CompletionItem[Any]]:
    """The data sets whose name begins so."""
    from plurivox.io import dataset_catalog

    return [
        CompletionItem(name, help="data set") for name in dataset_catalog.list_names() if name.startswith(incomplete)
    ]


def _files_and_datasets(incomplete: str) -> list[CompletionItem[Any]]:
    return [CompletionItem(incomplete, type="file"), *_datasets(incomplete)]


SOURCE_NAME = Completed("input", _files_and_datasets)  # a file, a folder or the name of a data set
DATASET_NAME = Completed("name", _datasets)


class OutFile(click.ParamType[Path]):
    """A file to write; its folder must be there before the work begins."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        del param, ctx
        path = Path(value)
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} for {path.name} does not exist; make it first")
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


class OutFolder(OutFile):
    """A folder to write; the one it goes into must be there."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        return path if path.is_dir() else super().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(incomplete, type="dir")]


def out_flag(help: str, *, required: bool = False, metavar: str = "FILE", folder: bool = False) -> Flag:
    """-o, --out: the file, or the folder, that a command writes."""
    return Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFolder() if folder else OutFile(),
        required=required,
        metavar=metavar,
        help=f"{help}  [required]" if required else help,
    )


class LabelList(click.ParamType[list[str]]):
    """Labels with commas between them; quotes hold a label that has a comma itself."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        import csv

        if isinstance(value, list):
            return value
        labels = [word.strip() for word in next(csv.reader([value], skipinitialspace=True), [])]
        if not labels or not all(labels):
            self.fail(f"{value!r} is no list of labels; write them with commas between: no,yes", param, ctx)
        return labels


def check_ending(path: Path, *others: str) -> None:
    """Refuse, before the work begins, a file of a form that nobody can write."""
    from plurivox.io.tabular.file_names import TABLE_SUFFIXES, suffix_of

    if suffix_of(path) not in (*TABLE_SUFFIXES, *others):
        raise InputError(f"{path} has an ending nobody knows; known are {', '.join([*TABLE_SUFFIXES, *others])}")


def pack_source(given: dict[str, Any]) -> None:
    """Put INPUT and its reading options, where the command has them, into one `source`; several into `sources`."""
    if "input" in given:
        given["source"] = Source(given.pop("input"), _pop_reading(given))
    if "inputs" in given:
        how = _pop_reading(given)
        given["sources"] = tuple(Source(where, how) for where in given.pop("inputs"))


def _pop_reading(given: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were said."""
    how = {flag.name: given.pop(flag.name) for flag in READING_FLAGS}
    return {name: value for name, value in how.items() if value is not None}


def _reading(names: str, help: str, **about: Any) -> Flag:
    return Flag([names], READING, help=help, default=None, **about)


INPUT = Operand(
    "input",
    IN_AND_OUT,
    "a file, a data-set folder, or the name of a data set (see plurivox datasets list)",
    type=SOURCE_NAME,
    metavar="INPUT",
)
PART = Flag(
    ["--part"],
    READING,
    type=OneOf("part", ("votes", "counts")),
    help="which to take where a data set has both  [default: the one that covers more tasks]",
)
GOLD = Flag(
    ["--gold"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="known labels, a table task,label  [default: those of the data set]",
)
FORCE = Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace a data-set folder that is there")
READING_FLAGS = (
    _reading("--task", "column that names the task", metavar="COLUMN"),
    _reading("--worker", "column that names the worker", metavar="COLUMN"),
    _reading("--label", "column that holds the label", metavar="COLUMN"),
    _reading("--missing", "the value that means no answer", metavar="VALUE"),
    _reading(
        "--repeats",
        "what to do when a worker answers a task again",
        type=OneOf("rule", ("keep", "first", "last", "error")),
    ),
    _reading("--labels", "all labels in their order, such as no,yes", type=LabelList(), metavar="LIST"),
    _reading("--ordered/--no-ordered", "labels are a scale, or are not"),
    _reading("--wide/--long", "a row a task and a column a worker, or a row a vote  [default: long]"),
)
