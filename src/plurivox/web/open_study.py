"""Studio: an open study of a running server or command: configuration, database engine, writer thread, reader threads."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin.check_config_against_database import raise_if_stratum_empty_or_label_renamed
from plurivox.web.store.admin.platform_studies import was_made_before_ids_were_required
from plurivox.web.store.collect.tasks_batches_quotas import (
    has_batches,
    kind_of_alphabetically_first_task,
    practice_task_ids,
    update_quotas_and_queues_if_options_changed,
)
from plurivox.web.store.database import (
    READ_OPTIONS,
    WRITE_OPTIONS,
    disable_statement_timeout_in_transaction,
    first_line_of_database_error,
    has_tables,
    migrate,
)
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report.background_alerts import Alert
from plurivox.web.store.writer_thread import Writer
from plurivox.web.study.assigner_from_config import (
    answers_per_task_assigner_and_arm_names,
    check_batches_exist_if_assigner_needs_them,
)
from plurivox.web.study.config import Study, check_aggregator_exists, read_study
from plurivox.web.study.secret_key import StudySecret, read_secret_or_create_if_no_workers
from plurivox.web.study.study_database import open_database

T = TypeVar("T")
READER_THREADS = 4
log = logging.getLogger(__name__)


@dataclass
class Studio:
    """An open study: its configuration, database, secret, writer thread and reader threads.

    Requests use `study` as read when the server started; the background thread reads study.toml again in every round.
    """

    settings: Settings
    study: Study
    keys: StudySecret
    engine: Engine
    writer: Writer
    # of the background thread, while the database cannot be written
    alerts: dict[str, Alert] = field(default_factory=dict)
    readers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(READER_THREADS, "plurivox-reader"))

    @classmethod
    def open_study(cls, settings: Settings) -> "Studio":
        """Open the study in the settings' folder, migrate its tables, start its threads; InputError if it is not writable."""
        study = read_study(settings.folder)
        check_aggregator_exists(study)
        try:
            engine = open_database(settings)
            migrate(engine)
            with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                disable_statement_timeout_in_transaction(connection)
                keys = read_secret_or_create_if_no_workers(connection, settings)
                raise_if_stratum_empty_or_label_renamed(connection, study.strata, study.labels)
                update_quotas_and_queues_if_options_changed(
                    connection, answers_per_task_assigner_and_arm_names(study, has_batches(connection))
                )
                check_batches_exist_if_assigner_needs_them(connection, study)
                study = _with_platforms_of_older_study(connection, study)
                study = study.model_copy(update={"kind": study.kind or kind_of_alphabetically_first_task(connection)})
                if not practice_task_ids(connection):
                    study = study.model_copy(update={"practice": 0})  # no practice task: skip the stage
        except OperationalError as cause:
            raise InputError(f"the database cannot be written: {first_line_of_database_error(cause)}") from cause
        except PermissionError as cause:
            raise InputError(
                f"no permission to write into {settings.folder}; a study writes into its folder at every start"
            ) from cause
        return cls(settings, study, keys, engine, Writer(engine))

    def close(self) -> None:
        """Finish the queued database writes and reads, then close the database of the study."""
        self.writer.close()
        self.readers.shutdown()
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def write(self, write_job: Callable[[Connection], T]) -> T:
        """Run a function that writes to the database in the writer thread; return its result once committed.

        Raise Unavailable after a timeout.
        """
        future = asyncio.wrap_future(self.writer.submit(write_job))
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.settings.write_seconds + 1)
        except TimeoutError:
            future.add_done_callback(lambda late: late.cancelled() or late.exception())  # no caller is left
            log.error("the database did not respond within %.0f seconds", self.settings.write_seconds)
            raise Unavailable() from None

    async def read(self, read_job: Callable[[Connection], T]) -> T:
        """Run a function that only reads the database in a reader thread; raise Unavailable if the database fails."""
        return await asyncio.get_running_loop().run_in_executor(self.readers, self.read_sync, read_job)

    def read_sync(self, read_job: Callable[[Connection], T]) -> T:
        """Run a function that only reads the database in the calling thread; raise Unavailable if the database fails."""
        try:
            with self.engine.connect().execution_options(**READ_OPTIONS) as connection:
                return read_job(connection)
        except SQLAlchemyError as cause:
            log.error("the database cannot be read: %s", first_line_of_database_error(cause))
            raise Unavailable() from cause


def _with_platforms_of_older_study(connection: Connection, study: Study) -> Study:
    """Return a study made before platforms were off by default with Prolific on, if its study.toml does not name platforms."""
    if "platforms" not in study.model_fields_set and was_made_before_ids_were_required(connection):
        return study.model_copy(update={"platforms": ["prolific"]})
    return study


def open_existing_study(settings: Settings) -> Studio:
    """Open an existing study for a command; raise InputError if its database or tables do not exist."""
    if not settings.database and not (settings.folder / "study.db").is_file():
        read_study(settings.folder)
        raise InputError(f"{settings.folder} has no study.db; give the address of its database with --database")
    if settings.database:
        read_study(settings.folder)
        engine = open_database(settings)
        try:
            if not has_tables(engine):
                place = f"its schema {settings.schema_name!r}" if settings.schema_name else "it"
                raise InputError(f"the database does not contain {settings.folder}: there are no tables in {place}")
        finally:
            engine.dispose()
    return Studio.open_study(settings)
