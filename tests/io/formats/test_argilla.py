"""Argilla data sets: JSON records, folders and tables."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plurivox.core.errors import InputError
from plurivox.io import Dataset, read

ANN, BO = "a1b2c3d4-0000-4000-8000-000000000001", "a1b2c3d4-0000-4000-8000-000000000002"


def by(user: str, value: Any, status: str | None = "submitted") -> dict[str, Any]:
    return {"value": value, "user_id": user, **({} if status is None else {"status": status})}


def record(number: int, **responses: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"review-{number}",
        "fields": {"text": f"Text {number}"},
        "metadata": {"source": "web"},
        "suggestions": {"label": {"value": "pos", "score": 0.9, "agent": "model"}},
        "responses": responses,
        "vectors": {},
        "_server_id": f"0f4c8a3e-0000-4000-8000-00000000000{number}",
    }


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text(json.dumps(records))
    return path


def rows(data: Dataset) -> list[tuple[object, ...]]:
    assert data.votes is not None
    return list(zip(*(data.votes.columns()[name].tolist() for name in ("task", "worker", "label")), strict=True))


def test_submitted_answers_become_votes(tmp_path: Path) -> None:
    path = write(
        tmp_path / "records.json",
        record(1, label=[by(ANN, "pos"), by(BO, "neg", None)]),  # versions before 2.1 wrote no status
        record(2, label=[by(ANN, "neg", "draft"), by(BO, "pos", "discarded")]),
    )
    with pytest.warns(UserWarning) as told:
        data = read(path)
    assert rows(data) == [("review-1", ANN, "pos"), ("review-1", BO, "neg")]
    assert data.votes is not None and data.votes.tasks.tolist() == ["review-1", "review-2"]
    assert [str(one.message) for one in told] == ["1 draft was left out", "1 discarded answer was left out"]
    assert data.items is not None
    assert data.items.to_dicts()[0] == {"task": "review-1", "text": "Text 1", "source": "web"}


def test_one_of_several_questions_is_selected(tmp_path: Path) -> None:
    path = write(
        tmp_path / "records.json",
        record(
            1,
            topics=[by(ANN, ["food", "price"]), by(BO, ["food"])],
            stars=[by(ANN, 4), by(BO, 5)],
            order=[by(ANN, ["b", "a"]), by(BO, ["a", "b"])],
            reason=[by(ANN, "The price was fine, and the food was better than I had expected it to be.")],
        ),
    )
    with pytest.warns(UserWarning) as told:  # the only choice among labels: the others are a rating, a ranking, a text
        assert read(path).crowd().counts().tolist() == [[1.5, 0.5]]
    notes = [str(one.message) for one in told]
    select = "label='order' (--label order) selects another"
    assert notes[1] == f"3 other questions were left out: 'order', 'reason', 'stars'; {select}"
    with pytest.warns(UserWarning):
        stars = read(path, label="stars")
    assert rows(stars) == [("review-1", ANN, 4), ("review-1", BO, 5)] and stars.crowd().scale is not None
    with pytest.warns(UserWarning) as told:
        assert rows(read(path, label="order")) == [("review-1", ANN, "b"), ("review-1", BO, "a")]
    assert "first options of rankings" in str(told[0].message)


def test_two_questions_of_labels_are_an_error_that_names_them(tmp_path: Path) -> None:
    path = write(tmp_path / "records.json", record(1, mood=[by(ANN, "sad")], tone=[by(ANN, "dry")], stars=[by(ANN, 4)]))
    with pytest.raises(
        InputError, match=r"questions 'mood', 'stars', 'tone'; select one: label='mood' \(--label mood\)"
    ):
        read(path)


def test_the_folder_of_to_disk_knows_the_labels(tmp_path: Path) -> None:
    options = [{"value": one, "text": one, "description": None} for one in ("neg", "neutral", "pos")]
    question = {"name": "label", "settings": {"type": "label_selection", "options": options, "visible_options": 3}}
    comment = {"name": "comment", "settings": {"type": "text", "use_markdown": False}}
    (tmp_path / ".argilla").mkdir()
    (tmp_path / ".argilla" / "settings.json").write_text(json.dumps({"questions": [question, comment], "fields": []}))
    (tmp_path / ".argilla" / "dataset.json").write_text(json.dumps({"name": "reviews"}))
    write(tmp_path / "records.json", record(1, label=[by(ANN, "pos")], comment=[by(ANN, "ok")]))
    with pytest.warns(UserWarning, match="1 other question was left out: 'comment'"):
        data = read(tmp_path)
    assert data.name == "reviews" and data.crowd().labels.tolist() == ["neg", "neutral", "pos"]


def test_a_table_of_the_hub(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "id": ["r1", "r2"],
            "status": ["completed", "pending"],
            "_server_id": ["s1", "s2"],
            "text": ["A", "B"],
            "source": ["web", None],
            "stars.responses": [[4, 5], [1]],
            "stars.responses.users": [[ANN, BO], [ANN]],
            "stars.responses.status": [["submitted", "submitted"], ["draft"]],
            "stars.suggestion": [3, None],
            "stars.suggestion.score": [0.5, None],
        }
    ).write_parquet(tmp_path / "train.parquet")
    with pytest.warns(UserWarning, match="1 draft was left out"):
        data = read(tmp_path / "train.parquet")
    assert rows(data) == [("r1", ANN, 4), ("r1", BO, 5)] and data.crowd().tasks.tolist() == ["r1", "r2"]
    assert data.items is not None and data.items.columns == ["task", "text", "source"]


def test_feedback_data_sets_of_argilla_1(tmp_path: Path) -> None:
    nothing = {"type": None, "score": None, "agent": None}
    frame = pl.DataFrame(
        {
            "prompt": ["A", "B"],
            "quality": [[{"user_id": ANN, "value": "good", "status": "submitted"}], []],
            "quality-suggestion": ["bad", None],
            "quality-suggestion-metadata": [nothing, nothing],
            "external_id": [None, None],
            "metadata": ['{"page": 3}', "{}"],
        }
    )
    frame.write_parquet(tmp_path / "train.parquet")
    data = read(tmp_path / "train.parquet")
    assert rows(data) == [("A", ANN, "good")]
    assert data.items is not None and data.items["page"].to_list() == [3, None]
    values = {"quality": {"value": "good"}}
    response = {"user_id": ANN, "values": values, "status": "submitted"}
    old = {"fields": {"prompt": "A"}, "responses": [response], "suggestions": [], "external_id": "e1"}
    assert rows(read(write(tmp_path / "records.json", old))) == [("e1", ANN, "good")]


def test_data_sets_without_labels_are_errors(tmp_path: Path) -> None:
    span = [{"start": 0, "end": 4, "label": "PER"}]
    path = write(tmp_path / "records.json", record(1, spans=[by(ANN, span)]))
    with pytest.raises(InputError, match=r"no answers that can be read as votes; it has 'spans' \(span\)"):
        read(path)
