"""Label Studio exports in the CSV and TSV formats."""

import csv
from pathlib import Path

import pytest

from plurivox.core.errors import InputError
from plurivox.io import read

TIME = "2021-03-09T22:16:08Z"
ROWS = [  # columns in alphabetical order, as Label Studio writes them
    [
        "annotation_id",
        "annotator",
        "created_at",
        "id",
        "image",
        "lead_time",
        "sentiment",
        "updated_at",
        "was_cancelled",
    ],
    ["8", "ann@x.org", TIME, "11", "/data/1.png", "4.5", "Very good", TIME, "False"],
    ["9", "bo@x.org", TIME, "11", "/data/1.png", "2", '{"choices": ["Good", "Very good"]}', TIME, "False"],
    ["10", "bo@x.org", TIME, "12", "/data/2.png", "2", "Good", TIME, "False"],
    ["11", "cy@x.org", TIME, "12", "/data/2.png", "2", "", TIME, "True"],
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_the_column_with_the_labels_is_found(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"project{suffix}"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter="," if suffix == ".csv" else "\t").writerows(ROWS)
    with pytest.warns(UserWarning) as told:
        data = read(path)
    assert data.votes is not None and data.votes.workers.tolist() == ["ann@x.org", "bo@x.org"]
    assert data.votes.counts().tolist() == [[0.5, 1.5], [1, 0]] and data.votes.labels.tolist() == ["Good", "Very good"]
    assert data.votes.seconds is not None and data.votes.seconds[0] == 4.5
    assert data.items is not None and data.items.to_dicts()[0] == {"task": "11", "image": "/data/1.png"}
    notes = [str(one.message) for one in told]
    assert any("the column 'sentiment' (another: label=..., --label; others: 'image')" in note for note in notes)
    assert any("1 cancelled annotation was skipped" in note for note in notes)


def test_two_columns_that_may_be_the_question_are_an_error_that_names_them(tmp_path: Path) -> None:
    path = tmp_path / "project.csv"
    path.write_text(
        "annotation_id,annotator,animal,created_at,id,lead_time,sure,text,updated_at\n"
        "1,ann,cat,,7,1,yes,A,\n2,bo,dog,,7,1,no,A,\n3,bo,dog,,8,1,no,B,\n4,ann,dog,,9,1,no,C,\n5,ann,dog,,10,1,no,D,\n"
    )
    with pytest.raises(
        InputError, match=r"'animal', 'sure' may be the question; name it: label='animal' \(--label animal\)"
    ):
        read(path)
    data = read(path, label="animal", task="text")
    assert data.votes is not None and data.votes.tasks.tolist() == ["A", "B", "C", "D"] and data.votes.n_answers == 5


def test_the_choice_is_read_beside_a_rating_and_a_text(tmp_path: Path) -> None:
    path = tmp_path / "project.csv"
    rows = [f"{i},{who},{TIME},{i % 4},{what},0,\"note, {i}\",\"[{{\"\"rating\"\": {i % 3 + 1}}}]\",text {i % 4},{TIME}"
            for i, (who, what) in enumerate(zip("abcabcab", ["cat", "dog"] * 2 + ["dog"] * 4, strict=True))]  # fmt: skip
    header = "annotation_id,annotator,created_at,id,kind,lead_time,note,quality,text,updated_at"
    path.write_text("\n".join([header, *rows]))
    with pytest.warns(UserWarning, match="labels are read from the column 'kind'"):
        assert read(path).crowd().counts().sum(0).tolist() == [2, 6]
    stars = read(path, label="quality").crowd()
    assert stars.labels.tolist() == [1, 2, 3] and stars.scale is not None
