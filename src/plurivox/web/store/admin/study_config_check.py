"""Check that study.toml matches the tasks and answers in the database."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from plurivox.core.errors import InputError, first_few
from plurivox.web.store.collect.submissions import parse_marks
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import answers, tasks


def check_study_config(connection: Connection, strata: Collection[str], labels: list[str]) -> None:
    """Raise InputError if no task has one of the strata, or if a label was renamed that answers contain."""
    _check_strata(connection, sorted(strata))
    _check_labels(connection, labels)


def _check_strata(connection: Connection, strata: list[str]) -> None:
    """Raise InputError if no task has one of these strata; save them once checked."""
    if not strata or kv_get(connection, "known_strata") == strata:
        return
    existing = set(connection.execute(select(tasks.c.stratum).where(tasks.c.practice == 0).distinct()).scalars())
    if unknown := [name for name in strata if name not in existing]:
        known = (
            f"tasks have the strata {first_few(sorted(existing))}"
            if existing - {""}
            else "give --items a table with a column stratum"
        )
        raise InputError(f"study.toml has the stratum {first_few(unknown)}, but no task is in it; {known}")
    kv_set(connection, "known_strata", strata)


def _check_labels(connection: Connection, labels: list[str]) -> None:
    """Raise InputError if a label that answers contain was replaced by a new one; save the labels once checked."""
    known = kv_get(connection, "labels")
    if known == labels:
        return
    if known and set(known) - set(labels) and set(labels) - set(known):  # removing without adding is fine
        removed, n_answers = _find_removed_labels(connection, labels)
        if removed:
            raise InputError(
                f"study.toml no longer has the label {first_few(sorted(removed))}, which {n_answers:,} answers contain, and "
                "has new labels; labels cannot be renamed once answers contain them: put it back, or create a new study"
            )
    kv_set(connection, "labels", labels)


def _find_removed_labels(connection: Connection, labels: list[str]) -> tuple[set[str], int]:
    """Return the labels that answers contain and the study does not, and the number of such answers."""
    known, removed, n = {*labels, ""}, set[str](), 0  # some marks have no label
    every = select(answers.c.marks).execution_options(yield_per=2_000)
    for marks in connection.execute(every).scalars():
        if unknown := {mark.label for mark in parse_marks(marks)} - known:
            removed |= unknown
            n += 1
    return removed, n
