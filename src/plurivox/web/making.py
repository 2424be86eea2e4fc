"""Make a study: its folder, its study.toml, its tasks in a database."""

import logging
import shutil
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import get_args

from sqlalchemy.exc import DBAPIError

from plurivox.core.errors import InputError
from plurivox.core.files import whole_folder
from plurivox.web.context import Studio
from plurivox.web.importing import read_batches, read_tasks
from plurivox.web.keys import FILE as SECRET
from plurivox.web.keys import Keys
from plurivox.web.settings import Settings
from plurivox.web.store.copying import copy
from plurivox.web.store.database import WRITES, first_line, has_tables, migrate, open_engine, take_time
from plurivox.web.store.fitting import check_fit
from plurivox.web.store.items import NewTask, add_tasks, count_tasks, fix_batches
from plurivox.web.store.people import fact
from plurivox.web.study import STUDY, Study, read_study
from plurivox.web.telling import BEFORE, HEAD, QUIZ, key_of, written
from plurivox.web.wordings import Form, Kind

logging.getLogger("alembic").setLevel(logging.WARNING)
HINTS = {
    "form": ", ".join(get_args(Form)),
    "forms": "two or more: each person is asked in one of them, drawn at random; or [[arm]] with form, wording, share",
    "wording": "first or third person: what do you think, or what would 100 others say",
    "kind": f"what tasks are ({', '.join(get_args(Kind))}): the words of the task page follow",
    "chips": "of the form chips: how many there are; each is 100 / chips percent",
    "per_task": "answers wanted for every task, each of another person",
    "batch": "tasks in a sitting; strata, where there are any, say it instead",
    "repeats": "tasks of a sitting that come again in it, as a check of consistency",
    "sittings": "how many batches one person may answer",
    "practice": "practice tasks, of those that the items mark so in a column practice; without any, the page is left out",
    "assign": "quota, strata, batches or next-best, as 'plurivox assign' tells; empty: what fits the rest",
    "token_days": "a person who was away for longer needs the personal link to go on",
    "lease_minutes": "after so long without an answer, open slots go to others",
    "aggregator": "of the owner's pages; empty: the mean of the soft answers",
    "frame_ancestors": "https:// addresses of platforms that may show the pages in a frame",
    "completion.redirect": "https://app.prolific.com/submissions/complete; the code is added as cc=",
    "completion.failed": "the code of who failed the check or was excluded",
    "completion.full": "the code of who found no task left",
    "pay.base": "for taking part",
    "pay.per_hour": "the paper paid 8, and a bonus_per_hour of 1 to who always matched others",
    "pay.bonus_per_hour": "times the share of answers whose top label is also that of most others",
    "pay.time": "active, or total: from the first page to the last, pauses too",
    "pay.most_minutes": "time beyond this is not paid; 0: all is",
    "pay.least_answers": "who gave fewer is paid nothing",
    "pay.excluded": "without-bonus or nothing",
    "exclude.rules": "rules of plurivox clean, such as attention-checks[at_most=1], too-fast[share=0.3]",
    "exclude.least_answers": "nobody is judged by fewer answers",
    "exclude.quiz_tries": "who fails the check so often is out; 0: may try for ever",
    "platforms": "whose links let people in: prolific, mturk",
    "submit_early": "whether a sound may be answered before it was heard to the end",
    "title": "what people see above the tasks; empty: the name",
    "labels": "more may be added later; none can be renamed once answers name it",
    "image_pixels": "smaller images are enlarged to this",
    "too_fast_seconds": "answers faster than this are flagged",
}
PARTS = ("strata", "texts", "completion", "pay", "exclude", "phrase")


def study_text(study: Study) -> str:
    """A study as a file that people can read and edit.

    >>> print(study_text(Study(name="pets", labels=["cat", "dog"])).splitlines()[2])
    name = "pets"
    """
    values = study.model_dump(mode="json")
    parts = {name: values.pop(name) for name in (*PARTS, "quiz", "arm")}
    lines = [HEAD]
    for name, value in values.items():
        hint = f"  # {HINTS[name]}" if name in HINTS else ""
        lines.append(f"{name} = {written(value)}{hint}")
    for name in PARTS:
        lines += ["", *BEFORE.get(name, []), f"[{name}]"]
        for key, value in parts[name].items():
            hint = f"  # {HINTS[f'{name}.{key}']}" if f"{name}.{key}" in HINTS else ""
            lines.append(f"{key_of(key)} = {written(value)}{hint}")
    for name in ("quiz", "arm"):
        for one in parts[name]:
            lines += ["", f"[[{name}]]", *(f"{key} = {written(value)}" for key, value in one.items())]
    return "\n".join(lines + ([] if parts["quiz"] else QUIZ)) + "\n"


def make_study(
    settings: Settings, study: Study, new: Iterable[NewTask], batches: Mapping[str, list[str]] | None = None
) -> int:
    """A new folder with study.toml, secret and, for SQLite, the database; how many tasks, practice not counted."""
    if (settings.folder / STUDY).exists():
        raise InputError(f"{settings.folder} holds a study already; choose another folder")
    with whole_folder(settings.folder) as part:
        (part / STUDY).write_text(study_text(study), encoding="utf-8")
        Keys.of(part)
        inside = settings.model_copy(update={"folder": part})
        return fill(inside, study, new, batches, is_new=True)


def fill(
    settings: Settings,
    study: Study,
    new: Iterable[NewTask],
    batches: Mapping[str, list[str]] | None = None,
    *,
    is_new: bool = False,
) -> int:
    """Put tasks, and fixed batches of them, into the database of a study."""
    engine = open_engine(settings)
    try:
        migrate(engine)
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            take_time(connection)
            if is_new and fact(connection, "applied") is not None:
                raise InputError(
                    "the database holds a study already; give this one a schema of its own: "
                    f"--database 'postgresql://...?schema={study.name}'"
                )
            add_tasks(connection, study, new)
            check_fit(connection, study)
            if batches and not fact(connection, "plans"):
                fix_batches(connection, study, batches)
            if not (n := count_tasks(connection)):
                raise InputError("there is no task to ask about; give items that are not all practice")
            return n
    except DBAPIError as cause:  # the disk is full, say
        raise InputError(f"the tasks cannot be written, and none was: {first_line(cause)}") from cause
    finally:
        engine.dispose()


def new_study(settings: Settings, study: Study, items: Path, batches: Path | None = None) -> int:
    """A study on the tasks of a file or folder."""
    tasks = read_tasks(items, study)
    if first := next(tasks, None):
        study = study.model_copy(update={"kind": study.kind or first.kind})
        tasks = chain([first], tasks)
    return make_study(settings, study, tasks, None if batches is None else read_batches(batches))


# ---- backup and restore


def back_up(settings: Settings, out: Path) -> dict[str, int]:
    """study.toml, secret and all tables, as they are at this moment, into a new folder; from either kind of database."""
    read_study(settings.folder)
    source = open_engine(settings)
    with whole_folder(out) as part:
        target = open_engine(Settings(folder=part, database=""))
        try:
            counts = copy(source, target)
            with target.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            source.dispose()
            target.dispose()
        _carry(settings.folder, part)
        for file in part.glob("study.db.*"):
            file.unlink()
    return counts


def restore(backup: Path, settings: Settings) -> dict[str, int]:
    """A backup into a new folder, and into the database named or a new SQLite one."""
    read_study(backup)
    if (settings.folder / STUDY).exists():
        raise InputError(f"{settings.folder} holds a study already; restore into a new folder")
    with whole_folder(settings.folder) as part:
        _carry(backup, part)
        inside = settings.model_copy(update={"folder": part})
        source, target = open_engine(Settings(folder=backup, database="")), open_engine(inside)
        try:
            return copy(source, target)
        finally:
            source.dispose()
            target.dispose()


def _carry(source: Path, target: Path) -> None:
    """study.toml as it is, and the secret, which only its owner may read."""
    shutil.copyfile(source / STUDY, target / STUDY)
    (target / SECRET).touch(0o600)
    shutil.copyfile(source / SECRET, target / SECRET)


def opened(settings: Settings) -> Studio:
    """A study that is there, for a command."""
    if not settings.database and not (settings.folder / "study.db").is_file():
        read_study(settings.folder)
        raise InputError(f"{settings.folder} has no study.db; where is its database? (--database)")
    if settings.database:
        read_study(settings.folder)
        engine = open_engine(settings)
        try:
            if not has_tables(engine):
                place = f"its schema {settings.schema_name!r}" if settings.schema_name else "it"
                raise InputError(f"the database does not hold {settings.folder}: there are no tables in {place}")
        finally:
            engine.dispose()
    return Studio.open(settings)
