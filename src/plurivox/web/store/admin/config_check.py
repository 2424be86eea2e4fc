"""Check that study.toml still matches what is in the database."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from plurivox.core.errors import InputError, first_few
from plurivox.web.store.collect.submissions import parse_marks
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import answers, tasks


def check_study_config(connection: Connection, strata: Collection[str], labels: list[str]) -> None:
    """Refuse strata that no task has, and labels that were renamed though people named them."""
    _check_strata(connection, sorted(strata))
    _check_labels(connection, labels)


def _check_strata(connection: Connection, said: list[str]) -> None:
    if not said or kv_get(connection, "known_strata") == said:
        return
    there = set(connection.execute(select(tasks.c.stratum).where(tasks.c.practice == 0).distinct()).scalars())
    if strange := [name for name in said if name not in there]:
        known = (
            f"they have {first_few(sorted(there))}" if there - {""} else "give --items a table with a column stratum"
        )
        raise InputError(f"no task is of stratum {first_few(strange)}, which the strata name; {known}")
    kv_set(connection, "known_strata", said)


def _check_labels(connection: Connection, labels: list[str]) -> None:
    known = kv_get(connection, "labels")
    if known == labels:
        return
    if known and set(known) - set(labels) and set(labels) - set(known):  # taken out alone is fine
        gone, named = _find_removed_labels(connection, labels)
        if gone:
            raise InputError(
                f"study.toml has no label {first_few(sorted(gone))}, but {named:,} answers name it, and it has new ones; "
                "labels cannot be renamed once answers name them: put it back (that, or a new study)"
            )
    kv_set(connection, "labels", labels)


def _find_removed_labels(connection: Connection, labels: list[str]) -> tuple[set[str], int]:
    """Labels that answers name and the study does not, and how many answers do."""
    there, gone, n = {*labels, ""}, set[str](), 0  # some marks have no label
    every = select(answers.c.marks).execution_options(yield_per=2_000)
    for marks in connection.execute(every).scalars():
        if strange := {mark.label for mark in parse_marks(marks)} - there:
            gone |= strange
            n += 1
    return gone, n
