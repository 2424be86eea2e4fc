"""Check that study.toml matches the tasks and answers in the database."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from plurivox.core.errors import InputError, first_few
from plurivox.web.store.collect.submissions import label_marks_from_json
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import answers, tasks


def raise_if_stratum_empty_or_label_renamed(
    connection: Connection, config_strata: Collection[str], config_labels: list[str]
) -> None:
    """Raise InputError if a stratum of study.toml has no task, or if stored answers contain a label that study.toml renamed."""
    _raise_if_stratum_without_task_else_save(connection, sorted(config_strata))
    _raise_if_used_label_renamed_else_save(connection, config_labels)


def _raise_if_stratum_without_task_else_save(connection: Connection, config_strata: list[str]) -> None:
    """Raise InputError if one of these strata has no task; else save the strata as checked."""
    if not config_strata or kv_get(connection, "known_strata") == config_strata:
        return
    existing = set(connection.execute(select(tasks.c.stratum).where(tasks.c.practice == 0).distinct()).scalars())
    if unknown := [name for name in config_strata if name not in existing]:
        known = (
            f"tasks have the strata {first_few(sorted(existing))}"
            if existing - {""}
            else "give --items a table with a column stratum"
        )
        raise InputError(f"study.toml has the stratum {first_few(unknown)}, but no task is in it; {known}")
    kv_set(connection, "known_strata", config_strata)


def _raise_if_used_label_renamed_else_save(connection: Connection, config_labels: list[str]) -> None:
    """Raise InputError if study.toml replaced a label that stored answers contain; else save the labels as checked."""
    known = kv_get(connection, "labels")
    if known == config_labels:
        return
    if known and set(known) - set(config_labels) and set(config_labels) - set(known):  # removing without adding is fine
        removed, n_answers = _find_removed_labels_and_count_answers(connection, config_labels)
        if removed:
            raise InputError(
                f"study.toml no longer has the label {first_few(sorted(removed))}, which {n_answers:,} answers contain, and "
                "has new labels; labels cannot be renamed once answers contain them: put it back, or create a new study"
            )
    kv_set(connection, "labels", config_labels)


def _find_removed_labels_and_count_answers(connection: Connection, config_labels: list[str]) -> tuple[set[str], int]:
    """Return the labels that stored answers contain but study.toml lacks, and the number of answers with such a label."""
    known, removed, n = {*config_labels, ""}, set[str](), 0  # some marks have no label
    every = select(answers.c.marks).execution_options(yield_per=2_000)
    for marks in connection.execute(every).scalars():
        if unknown := {mark.label for mark in label_marks_from_json(marks)} - known:
            removed |= unknown
            n += 1
    return removed, n
