"""Import answers that were collected elsewhere into a study."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, get_args

import numpy as np
from sqlalchemy import Connection, bindparam, insert, select, update

from plurivox.core.answers import MARK_KINDS, Answers
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import distinct_names
from plurivox.web.store.collect.submissions import Mark, MarkKind, label_marks_to_json
from plurivox.web.store.collect.tasks_batches_quotas import BATCH_ROWS
from plurivox.web.store.database import batched, current_unix_time
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.report import answer_counters, result_snapshots
from plurivox.web.store.report.answer_times import IMPORTED_KEY
from plurivox.web.store.schema import answers, sittings, slots, tasks, workers

KIND_OF_CODE: dict[int, MarkKind] = {MARK_KINDS[kind]: kind for kind in get_args(MarkKind)}


def insert_imported_answers_and_return_count(
    connection: Connection,
    imported: Answers,
    pseudonyms: Sequence[str],
    default_form: str,
    simulated_first_pick_share_of_time: float = 0.0,
) -> int:
    """Insert imported answers with their workers, sittings and slots; return how many. Those above a task's quota are late.

    `pseudonyms` are those of `imported.workers`; `default_form` is that of answers without one.
    `simulated_first_pick_share_of_time`: the share of the time after which the first label was picked, if such an event is to
    be simulated, as in the demo. Raise InputError if a task is unknown, a worker exists already, or an answer has no worker.
    """
    if (imported.worker < 0).any():
        at = first_few(distinct_names(imported.tasks[imported.task[imported.worker < 0]]))
        raise InputError(f"answers to the tasks {at} have no worker; a study needs the worker of every answer")
    found = _find_task_rows_by_name_with_free_slot_numbers(connection, imported)
    worker_ids = _insert_workers_and_return_ids_by_code(connection, imported, pseudonyms)
    sitting_ids = _insert_sittings_and_return_sitting_id_per_answer(connection, imported, worker_ids)
    slot_rows, answer_rows = [], []
    slot_ids: dict[int, int] = {}  # row of an answer -> its slot
    names = imported.tasks.tolist()
    for i in range(len(imported)):
        task, worker = found[names[imported.task[i]]], worker_ids[int(imported.worker[i])]
        repeat = -1 if imported.repeat_of is None else int(imported.repeat_of[i])
        number = next(task["free"], None) if repeat < 0 else None
        counts = number is not None
        slot_ids[i] = random_62_bit_id()
        state = "done" if counts or repeat >= 0 else "extra"
        slot_rows.append(
            {"id": slot_ids[i], "sitting_id": sitting_ids[i], "worker_id": worker, "task_id": task["id"]}
            | {"number": number, "kind": "task" if repeat < 0 else "repeat"}
            | {
                "position": _value_at_or_default_if_no_column(imported.position, i, i + 1),
                "repeat_of": slot_ids.get(repeat),
                "state": state,
            }
        )
        answer_rows.append(
            {"worker_id": worker, "key": f"{IMPORTED_KEY}{i}", "slot_id": slot_ids[i], "task_id": task["id"]}
            | _answer_table_columns(imported, i, default_form, simulated_first_pick_share_of_time)
            | {"extra": int(state == "extra")}
        )
    for table, rows in ((slots, slot_rows), (answers, answer_rows)):
        for part in batched(rows, BATCH_ROWS):
            connection.execute(insert(table), part)
    _set_answer_id_in_slots_of_workers(connection, list(worker_ids.values()))
    for task in found.values():
        n = task["given"]
        values = {"given": n, **({"queue": None} if n >= task["quota"] else {})}
        connection.execute(update(tasks).where(tasks.c.id == task["id"]).values(values))
    answer_counters.reset_answer_counters_to_zero(connection)
    # caches may have read past these ids already
    result_snapshots.delete_result_snapshots_and_count_erasure(connection)
    return len(imported)


def _set_answer_id_in_slots_of_workers(connection: Connection, worker_ids: Sequence[int]) -> None:
    """Set the column `answer_id` of every slot of these workers to the id of the answer given in that slot."""
    set_answer = update(slots).where(slots.c.id == bindparam("slot")).values(answer_id=bindparam("answer"))
    for part in batched(worker_ids, 500):
        of_workers = select(answers.c.slot_id, answers.c.id).where(answers.c.worker_id.in_(part))
        rows = [{"slot": row.slot_id, "answer": row.id} for row in connection.execute(of_workers)]
        connection.execute(set_answer, rows)


def _find_task_rows_by_name_with_free_slot_numbers(
    connection: Connection, imported: Answers
) -> dict[Any, dict[str, Any]]:
    """Return task name -> row of each task in imported answers, with an iterator of free slot numbers under "free"."""
    names, found = {str(name): name for name in imported.tasks.tolist()}, {}
    for part in batched(names, 500):
        query = select(tasks.c.id, tasks.c.name, tasks.c.quota, tasks.c.given).where(tasks.c.name.in_(part))
        for row in connection.execute(query):
            found[names[row.name]] = row._asdict()
    used = _used_slot_numbers_by_task_id(connection, [task["id"] for task in found.values()])
    for task in found.values():
        task["free"] = _yield_and_count_free_slots_up_to_quota(task, used.get(task["id"], set()))
    if unknown := [name for name in names.values() if name not in found]:
        raise InputError(f"the study has no tasks {first_few(unknown)}; add them first")
    return found


def _used_slot_numbers_by_task_id(connection: Connection, task_ids: Sequence[int]) -> dict[int, set[int]]:
    """Return task id -> the slot numbers of the task that are in use, that is, count towards its quota."""
    used: dict[int, set[int]] = {}
    for part in batched(task_ids, 500):
        query = select(slots.c.task_id, slots.c.number).where(slots.c.task_id.in_(part), slots.c.number.is_not(None))
        for task, number in connection.execute(query):
            used.setdefault(task, set()).add(number)
    return used


def _yield_and_count_free_slots_up_to_quota(task_row: dict[str, Any], used_slot_numbers: set[int]) -> Iterator[int]:
    """Yield free slot numbers of a task until its quota is full, and increment `task_row["given"]` for each."""
    number = 0
    while task_row["given"] < task_row["quota"]:
        number = next(n for n in count(number + 1) if n not in used_slot_numbers)
        task_row["given"] += 1
        yield number


def _insert_workers_and_return_ids_by_code(
    connection: Connection, imported: Answers, pseudonyms: Sequence[str]
) -> dict[int, int]:
    """Insert the workers of imported answers; return worker code -> new id. Raise InputError if a worker exists already."""
    worker_ids, rows = {}, []
    last_answers = _time_of_last_answer_of_each_worker_or_now(imported).tolist()
    for code, (name, pseudonym) in enumerate(zip(imported.workers.tolist(), pseudonyms, strict=True)):
        known = connection.execute(select(workers.c.id).where(workers.c.pseudonym == pseudonym)).scalar()
        if known is not None:
            raise InputError(f"the study already has answers of worker {name!r}; import each worker only once")
        worker_ids[code] = random_62_bit_id()
        row = {"id": worker_ids[code], "pseudonym": pseudonym, "seed": code, "stage": "done", "status": "active"}
        rows.append({**row, "born": current_unix_time(), "seen": last_answers[code]})
    if rows:
        connection.execute(insert(workers), rows)
    return worker_ids


def _time_of_last_answer_of_each_worker_or_now(imported: Answers) -> Floats:
    """Return (n_workers,) when each worker gave the last of the imported answers; now if no time is known."""
    last = np.full(len(imported.workers), -np.inf)
    if imported.when is not None:
        known = np.isfinite(imported.when)
        np.maximum.at(last, imported.worker[known], imported.when[known])
    return np.where(np.isinf(last), current_unix_time(), last)


def _insert_sittings_and_return_sitting_id_per_answer(
    connection: Connection, imported: Answers, worker_ids: dict[int, int]
) -> Sequence[int]:
    """Insert the sittings of imported answers; return the (n_answers,) sitting ids."""
    names = imported.sitting if imported.sitting is not None else np.full(len(imported), "")
    rows_of: dict[tuple[int, str], list[int]] = {}  # (worker, name of the sitting) -> rows of its answers
    for i, (worker, name) in enumerate(zip(imported.worker.tolist(), names.tolist(), strict=True)):
        rows_of.setdefault((worker, str(name)), []).append(i)
    numbers: dict[int, int] = {}
    sitting_ids = [0] * len(imported)
    for (worker, _), answer_rows in rows_of.items():
        numbers[worker] = numbers.get(worker, 0) + 1
        n = len(answer_rows)
        row = {"worker_id": worker_ids[worker], "number": numbers[worker], "total": n, "done": n}
        key = connection.execute(
            insert(sittings).values(**row, begun=current_unix_time(), until=None)
        ).inserted_primary_key
        assert key is not None
        for i in answer_rows:
            sitting_ids[i] = key[0]
    return sitting_ids


def _answer_table_columns(
    imported: Answers, answer_row: int, default_form: str, simulated_first_pick_share_of_time: float
) -> dict[str, Any]:
    """Return the row of the table `answers` for one imported answer: marks, times, and a simulated pick event on request."""
    rows = slice(imported.mark_start[answer_row], imported.mark_start[answer_row + 1])
    codes = zip(
        imported.mark_kind[rows].tolist(), imported.mark_label[rows].tolist(), imported.mark_typed[rows], strict=True
    )
    marks = [
        Mark(KIND_OF_CODE[kind], str(imported.labels[label]) if label >= 0 else "", str(typed))
        for kind, label, typed in codes
    ]
    seconds = _value_at_or_default_if_no_column(imported.seconds, answer_row, None)
    ms = None if seconds is None or seconds != seconds else seconds * 1000
    events = []
    if simulated_first_pick_share_of_time and ms is not None and marks and marks[0].label:
        label, by = marks[0].label, "key"
        events = [
            {
                "seq": 0,
                "ms": round(simulated_first_pick_share_of_time * ms),
                "kind": "pick",
                "label": label,
                "value": None,
                "by": by,
            }
        ]
    return {
        "received": _value_at_or_default_if_no_column(imported.when, answer_row, current_unix_time()),
        "form": str(_value_at_or_default_if_no_column(imported.form, answer_row, default_form)),
        "marks": label_marks_to_json(marks),
        "abstain": int(_value_at_or_default_if_no_column(imported.abstain, answer_row, False)),
        "none_of_these": int(_value_at_or_default_if_no_column(imported.none_of_these, answer_row, False)),
        "first_input_ms": round(simulated_first_pick_share_of_time * ms)
        if simulated_first_pick_share_of_time and ms is not None
        else None,
        "submitted_ms": ms,
        "hidden_ms": 0.0,
        "mode": "",
        "label_order": "[]",
        "events": json.dumps(events, ensure_ascii=False),
    }


def _value_at_or_default_if_no_column(column: Any, i: int, default: Any) -> Any:
    """Return element `i` of an array as a Python value; `default` if the array is None."""
    if column is None:
        return default
    value = column[i]
    return value.item() if hasattr(value, "item") else value
