"""All counted answers as columns, read incrementally, and as `Answers`."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from plurivox.core.answers import KINDS, Answers
from plurivox.core.encoding import encode, encode_into
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names
from plurivox.web.store.database import batched, now
from plurivox.web.store.report.column_log import AT_ONCE, Columns, concatenate, select_rows
from plurivox.web.store.report.counters import SETTLES
from plurivox.web.store.schema import answers, exclusions, sittings, slots, tasks, workers
from plurivox.web.study.config import Study

EVERY = (
    select(answers, slots.c.kind, slots.c.position, slots.c.repeat_of, slots.c.state, slots.c.answer_id.label("latest"))
    .add_columns(tasks.c.name.label("task"), workers.c.pseudonym.label("worker"), sittings.c.number.label("sitting"))
    .add_columns(workers.c.arm)
    .select_from(answers.join(slots, slots.c.id == answers.c.slot_id))
    .join(tasks, tasks.c.id == answers.c.task_id)
    .join(workers, workers.c.id == answers.c.worker_id)
    .join(sittings, sittings.c.id == slots.c.sitting_id)
    .order_by(answers.c.id)
)
PICK = re.compile(r'"ms": ([0-9.eE+-]+), "kind": "pick"')
COUNTED = (  # the last word of every slot; names are looked up once, not with every answer
    select(answers.c.id, answers.c.slot_id, answers.c.task_id, answers.c.worker_id, slots.c.sitting_id)
    .add_columns(func.coalesce(slots.c.repeat_of, 0), slots.c.position, answers.c.received)
    .add_columns(answers.c.submitted_ms, answers.c.hidden_ms, answers.c.first_input_ms)
    .add_columns(
        answers.c.abstain, answers.c.none_of_these, answers.c.extra, answers.c.form, answers.c.marks, answers.c.events
    )
    .select_from(answers.join(slots, slots.c.answer_id == answers.c.id))
    .where(slots.c.id == answers.c.slot_id, slots.c.kind != "practice", slots.c.state != "excluded")
    .order_by(answers.c.id)
)
EXCLUDED = select(exclusions.c.worker_id).where(exclusions.c.lifted.is_(None))
NUMBERS: dict[str, Any] = {"id": np.int64, "slot": np.int64, "task": np.int64, "worker": np.int64, "sitting": np.int64}
NUMBERS |= {"repeat_of": np.int64, "position": np.int32, "received": np.float64, "submitted": np.float64}
NUMBERS |= {"hidden": np.float64, "first_input": np.float64, "abstain": np.bool_, "none_of_these": np.bool_}
NUMBERS |= {"extra": np.bool_}


@dataclass(frozen=True)
class Collected:
    """The last word of every slot, practice left out, and what the noun has no column for."""

    answers: Answers
    ids: Ints  # (n,) in the store
    task_ids: Ints  # (n,)
    worker_ids: Ints  # (n,)
    extra: Bools  # (n,) came after its lease, when the task was full
    first_input: Floats  # (n,) seconds after it was shown, nan where unknown
    top_label: Floats  # (n,) seconds until the first label was picked
    hidden: Floats  # (n,) seconds in which the page was not seen
    unseen: Bools  # (n,) its picture did not load


def rows(connection: Connection, at_once: int = AT_ONCE) -> Iterator[Any]:
    """Every answer in the order they came, replaced ones and practice too."""
    yield from connection.execution_options(yield_per=at_once).execute(EVERY)


def active(row: Any) -> float:
    """Seconds from shown to submitted in which the page was seen; nan where the client did not tell."""
    return float("nan") if row.submitted_ms is None else max(0.0, row.submitted_ms - row.hidden_ms) / 1000


def collect(connection: Connection, study: Study, cell: Callable[[str], str] = str) -> Collected:
    """All answers that count; `cell` is how names are written."""
    reader = Reader()
    reader.read_on(connection)
    return reader.collected(connection, study, cell)


class Reader:
    """Reads answers once: what has come since the last time is added to the columns that are there."""

    def __init__(self) -> None:
        self._columns: Columns = {}
        self._codes: dict[str, dict[str, int]] = {"form": {}, "label": {}, "typed": {}}
        self._names: dict[Any, dict[int, str]] = {}
        self._sorted: dict[Any, tuple[Ints, Ints, Names]] = {}  # ids, their codes, names
        self._aside: set[int] = set()  # people who are left out

    def read_on(self, connection: Connection) -> Ints:
        """Read what is new, and what counts again; the ids of the tasks that it is about, or that lost an answer."""
        before, aside = self._aside, self._left_out(connection)
        parts = self._read(connection, COUNTED.where(answers.c.id > self._since(connection)))
        aside |= self._left_out(connection)  # who went or came back in between is looked at again next time
        for some in batched(sorted(before - aside), 500):
            parts += self._read(connection, COUNTED.where(answers.c.worker_id.in_(some)))
        self._aside = aside
        lost = self._drop_workers(aside - before)
        return np.union1d(lost, self._add(parts, aside))

    def _left_out(self, connection: Connection) -> set[int]:
        return set(connection.execute(EXCLUDED).scalars())

    def _add(self, parts: Sequence[Columns], aside: set[int]) -> Ints:
        """Put rows to those that are there; the tasks of rows that are new."""
        if not parts:
            return np.zeros(0, np.int64)
        new = concatenate(parts)
        keep = np.zeros(len(new["id"]), bool)
        keep[np.unique(new["id"], return_index=True)[1]] = True
        keep &= ~np.isin(new["worker"], sorted(aside))
        if self._columns:
            keep &= ~np.isin(new["id"], self._columns["id"])
        if not keep.any():
            return np.zeros(0, np.int64)
        new = select_rows(new, keep)
        if self._columns:
            kept = ~np.isin(self._columns["slot"], new["slot"])  # the last word on a slot may be a new one
            self._columns = concatenate([select_rows(self._columns, kept), new])
        else:
            self._columns = new
        return np.unique(new["task"])

    def _read(self, connection: Connection, wanted: Any) -> list[Columns]:
        found = connection.execute(wanted.execution_options(yield_per=AT_ONCE))
        return [self._part(part) for part in found.partitions()]

    def _drop_workers(self, gone: set[int]) -> Ints:
        """Leave people's answers out; the tasks that these are about."""
        if not gone or not self._columns:
            return np.zeros(0, np.int64)
        out = np.isin(self._columns["worker"], sorted(gone))
        tasks_of = np.unique(self._columns["task"][out])
        self._columns = select_rows(self._columns, ~out)
        return tasks_of

    def _since(self, connection: Connection) -> int:
        """The answer after which all are read: on PostgreSQL some with smaller numbers may have been on their way."""
        if not self._columns:
            return 0
        if connection.dialect.name == "sqlite":
            return int(self._columns["id"].max(initial=0))
        settled = self._columns["id"][self._columns["received"] < now() - 2 * SETTLES]
        return int(settled.max(initial=0))

    def _part(self, part: Sequence[Any]) -> Columns:
        """Rows as columns; texts become numbers, since there are few different ones."""
        *numbers, forms, marks, events = zip(*part, strict=True)
        made: Columns = {
            name: np.array(column, kind) for (name, kind), column in zip(NUMBERS.items(), numbers, strict=True)
        }
        made["form"] = np.array([self._code("form", one) for one in forms], np.int32)
        made["picked"] = np.array([_first_pick(one) for one in events], np.float64)
        made["unseen"] = np.array([is_unseen(one) for one in events], bool)
        said = json.loads(f"[{','.join(marks)}]")
        made["n_marks"] = np.array([len(one) for one in said], np.int32)
        codes = [
            (KINDS[kind], self._code("label", label), self._code("typed", typed))
            for one in said
            for kind, label, typed in one
        ]
        made["marks"] = np.array(codes, np.int32).reshape(-1, 3)
        return made

    def _code(self, of: str, text: str) -> int:
        known = self._codes[of]
        return known.setdefault(text, len(known))

    def _texts(self, of: str) -> list[str]:
        return list(self._codes[of])

    def collected(self, connection: Connection, study: Study, cell: Callable[[str], str] = str) -> Collected:
        """What has been read, as nouns."""
        if not self._columns:
            self._columns = self._part_of_none()
        held = self._columns
        task, task_names = self._named(connection, tasks.c.id, tasks.c.name, held["task"], cell)
        worker, worker_names = self._named(connection, workers.c.id, workers.c.pseudonym, held["worker"], str)
        sitting, sitting_names = self._named(connection, sittings.c.id, sittings.c.number, held["sitting"], str)
        labels = dict.fromkeys(
            cell(label) for label in (*study.labels, *self._texts("label"))
        )  # some may be gone since
        label, label_names = encode_into([cell(one) for one in self._texts("label")], list(labels), "labels")
        who = worker_names[worker].astype(TEXT)
        given = Answers(
            task=task,
            worker=worker,
            tasks=task_names,
            workers=worker_names,
            labels=label_names,
            mark_start=np.concatenate([[0], np.cumsum(held["n_marks"], dtype=np.int64)]),
            mark_kind=held["marks"][:, 0],
            mark_label=label[held["marks"][:, 1]],
            mark_typed=np.array(self._texts("typed") or [""], dtype=TEXT)[held["marks"][:, 2]],
            form=np.array(self._texts("form") or [""], dtype=TEXT)[held["form"]],
            abstain=held["abstain"],
            none_of_these=held["none_of_these"],
            when=held["received"],
            seconds=np.maximum(0.0, held["submitted"] - held["hidden"]) / 1000,
            position=held["position"].astype(np.int64),
            sitting=np.strings.add(np.strings.add(who, "-"), sitting_names.astype(TEXT)[sitting]),
            repeat_of=_places(held["slot"], held["repeat_of"]),
        )
        return Collected(
            given,
            ids=held["id"],
            task_ids=held["task"],
            worker_ids=held["worker"],
            extra=held["extra"],
            first_input=held["first_input"] / 1000,
            top_label=held["picked"],
            hidden=held["hidden"] / 1000,
            unseen=held["unseen"],
        )

    def _part_of_none(self) -> Columns:
        empty = {name: np.zeros(0, kind) for name, kind in NUMBERS.items()}
        more: dict[str, Any] = {"form": np.int32, "picked": np.float64, "unseen": bool, "n_marks": np.int32}
        return empty | {name: np.zeros(0, kind) for name, kind in more.items()} | {"marks": np.zeros((0, 3), np.int32)}

    def _named(
        self, connection: Connection, key: Any, name: Any, ids: Ints, cell: Callable[[str], str]
    ) -> tuple[Ints, Names]:
        """Codes into sorted names; a name is read once, and names are sorted when there are new ones."""
        there, place = np.unique(ids, return_inverse=True)
        if key in self._sorted and np.array_equal(self._sorted[key][0], there):
            return self._sorted[key][1][place], self._sorted[key][2]
        known = self._names.setdefault(key, {})
        for part in batched([one for one in there.tolist() if one not in known], 500):
            for found, text in connection.execute(select(key, name).where(key.in_(part))):
                known[found] = str(text)
        codes, names = encode([cell(known[one]) for one in there.tolist()], key.table.name)
        self._sorted[key] = there, codes, names
        return codes[place], names


def _places(slot: Ints, repeat_of: Ints) -> Ints:
    """(n,) the place of the answer that each one repeats; -1 where there is none."""
    order = np.argsort(slot)
    at = np.searchsorted(slot, repeat_of, sorter=order)
    found = order[np.minimum(at, len(slot) - 1)] if len(slot) else np.zeros(0, np.int64)
    return np.where((repeat_of != 0) & (slot[found] == repeat_of), found, -1)


def is_unseen(events: str) -> bool:
    """Whether the picture had not come when the answer was given."""
    if '"unseen"' not in events:
        return False
    return [one["kind"] for one in json.loads(events) if one["kind"] in ("seen", "unseen")][-1:] == ["unseen"]


def _first_pick(events: str) -> float:
    """Seconds until the first label was picked; found without reading the rest, where it is written as we write it."""
    if found := PICK.search(events):
        return float(found[1]) / 1000
    if '"pick"' not in events:
        return float("nan")
    return next((one["ms"] / 1000 for one in json.loads(events) if one["kind"] == "pick"), float("nan"))
