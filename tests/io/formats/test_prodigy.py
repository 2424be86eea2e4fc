"""Prodigy annotations, as `prodigy db-out` writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.io import Dataset, read

OPTIONS = [{"id": one, "text": one.lower()} for one in ("POSITIVE", "NEUTRAL", "NEGATIVE")]


def record(text: str, who: str, answer: str = "accept", view: str = "choice", **more: Any) -> dict[str, Any]:
    return {
        "text": text,
        "meta": {"source": "reviews.csv"},
        "_input_hash": sum(map(ord, text)),
        "_task_hash": -1486695581,
        "_view_id": view,
        "answer": answer,
        "_timestamp": 1707211049,
        "_annotator_id": f"reviews-{who}",
        "_session_id": f"reviews-{who}",
        **more,
    }


def chosen(text: str, who: str, *labels: Any, answer: str = "accept", **more: Any) -> dict[str, Any]:
    return record(text, who, answer, accept=[*labels], **{"options": OPTIONS, **more})


def write(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "reviews.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def read_lines(folder: Path, *records: dict[str, Any], **how: Any) -> tuple[Dataset, list[str]]:
    path = write(folder, *records)
    with pytest.warns(UserWarning) as told:
        data = read(path, **how)
    return data, [str(one.message) for one in told]


def rows(data: Dataset) -> list[tuple[object, ...]]:
    assert data.votes is not None
    return list(zip(*(data.votes.columns()[name].tolist() for name in ("task", "worker", "label")), strict=True))


def test_choices_become_votes(tmp_path: Path) -> None:
    data, notes = read_lines(
        tmp_path,
        chosen("Great phone", "alice", "POSITIVE"),
        chosen("Great phone", "bo", "POSITIVE", "NEUTRAL"),
        chosen("Bad", "bo", "NEGATIVE"),
        chosen("Bad", "cy", answer="ignore"),
        chosen("Bad", "dan", answer="reject"),
        chosen("Bad", "eve"),
    )
    assert data.votes is not None and data.votes.labels.tolist() == [
        "POSITIVE",
        "NEUTRAL",
        "NEGATIVE",
    ]  # as in the options
    assert data.votes.tasks.tolist() == ["Bad", "Great phone"] and data.votes.workers.tolist() == [
        "reviews-alice",
        "reviews-bo",
    ]
    assert data.votes.counts().tolist() == [[0, 0, 1], [1.5, 0.5, 0]]
    assert data.votes.when is not None and data.votes.when[0] == 1707211049
    assert data.items is not None and data.items.columns == ["task", "text", "source"]
    assert notes == [
        "tasks are named by 'text' (another field, such as _input_hash: task=..., --task)",
        "1 ignored record is not a vote",
        "1 rejected record has no label and was dropped",
        "1 record has no chosen option and was dropped",
        "1 record has several labels, in equal shares",
    ]


def test_options_with_numbers_are_named_by_their_text(tmp_path: Path) -> None:
    options = [{"id": 0, "text": "no"}, {"id": 1, "text": "yes"}]
    data, _ = read_lines(tmp_path, chosen("A", "ann", 1, options=options), chosen("B", "ann", 0, options=options))
    assert rows(data) == [("A", "reviews-ann", "yes"), ("B", "reviews-ann", "no")]


def test_a_label_shown_is_accepted_or_rejected(tmp_path: Path) -> None:
    def spam(text: str, who: str, answer: str, label: str = "SPAM") -> dict[str, Any]:
        return record(text, who, answer, "classification", label=label, spans=[{"start": 0, "end": 3, "pattern": 7}])

    one = [spam("Win money", "ann", "accept"), spam("Win money", "bo", "reject"), spam("Hello", "ann", "reject")]
    data, notes = read_lines(tmp_path, *one)
    assert rows(data) == [
        ("Hello", "reviews-ann", "reject"),
        ("Win money", "reviews-ann", "accept"),
        ("Win money", "reviews-bo", "reject"),
    ]
    assert "the votes accept or reject the label 'SPAM'" in notes
    several = [*one, spam("Hello", "ann", "accept", "GREETING")]
    data, notes = read_lines(tmp_path, *several)
    assert data.votes is not None and data.votes.tasks.tolist() == [
        "Hello [GREETING]",
        "Hello [SPAM]",
        "Win money [SPAM]",
    ]
    assert data.items is not None and data.items["input"].to_list() == ["Win money", "Hello", "Hello"]
    assert any("every pair of input and label is a task" in note and "--label GREETING" in note for note in notes)
    assert rows(read_lines(tmp_path, *several, label="GREETING")[0]) == [("Hello", "reviews-ann", "accept")]


def test_categories_and_marked_texts(tmp_path: Path) -> None:
    data, _ = read_lines(tmp_path, record("A", "ann", view="blocks", cats={"x": 1, "y": 0}))
    assert (
        rows(data) == [("A", "reviews-ann", "x")]
        and data.votes is not None
        and data.votes.labels.tolist() == ["x", "y"]
    )
    data, _ = read_lines(tmp_path, record("A", "ann", "reject", view="text"))  # prodigy mark
    assert rows(data) == [("A", "reviews-ann", "reject")]


def test_names_of_tasks_and_workers(tmp_path: Path) -> None:
    long = [chosen(text * 60, "ann", "NEUTRAL") for text in ("abc", "xyz")]
    data, notes = read_lines(tmp_path, *long)
    assert data.votes is not None and data.votes.tasks.tolist() == [one["_input_hash"] for one in long]
    assert any(note.startswith("tasks are named by _input_hash") for note in notes)
    with_id = [chosen(text, "ann", "POSITIVE", "NEUTRAL", meta={"id": f"r{text}"}) for text in "ab"]
    data, _ = read_lines(tmp_path, *with_id)
    assert data.votes is not None and data.votes.tasks.tolist() == ["ra", "rb"]
    session = chosen("A", "ann", "NEUTRAL", _annotator_id="2024-02-06_10-17-19", image="data:image/png;base64,AAAA")
    data, notes = read_lines(tmp_path, session, task="_input_hash")
    assert rows(data) == [(65, "2024-02-06_10-17-19", "NEUTRAL")]
    assert data.items is not None and "image" not in data.items.columns
    assert any("one person may be several workers" in note for note in notes)
    assert rows(read_lines(tmp_path, session, worker="_session_id")[0])[0][1] == "reviews-ann"


def test_spans_and_unknown_fields_are_errors_that_say_what_there_is(tmp_path: Path) -> None:
    span = record("Ann", "ann", view="ner_manual", spans=[{"start": 0, "end": 3, "label": "PERSON"}], tokens=[])
    with pytest.raises(InputError, match="it has spans or boxes"):
        read(write(tmp_path, span))
    with pytest.raises(InputError, match=r"'title' \(task\) in record 1; it has 'text', 'source'"):
        read(write(tmp_path, chosen("A", "ann", "NEUTRAL")), task="title")
    with pytest.raises(InputError, match=r"no field 'user' \(worker\)"):
        read(write(tmp_path, chosen("A", "ann", "NEUTRAL")), worker="user")
