"""Options and arguments of the commands: sections of the help, shared options, INPUT and its reading options, output files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from plurivox.core.errors import InputError, unknown_name_error

if TYPE_CHECKING:
    from plurivox.io import Dataset

GENERAL, IN_AND_OUT, READING = "General", "Input and output", "Reading INPUT"


class Flag(click.Option):
    """Click option that is listed in a section of the help."""

    def __init__(self, names: Sequence[str], section: str, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return {}, so that click appends nothing to the help of an option: its text already contains default and range."""
        del ctx
        return {}


class Argument(click.Argument):
    """Click argument with a line of help text."""

    def __init__(self, name: str, section: str, help: str, **settings: Any) -> None:
        super().__init__([name], **settings)
        self.section, self.help_text = section, help

    def make_metavar(self, ctx: click.Context) -> str:
        metavar = super().make_metavar(ctx)
        return metavar if self.required else f"[{metavar}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return self.make_metavar(ctx), self.help_text


class Choice(click.ParamType[str]):
    """Click type of a value out of `choices`; for another value the error suggests the most similar choice."""

    def __init__(self, kind: str, choices: Sequence[str]) -> None:
        self.name, self.choices = kind, choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        if value not in self.choices:
            raise unknown_name_error(self.name, str(value), self.choices)
        return str(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        del param, ctx
        return f"[{'|'.join(self.choices)}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(choice) for choice in self.choices if choice.startswith(incomplete)]


JSON = Flag(["--json"], GENERAL, is_flag=True, help="print the result as one JSON document")
QUIET = Flag(["--quiet", "-q"], GENERAL, is_flag=True, help="print no notes, no progress bar and no closing line")


def _threads_flag(effect_on_result: str) -> Flag:
    """Return the option --threads; its help says whether the number of threads changes the result."""
    help_text = f"number of threads; {effect_on_result}  [default: all cores]"
    return Flag(["--threads"], GENERAL, type=click.IntRange(min=1), metavar="N", help=help_text)


THREADS = _threads_flag("the result does not depend on it")
NET_THREADS = _threads_flag("it may change the last digits of a network's output")


# ---- files


@dataclass(frozen=True)
class Source:
    """INPUT of a command as typed, with the options on how to read it; `read_dataset()` reads it."""

    name: str  # a file, a folder or the name of a data set, as typed
    read_options: Mapping[str, Any]  # only the options that were given

    def read_dataset(self) -> "Dataset":
        """Read the input file, folder or installed data set and return it as a Dataset."""
        from plurivox import io

        return io.read(self.path_or_dataset_to_read, **self.read_options)

    @property
    def path_or_dataset_to_read(self) -> str:
        """The file, folder or data set to read; `.` and `..` as full paths, because the data set is named after its folder."""
        return self.name if Path(self.name).name not in ("", "..") else str(Path(self.name).resolve())


def check_distinct_files(source: Source, *targets: Path | None) -> None:
    """Raise InputError if two of `targets` are the same file, or one of them is the file to read."""
    taken = {Path(source.name).resolve()} if Path(source.name).is_file() else set()
    for target in targets:
        if target is not None:
            if target.resolve() in taken:
                raise InputError(f"{target} is given twice; choose different files for the input and for every output")
            taken.add(target.resolve())


class TextWithCompletion(click.ParamType[str]):
    """Click type of any text; `complete(prefix)` returns the completions that a shell offers."""

    def __init__(self, name: str, complete: Callable[[str], list[CompletionItem[Any]]]) -> None:
        self.name, self.complete = name, complete

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return self.complete(incomplete)


def _complete_dataset_name(incomplete: str) -> list[CompletionItem[Any]]:
    """Return the installed data sets whose names start with `incomplete`."""
    from plurivox.io import dataset_catalog

    return [
        CompletionItem(name, help="data set")
        for name in dataset_catalog.list_dataset_names()
        if name.startswith(incomplete)
    ]


def complete_file_or_dataset(incomplete: str) -> list[CompletionItem[Any]]:
    """Return completions of a file, or of the name of an installed data set."""
    return [CompletionItem(incomplete, type="file"), *_complete_dataset_name(incomplete)]


class InputName(TextWithCompletion):
    """Click type of an input: a file, a folder, the name of a data set, or - for standard input."""


SOURCE_NAME = InputName("input", complete_file_or_dataset)
DATASET_NAME = TextWithCompletion("name", _complete_dataset_name)


class OutFile(click.ParamType[Path]):
    """Click type of a file to write; raises InputError if its folder does not exist.

    `-` is standard output, to which the file is written in the format of `stdout_suffix`; with "" it is an error.
    """

    name = "file"

    def __init__(self, stdout_suffix: str = ".csv") -> None:
        self.stdout_suffix = stdout_suffix

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        del param, ctx
        path = Path(value)
        if path.is_dir():
            raise InputError(f"{path} is a folder; give the path of a file")
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} for {path.name} does not exist; create it first")
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


class OutFolder(OutFile):
    """Click type of a folder to write; raises InputError if its parent folder does not exist."""

    name = "folder"

    def __init__(self, stdout_suffix: str = "") -> None:
        super().__init__(stdout_suffix)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        return path if path.is_dir() else super().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
        del ctx, param
        return [CompletionItem(incomplete, type="dir")]


def out_flag(
    help: str, *, required: bool = False, metavar: str = "FILE", folder: bool = False, stdout_suffix: str | None = None
) -> Flag:
    """Return the option -o/--out: the file, or the folder, that a command writes.

    `stdout_suffix` is the format in which `-o -` writes to standard output: .csv for a file, none ("") for a folder by default.
    """
    kind = OutFolder if folder else OutFile
    return Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=kind() if stdout_suffix is None else kind(stdout_suffix),
        required=required,
        metavar=metavar,
        help=f"{help}  [required]" if required else help,
    )


class LabelList(click.ParamType[list[str]]):
    """Click type of a comma-separated list of labels; a label that contains a comma is quoted."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        import csv

        if isinstance(value, list):
            return value
        labels = [label.strip() for label in next(csv.reader([value], skipinitialspace=True), [])]
        if not labels or not all(labels):
            self.fail(f"{value!r} is not a comma-separated list of labels, such as no,yes", param, ctx)
        return labels


def _join_worker_columns(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str | list[str] | None:
    """Return the worker column, or the list of worker columns of a wide table (comma-separated or repeated option)."""
    columns = [name for text in given for name in (LabelList().convert(text, param, ctx) if text else [text])]
    return columns if len(columns) > 1 else next(iter(columns), None)


def check_table_file_type(path: Path, *other_allowed_types: str) -> None:
    """Raise InputError if `path` is neither a table file (.csv, .parquet, ...) nor of one of `other_allowed_types`."""
    from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix

    if file_suffix(path) not in (*TABLE_SUFFIXES, *other_allowed_types):
        raise InputError(f"unsupported file type of {path}; use {', '.join([*TABLE_SUFFIXES, *other_allowed_types])}")


def replace_input_by_source(param_values: dict[str, Any]) -> None:
    """Replace INPUT and its reading options in `param_values`, in place, by one Source `source`, or several by `sources`.

    An INPUT that may be left out, and is, is the Source with the name "".
    """
    if "input" in param_values:
        param_values["source"] = Source(param_values.pop("input") or "", _pop_reading_options(param_values))
    if "inputs" in param_values:
        read_options = _pop_reading_options(param_values)
        param_values["sources"] = tuple(Source(name, read_options) for name in param_values.pop("inputs"))


def _pop_reading_options(param_values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options on how to read INPUT from `param_values`; return those that the user set."""
    options = {flag.name: param_values.pop(flag.name, None) for flag in READING_FLAGS}
    return {name: value for name, value in options.items() if value is not None}


def _input_reading_flag(name: str, help: str, **click_settings: Any) -> Flag:
    """Return an option on how to read INPUT, listed in its section of the help."""
    return Flag([name], READING, help=help, default=None, **click_settings)


INPUT = Argument(
    "input",
    IN_AND_OUT,
    "a file, a data-set folder, the name of a data set (see plurivox datasets list), or - for standard input",
    type=SOURCE_NAME,
    metavar="INPUT",
)
PART = Flag(
    ["--part"],
    READING,
    type=Choice("part", ("votes", "counts")),
    help="use votes or counts, if a data set has both  [default: the one that covers more tasks]",
)
GOLD = Flag(
    ["--gold"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="gold labels: a table with the columns task,label  [default: those of the data set]",
)
FORCE = Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace an existing data-set folder")
READING_FLAGS = (
    _input_reading_flag("--task", "column with the task  [default: found by its name]", metavar="COLUMN"),
    _input_reading_flag(
        "--worker",
        "column with the worker; for a wide table its worker columns, such as ann,bo  [default: found by its name]",
        multiple=True,
        callback=_join_worker_columns,
        metavar="COLUMN",
    ),
    _input_reading_flag(
        "--label",
        "column with the label, or one of several questions of an export  [default: found by its name]",
        metavar="COLUMN",
    ),
    _input_reading_flag(
        "--missing", "value that means no answer; '': none does  [default: empty cells, NA, ...]", metavar="VALUE"
    ),
    _input_reading_flag(
        "--repeats",
        "if a worker answered a task more than once: keep all, use the first or the last, or stop with an error",
        type=Choice("rule", ("keep", "first", "last", "error")),
    ),
    _input_reading_flag("--labels", "all labels in order, such as no,yes", type=LabelList(), metavar="LIST"),
    _input_reading_flag("--ordered/--no-ordered", "labels are ordered (a scale), or are not"),
    _input_reading_flag("--sheet", "sheet of an Excel workbook  [default: the first with a table]", metavar="NAME"),
    _input_reading_flag(
        "--wide/--long",
        "table layout: one row per task and one column per worker, or one row per vote  [default: recognised]",
    ),
)
