"""Create a study folder with its database, and add tasks and answers to it."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from plurivox.core.answers import Answers
from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError
from plurivox.io.tabular.batch_files import read_task_names_by_batch
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin import import_answers
from plurivox.web.store.admin.check_config_against_database import raise_if_stratum_empty_or_label_renamed
from plurivox.web.store.collect.tasks_batches_quotas import (
    NewTask,
    add_tasks,
    count_tasks_without_practice,
    has_batches,
    has_tasks,
    insert_fixed_batches,
)
from plurivox.web.store.database import (
    WRITE_OPTIONS,
    disable_statement_timeout_in_transaction,
    first_line_of_database_error,
    migrate,
)
from plurivox.web.study.assigner_from_config import answers_per_task_assigner_and_arm_names
from plurivox.web.study.config import STUDY, Study
from plurivox.web.study.read_task_and_answer_files import read_tasks
from plurivox.web.study.secret_key import StudySecret
from plurivox.web.study.study_database import open_database
from plurivox.web.study.study_toml_writer import render_study_toml


def make_study(
    settings: Settings, study: Study, tasks: Iterable[NewTask], batches: Mapping[str, list[str]] | None = None
) -> int:
    """Create a study folder with study.toml, secret key and database; return the number of tasks without practice tasks."""
    if (settings.folder / STUDY).exists():
        raise InputError(f"{settings.folder} already contains a study; choose another folder")
    with atomic_folder(settings.folder) as part:
        (part / STUDY).write_text(render_study_toml(study), encoding="utf-8")
        StudySecret.read_or_create_secret(part)
        inside = settings.model_copy(update={"folder": part})
        return insert_tasks_and_batches(inside, study, tasks, batches, is_new=True)


def insert_tasks_and_batches(
    settings: Settings,
    study: Study,
    tasks: Iterable[NewTask],
    batches: Mapping[str, list[str]] | None = None,
    *,
    is_new: bool = False,
) -> int:
    """Insert tasks, and fixed batches of them, into the database of a study; return the number of tasks it then has."""
    engine = open_database(settings)
    try:
        migrate(engine)
        with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            disable_statement_timeout_in_transaction(connection)
            if is_new and has_tasks(connection):
                raise InputError(
                    "the database already contains a study; use a separate schema for this one: "
                    f"--database 'postgresql://...?schema={study.name}'"
                )
            add_tasks(connection, answers_per_task_assigner_and_arm_names(study, has_batches(connection)), tasks)
            raise_if_stratum_empty_or_label_renamed(connection, study.strata, study.labels)
            if batches and not has_batches(connection):
                insert_fixed_batches(
                    connection, answers_per_task_assigner_and_arm_names(study, has_batches=True), batches
                )
            if not (n := count_tasks_without_practice(connection)):
                raise InputError("there are no tasks besides practice tasks; add items that are not marked as practice")
            return n
    except DBAPIError as cause:  # for example, the disk is full
        raise InputError(
            f"the tasks could not be written, no task was added: {first_line_of_database_error(cause)}"
        ) from cause
    finally:
        engine.dispose()


def make_study_from_files(
    settings: Settings, study: Study, items_file_or_folder: Path, batches_file: Path | None = None
) -> int:
    """Create a study with the tasks of a file or folder; return the number of tasks without practice tasks."""
    tasks = read_tasks(items_file_or_folder, study)
    if first := next(tasks, None):
        study = study.model_copy(update={"kind": study.kind or first.kind_of_task_from_content})
        tasks = chain([first], tasks)
    return make_study(settings, study, tasks, None if batches_file is None else read_task_names_by_batch(batches_file))


def import_answers_collected_elsewhere(
    connection: Connection, study: Study, keys: StudySecret, answers: Answers, first_pick_time_fraction: float = 0.0
) -> int:
    """Import answers collected elsewhere into a study; return their number.

    With `first_pick_time_fraction`, an event is added: the first label was picked after this fraction of the answer's time.
    """
    if study.arms:
        raise InputError("imported answers have no arm; import them into a study with one form")
    pseudonyms = [keys.pseudonym(f"import {name}") for name in answers.workers.tolist()]
    return import_answers.insert_imported_answers_and_return_count(
        connection, answers, pseudonyms, study.form, first_pick_time_fraction
    )
