"""Flags and arguments of the studio commands."""

import re
from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.parameters import IN_AND_OUT, Argument, Choice, Flag, LabelList, OutFile, OutFolder
from plurivox.core.errors import InputError

STUDY, SERVER = "The study", "The server"
FORMS = ("one-label", "select-top-two", "top-one", "top-two", "also-possible", "ranking", "chips", "histogram")


class PlatformStudyId(click.ParamType[str]):
    """Click type of the ID of a study at a platform; the error about another text names the flag and an ID."""

    name = "platform study ID"

    def __init__(self, thing: str, example: str, setting: str) -> None:
        self.thing, self.example, self.setting = thing, example, setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the ID; raise InputError if it has characters that no ID has."""
        del ctx
        if re.fullmatch("[A-Za-z0-9_.:@-]+", value):
            return str(value)
        flag = param.opts[0] if param else self.setting
        raise InputError(
            f"{flag} {value}: this is not the ID of a {self.thing}, which looks like {self.example}. A placeholder such as "
            f"{{{{%STUDY_ID%}}}} belongs into the address of the study there; study.toml lists IDs in {self.setting}"
        )


def _studio_new_flag(name: str, help: str, **about: Any) -> Flag:
    """Return an option of `studio new`, in the section of the study."""
    return Flag([name], STUDY, help=help, default=None, **about)


WHERE = click.Path(path_type=Path)
FOLDER = Argument("study", IN_AND_OUT, "the folder of the study", type=WHERE, metavar="STUDY")
FOLDERS = Argument(
    "study",
    IN_AND_OUT,
    "the folder of a study; several studies, or a folder of studies, are served each at /NAME/",
    type=WHERE,
    metavar="STUDY...",
    nargs=-1,
    required=True,
)
NEW_FOLDER = Argument("study", IN_AND_OUT, "folder of the new study", type=OutFolder(), metavar="STUDY")
DEMO = Argument(
    "study",
    IN_AND_OUT,
    "folder of the demo study  [default: studio-demo]",
    type=OutFolder(),
    required=False,
    metavar="STUDY",
    default=Path("studio-demo"),
)
SOURCE = Argument("source", IN_AND_OUT, "tasks to add, as --items of studio new", type=WHERE, metavar="SOURCE")
BACKUP = Argument("backup", IN_AND_OUT, "a folder written by studio backup", type=WHERE, metavar="BACKUP")
WORKER = Argument("worker", IN_AND_OUT, "pseudonym or platform id of the worker", metavar="WORKER")
OUT = Flag(
    ["-o", "--out"],
    IN_AND_OUT,
    type=OutFolder(),
    required=True,
    metavar="FOLDER",
    help="a new folder to write to  [required]",
)
FORM = Flag(
    ["--form"],
    IN_AND_OUT,
    type=Choice("form", ("parquet", "csv")),
    default="parquet",
    metavar="[parquet|csv]",
    help="file format; csv adds a prefix to text that a spreadsheet would run as a formula  [default: parquet]",
)
PAY_OUT = Flag(
    ["-o", "--out"],
    IN_AND_OUT,
    type=OutFile(),
    required=True,
    metavar="FILE",
    help="the .csv file to write  [required]",
)
WITH_IDS = Flag(
    ["--with-ids"],
    IN_AND_OUT,
    is_flag=True,
    help="write the bonuses as id,amount with platform ids, to upload to the platform",
)
GIVEN = Flag(["--answers"], IN_AND_OUT, is_flag=True, help="SOURCE is a data set; add its answers, not its tasks")
DATABASE = Flag(
    ["--database"],
    IN_AND_OUT,
    metavar="URL",
    help="postgresql://user@host/name  [default: PLURIVOX_DATABASE, or SQLite in STUDY]",
)
HOST = Flag(
    ["--host"], SERVER, default="127.0.0.1", metavar="ADDRESS", help="address to listen on  [default: 127.0.0.1]"
)
PORT = Flag(
    ["--port"],
    SERVER,
    type=click.IntRange(0, 65535),
    default=8000,
    metavar="N",
    help="port to listen on  [default: 8000]",
)
BASE = Flag(
    ["--base-url"], SERVER, metavar="URL", help="public address of the server, such as https://study.example.org"
)
PROXY = Flag(
    ["--behind-proxy"], SERVER, metavar="LIST", help="addresses of proxies whose X-Forwarded headers are trusted"
)
PROCESSES = Flag(
    ["--processes"],
    SERVER,
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="number of server processes  [default: 1]",
)
MAKE = Flag(["--only-make"], SERVER, is_flag=True, help="create the demo study, do not serve it")
NEW = [
    Flag(
        ["--items"],
        STUDY,
        type=WHERE,
        required=True,
        metavar="PATH",
        help="tasks: a folder of images or sounds, a data-set folder, a table with columns task and text (and text2 for pairs) "
        "or file, or a .txt with one text per line  [required]",
    ),
    Flag(
        ["--labels"],
        STUDY,
        type=LabelList(),
        required=True,
        metavar="LIST",
        help="labels, such as cat,dog,ship  [required]",
    ),
    _studio_new_flag(
        "--form",
        "form of the question that people answer  [default: top-two]",
        type=Choice("form", FORMS),
        metavar=f"[{'|'.join(FORMS)}]",
    ),
    _studio_new_flag(
        "--wording",
        "ask people what they think, or what others would say  [default: third]",
        type=Choice("wording", ("first", "third")),
        metavar="[first|third]",
    ),
    _studio_new_flag("--per-task", "answers wanted per task  [default: 6]", type=int, metavar="N"),
    _studio_new_flag("--batch", "tasks per sitting  [default: 25]", type=int, metavar="N"),
    _studio_new_flag("--repeats", "tasks shown twice in a sitting  [default: 0]", type=int, metavar="N"),
    _studio_new_flag("--sittings", "batches that one person may answer  [default: 1]", type=int, metavar="N"),
    _studio_new_flag("--strata", "tasks of each stratum in a batch, such as hard=22,easy=3", metavar="LIST"),
    _studio_new_flag(
        "--batches",
        'fixed batches: a table with columns batch and task, or JSON such as {"b0": ["task1", "task2"]}',
        type=WHERE,
        metavar="FILE",
    ),
    _studio_new_flag("--title", "title of the study, shown above the tasks", metavar="TEXT"),
    _studio_new_flag(
        "--prolific",
        "admit people of this study at Prolific, can be repeated  [default: by invitation only]",
        type=PlatformStudyId("study at Prolific", "64f1c2d3e4a5b6c7d8e9f0a1", "prolific_studies"),
        multiple=True,
        metavar="STUDY_ID",
    ),
    _studio_new_flag(
        "--mturk",
        "admit workers of this HIT at MTurk, can be repeated  [default: by invitation only]",
        type=PlatformStudyId("HIT at MTurk", "3XH7ZM9YX2VAVOD5YB0RPQZLPNAR92", "mturk_hits"),
        multiple=True,
        metavar="HIT_ID",
    ),
]
DATABASES = Flag(
    ["--database"],
    IN_AND_OUT,
    multiple=True,
    metavar="URL",
    help="postgresql://user@host/name, in which each of several studies has its own schema; or NAME=URL for one study, "
    "can be repeated  [default: PLURIVOX_DATABASE, or SQLite in STUDY]",
)
SERVE = [DATABASES, HOST, PORT, BASE, PROXY, PROCESSES]
