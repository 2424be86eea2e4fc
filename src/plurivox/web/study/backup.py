"""Backup and restore of a study folder with its database."""

import shutil
from pathlib import Path

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin.database_copy import copy_study_and_count_rows_by_table
from plurivox.web.study.config import STUDY, read_study
from plurivox.web.study.secret_key import FILE as SECRET
from plurivox.web.study.study_database import open_database


def back_up_study_and_count_rows(settings: Settings, new_folder: Path) -> dict[str, int]:
    """Copy study.toml, secret and a snapshot of all tables into `new_folder`; return the row count of each table."""
    read_study(settings.folder)
    source = open_database(settings)
    with atomic_folder(new_folder) as part:
        target = open_database(Settings(folder=part, database=""))
        try:
            counts = copy_study_and_count_rows_by_table(source, target)
            with target.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            source.dispose()
            target.dispose()
        _copy_config_and_secret(settings.folder, part)
        for file in part.glob("study.db.*"):
            file.unlink()
    return counts


def restore_study_and_count_rows(backup_folder: Path, settings: Settings) -> dict[str, int]:
    """Restore a backup into a new folder and the database of `settings`; return the row count of each table."""
    read_study(backup_folder)
    if (settings.folder / STUDY).exists():
        raise InputError(f"{settings.folder} already contains a study; restore into a new folder")
    with atomic_folder(settings.folder) as part:
        _copy_config_and_secret(backup_folder, part)
        inside = settings.model_copy(update={"folder": part})
        source, target = open_database(Settings(folder=backup_folder, database="")), open_database(inside)
        try:
            return copy_study_and_count_rows_by_table(source, target)
        finally:
            source.dispose()
            target.dispose()


def _copy_config_and_secret(source: Path, target: Path) -> None:
    """Copy study.toml and the secret key from one folder to another; only the user may read the copy of the key."""
    shutil.copyfile(source / STUDY, target / STUDY)
    (target / SECRET).touch(0o600)
    shutil.copyfile(source / SECRET, target / SECRET)
