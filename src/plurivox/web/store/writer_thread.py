"""The writer thread: runs the writes of many requests in one transaction, and returns results after the commit."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from plurivox.web.store.database import WRITE_OPTIONS, first_line_of_database_error
from plurivox.web.store.errors import LockHeldElsewhere, Unavailable

T = TypeVar("T")
Job = Callable[[Connection], T]
MAX_BATCH = 128  # jobs in one commit
MAX_TRIES = 3  # of a job that conflicts with another server's write
log = logging.getLogger(__name__)


class Writer:
    """A thread that runs database writes in order, many in one transaction, each in its own savepoint."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: SimpleQueue[tuple[Job[Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=self._commit_queued_writes_until_closed, name="plurivox-writer", daemon=True
        )
        self._thread.start()

    def submit(self, write_job: Job[T]) -> Future[T]:
        """Queue a function that writes to the database; return a future, set to its result after the commit."""
        future: Future[T] = Future()
        self._jobs.put((write_job, future))
        return future

    def close(self) -> None:
        """Finish the queued database writes, then stop the writer thread."""
        self._jobs.put(None)
        self._thread.join()

    def _commit_queued_writes_until_closed(self) -> None:
        """Run and commit queued database writes in batches, until the thread is closed."""
        while (first := self._jobs.get()) is not None:
            batch = [first]
            stop = False
            while len(batch) < MAX_BATCH and not stop:
                try:
                    entry = self._jobs.get_nowait()
                except Empty:
                    break
                stop = entry is None
                if entry is not None:
                    batch.append(entry)
            self._commit_writes_together_and_set_futures(
                [entry for entry in batch if entry[1].set_running_or_notify_cancel()]
            )
            if stop:
                return

    def _commit_writes_together_and_set_futures(
        self,
        jobs_and_futures: list[tuple[Job[Any], Future[Any]]],
        max_tries: int = MAX_TRIES,
        wait_for_lock: Job[None] | None = None,
    ) -> None:
        """Run database writes in one transaction, which may first wait for a lock, and set their futures.

        After a conflict, retry the writes one by one. Those that need a lock of another server run again, in a transaction of
        their own.
        """
        if not jobs_and_futures:
            return
        try:
            results = self._run_in_savepoints_and_return_results_or_errors(
                [job for job, _ in jobs_and_futures], wait_for_lock
            )
        except Exception as cause:  # noqa: BLE001 - the thread must go on; the callers get the error
            if _is_conflict_or_constraint_violation(cause) and (len(jobs_and_futures) > 1 or max_tries):
                for entry in jobs_and_futures:
                    self._commit_writes_together_and_set_futures([entry], max_tries - 1, wait_for_lock)
                return
            error = _unavailable_if_database_failed_else_same_error(cause)
            for _, future in jobs_and_futures:
                future.set_exception(error)
            return
        waiting = []
        for (job, future), result in zip(jobs_and_futures, results, strict=True):
            if isinstance(result, LockHeldElsewhere):
                waiting.append(((job, future), result.wait_for_lock))
            elif isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)
        for entry, wait in waiting:  # when the others know that their writes are on disk
            self._commit_writes_together_and_set_futures([entry], max_tries, wait)

    def _run_in_savepoints_and_return_results_or_errors(
        self, write_jobs: list[Job[Any]], wait_for_lock: Job[None] | None
    ) -> list[Any]:
        """Run database writes in one transaction, each in a savepoint; return the result or the exception of each one."""
        results: list[Any] = []
        with self._engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            if wait_for_lock is not None:
                wait_for_lock(connection)  # before any row is locked
            for job in write_jobs:
                connection.exec_driver_sql("SAVEPOINT job")
                try:
                    results.append(job(connection))
                except DBAPIError:
                    raise
                except Exception as cause:  # noqa: BLE001 - the other jobs go on
                    connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")
                    results.append(cause)
                connection.exec_driver_sql("RELEASE SAVEPOINT job")
        return results


def _is_conflict_or_constraint_violation(cause: Exception) -> bool:
    """Return whether a database error is a conflict with another server or a violated constraint, not a failing database."""
    if not isinstance(cause, DBAPIError) or cause.connection_invalidated:
        return False
    if isinstance(cause, OperationalError | InterfaceError):
        # PostgreSQL: serialization failure, deadlock, lock not available
        return getattr(cause.orig, "sqlstate", None) in (
            "40001",
            "40P01",
            "55P03",
        )
    return True


def _unavailable_if_database_failed_else_same_error(cause: Exception) -> BaseException:
    """Return the exception to raise in the caller of a failed write: Unavailable, logged, if the database cannot be written."""
    if not isinstance(cause, SQLAlchemyError):
        return cause
    if isinstance(cause, OperationalError | InterfaceError) or getattr(cause, "connection_invalidated", False):
        log.error("the database cannot be written: %s", first_line_of_database_error(cause))
        return Unavailable()
    return cause
