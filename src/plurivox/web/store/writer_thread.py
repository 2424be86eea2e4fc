"""One thread writes: what many requests ask for at once goes to disk in one commit, and only then are they told."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from plurivox.web.store.database import WRITE_OPTIONS, database_message
from plurivox.web.store.errors import Unavailable

T = TypeVar("T")
Job = Callable[[Connection], T]
MAX_BATCH = 128  # jobs in one commit
MAX_TRIES = 3  # of a job that another server got in the way of
log = logging.getLogger(__name__)


class Writer:
    """Runs jobs in order, each in a savepoint of its own, many in one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: SimpleQueue[tuple[Job[Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="plurivox-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[T]) -> Future[T]:
        """The job's result, once it is on disk."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Finish what was asked for, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch = [first]
            ends = False
            while len(batch) < MAX_BATCH and not ends:
                try:
                    further = self._jobs.get_nowait()
                except Empty:
                    break
                ends = further is None
                if further is not None:
                    batch.append(further)
            self._commit([one for one in batch if one[1].set_running_or_notify_cancel()])
            if ends:
                return

    def _commit(self, batch: list[tuple[Job[Any], Future[Any]]], tries: int = MAX_TRIES) -> None:
        """All or, where the database objects to the whole, one by one."""
        if not batch:
            return
        try:
            results = self._transact([job for job, _ in batch])
        except Exception as cause:  # noqa: BLE001 - the thread must live; whoever asked is told
            if _is_conflict(cause) and (len(batch) > 1 or tries):
                for one in batch:
                    self._commit([one], tries - 1)
                return
            fault = _error_for_caller(cause)
            for _, future in batch:
                future.set_exception(fault)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _transact(self, jobs: list[Job[Any]]) -> list[Any]:
        results: list[Any] = []
        with self._engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            for job in jobs:
                connection.exec_driver_sql("SAVEPOINT job")
                try:
                    results.append(job(connection))
                except DBAPIError:
                    raise
                except Exception as cause:  # noqa: BLE001 - one job's mistake is no other's
                    connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")
                    results.append(cause)
                connection.exec_driver_sql("RELEASE SAVEPOINT job")
        return results


def _is_conflict(cause: Exception) -> bool:
    """Whether the database itself is well: another server was in the way, or one job broke a rule of the tables."""
    if not isinstance(cause, DBAPIError) or cause.connection_invalidated:
        return False
    if isinstance(cause, OperationalError | InterfaceError):
        return getattr(cause.orig, "sqlstate", None) in ("40001", "40P01", "55P03")  # PostgreSQL: try again
    return True


def _error_for_caller(cause: Exception) -> BaseException:
    """What to tell whoever asked."""
    if not isinstance(cause, SQLAlchemyError):
        return cause
    if isinstance(cause, OperationalError | InterfaceError) or getattr(cause, "connection_invalidated", False):
        log.error("the database cannot be written: %s", database_message(cause))
        return Unavailable()
    return cause
