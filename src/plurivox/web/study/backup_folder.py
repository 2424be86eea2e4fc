"""Backup and restore of a study folder with its database."""

import shutil
from pathlib import Path

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError
from plurivox.web.settings import Settings
from plurivox.web.store.admin.backup import copy_database
from plurivox.web.study.config import STUDY, read_study
from plurivox.web.study.secrets import FILE as SECRET
from plurivox.web.study.study_database import open_database


def back_up(settings: Settings, out: Path) -> dict[str, int]:
    """study.toml, secret and all tables, as they are at this moment, into a new folder; from either kind of database."""
    read_study(settings.folder)
    source = open_database(settings)
    with atomic_folder(out) as part:
        target = open_database(Settings(folder=part, database=""))
        try:
            counts = copy_database(source, target)
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
    with atomic_folder(settings.folder) as part:
        _carry(backup, part)
        inside = settings.model_copy(update={"folder": part})
        source, target = open_database(Settings(folder=backup, database="")), open_database(inside)
        try:
            return copy_database(source, target)
        finally:
            source.dispose()
            target.dispose()


def _carry(source: Path, target: Path) -> None:
    """study.toml as it is, and the secret, which only its owner may read."""
    shutil.copyfile(source / STUDY, target / STUDY)
    (target / SECRET).touch(0o600)
    shutil.copyfile(source / SECRET, target / SECRET)
