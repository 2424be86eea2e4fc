"""Studio: what a server holds while it runs (study, engine, writer, readers), and how requests reach the store."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from plurivox.core.errors import InputError
from plurivox.web.settings import Settings
from plurivox.web.store.admin.config_check import check_fit
from plurivox.web.store.collect.tasks import apply_assignment, has_batches, kind_of, practice_tasks
from plurivox.web.store.database import READS, WRITES, first_line, has_tables, migrate, take_time
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report.alerts import Alert
from plurivox.web.store.writer import Writer
from plurivox.web.study.assigner import assignment_of, check_batches
from plurivox.web.study.config import Study, check_aggregator, read_study
from plurivox.web.study.secrets import StudySecret, load_secret
from plurivox.web.study.study_database import open_database

T = TypeVar("T")
READERS = 4
log = logging.getLogger(__name__)


@dataclass
class Studio:
    """One study, its database and its secret.

    Requests use `study` as it was read when the server started; the background reads study.toml again in every round.
    """

    settings: Settings
    study: Study
    keys: StudySecret
    engine: Engine
    writer: Writer
    troubles: dict[str, Alert] = field(default_factory=dict)  # of the background, where the store cannot be written
    readers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(READERS, "plurivox-reader"))

    @classmethod
    def open(cls, settings: Settings) -> "Studio":
        """The study of a folder, its tables brought to the newest form."""
        study = read_study(settings.folder)
        check_aggregator(study)
        try:
            engine = open_database(settings)
            migrate(engine)
            with engine.connect().execution_options(**WRITES) as connection, connection.begin():
                take_time(connection)
                keys = load_secret(connection, settings)
                check_fit(connection, study.strata, study.labels)
                apply_assignment(connection, assignment_of(study, has_batches(connection)))
                check_batches(connection, study)
                study = study.model_copy(update={"kind": study.kind or kind_of(connection)})
                if not practice_tasks(connection):
                    study = study.model_copy(update={"practice": 0})  # no task is marked so: there is no such step
        except OperationalError as cause:
            raise InputError(f"the database cannot be written: {first_line(cause)}") from cause
        except PermissionError as cause:
            raise InputError(
                f"{settings.folder} may not be written to by you; a study writes into its folder at every start"
            ) from cause
        return cls(settings, study, keys, engine, Writer(engine))

    def close(self) -> None:
        """Finish what was asked for."""
        self.writer.close()
        self.readers.shutdown()
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def write(self, job: Callable[[Connection], T]) -> T:
        """The result of a job that writes, once it is on disk."""
        future = asyncio.wrap_future(self.writer.submit(job))
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.settings.write_seconds + 1)
        except TimeoutError:
            future.add_done_callback(lambda late: late.cancelled() or late.exception())  # nobody waits any more
            log.error("the database did not answer within %.0f seconds", self.settings.write_seconds)
            raise Unavailable() from None

    async def read(self, job: Callable[[Connection], T]) -> T:
        """The result of a job that only reads; a write in it raises Unavailable, and is logged as what it is."""
        return await asyncio.get_running_loop().run_in_executor(self.readers, self.look, job)

    def look(self, job: Callable[[Connection], T]) -> T:
        """The same, outside a request."""
        try:
            with self.engine.connect().execution_options(**READS) as connection:
                return job(connection)
        except SQLAlchemyError as cause:
            log.error("the database cannot be read: %s", first_line(cause))
            raise Unavailable() from cause


def opened(settings: Settings) -> Studio:
    """Open a study that is there already, for a command; close it after use (`with opened(settings) as studio`)."""
    if not settings.database and not (settings.folder / "study.db").is_file():
        read_study(settings.folder)
        raise InputError(f"{settings.folder} has no study.db; where is its database? (--database)")
    if settings.database:
        read_study(settings.folder)
        engine = open_database(settings)
        try:
            if not has_tables(engine):
                place = f"its schema {settings.schema_name!r}" if settings.schema_name else "it"
                raise InputError(f"the database does not hold {settings.folder}: there are no tables in {place}")
        finally:
            engine.dispose()
    return Studio.open(settings)
