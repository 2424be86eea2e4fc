"""Answers of careful workers and of workers with every kind of fault, for the tests of cleaning rules."""

from dataclasses import replace
from typing import Any

import numpy as np

from plurivox.core.answers import ANSWER_COLUMNS, Answers
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels

LABELS = ["bird", "cat", "deer", "dog"]
TASKS = [f"img{i:02d}" for i in range(12)]
TRUE = {task: LABELS[i % 4] for i, task in enumerate(TASKS)}
GOLD = SoftLabels.gold(TASKS, [TRUE[task] for task in TASKS], labels=LABELS)
Row = dict[str, Any]


def row(worker: str, task: str, position: int, **odd: Any) -> Row:
    """Return a faultless answer, with the columns in `odd` replaced."""
    top = odd.pop("top", TRUE[task])
    rank = LABELS.index(top)
    never = odd.pop("never", [LABELS[(rank + 2) % 4]])
    marks = [("named", top, odd.pop("percent", "80")), *(("never", label, "") for label in never)]
    plain = {"worker": worker, "task": task, "position": position, "sitting": f"of {worker}", "repeat": False}
    return plain | {"seconds": 20.0 + rank + position / 7, "slot": rank, "marks": marks} | odd


def sitting(worker: str, **odd: Any) -> list[Row]:
    """Return answers to all tasks, then to the first two again; `odd` maps columns to functions of the position."""
    asked = [(task, False) for task in TASKS] + [(task, True) for task in TASKS[:2]]
    rows = []
    for place, (task, again) in enumerate(asked):
        replaced = {name: value for name, function in odd.items() if (value := function(place)) is not None}
        rows.append(row(worker, task, place, repeat=again, **replaced))
    return rows


def faulty_rows() -> list[Row]:
    """Return answers of two careful workers, and of one worker per fault."""
    wrong = {place: LABELS[(place + 1) % 4] for place in range(6)}
    rows = sitting("careful") + sitting("also-careful")
    rows += sitting("beyond", percent=lambda at: {1: "120", 4: "-3", 5: "1000%"}.get(at))
    rows += sitting("empty", percent=lambda at: {2: "", 3: "  lots"}.get(at))
    rows += sitting("torn", never=lambda at: [wrong[3]] if at == 3 else None, top=lambda at: wrong.get(at % 12))
    rows += sitting("hasty", seconds=lambda at: 0.3 if at > 2 else None)
    rows += sitting("still", top=lambda at: "cat", slot=lambda at: at % 4)
    rows += sitting("placed", slot=lambda at: 2)
    rows += sitting("fickle", top=lambda at: "deer" if at >= 12 else None)
    rows += [*(saved := sitting("saved-twice")), *saved]
    rows += [*sitting("double"), row("double", TASKS[5], 30, top="bird")]
    return rows


def answers_of(rows: list[Row]) -> Answers:
    """Return the rows as `Answers`; a repeat repeats the first row of the same worker and task."""
    first: dict[tuple[str, str], int] = {}
    for i, one in enumerate(rows):
        first.setdefault((one["worker"], one["task"]), i)
    return Answers.of(
        [one["task"] for one in rows],
        [one["worker"] for one in rows],
        [one["marks"] for one in rows],
        labels=LABELS,
        position=np.array([one["position"] for one in rows]),
        slot=np.array([one["slot"] for one in rows]),
        seconds=np.array([one["seconds"] for one in rows]),
        sitting=as_names([one["sitting"] for one in rows]),
        repeat_of=np.array([first[one["worker"], one["task"]] if one["repeat"] else -1 for one in rows]),
    )


def faulty() -> Answers:
    """Return `faulty_rows` as `Answers`."""
    return answers_of(faulty_rows())


def shuffled(answers: Answers, seed: int = 3) -> Answers:
    """Return the answers in random order."""
    order = np.random.default_rng(seed).permutation(len(answers))
    back = np.append(np.argsort(order), -1)
    columns = {name: None if (c := getattr(answers, name)) is None else c[order] for name in ("task", *ANSWER_COLUMNS)}
    columns["repeat_of"] = back[columns["repeat_of"]]
    marks = [np.arange(answers.mark_start[i], answers.mark_start[i + 1]) for i in order]
    flat, sizes = np.concatenate(marks), [len(one) for one in marks]
    columns |= {name: getattr(answers, name)[flat] for name in ("mark_kind", "mark_label", "mark_typed")}
    return replace(answers, **columns, mark_start=np.concatenate([[0], np.cumsum(sizes)]))


def lines(table: Any) -> list[tuple[str, ...]]:
    """Return the rows of a table as tuples of text, without `repeat_of`."""
    columns = [column.tolist() for name, column in table.columns().items() if name != "repeat_of"]
    return [tuple(map(str, one)) for one in zip(*columns, strict=True)]
