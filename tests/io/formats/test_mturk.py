"""Batch results of Mechanical Turk are read: HTML fields, crowd elements, rejected assignments, several batches."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset_reader import as_votes, dataset_of_given, read

FIXED = {
    "HITTypeId": "3AEIGPNMBC8WXLMTBMT2LGGG3ZUSNA",
    "Title": "Sentiment of a review",
    "Description": "Read one sentence, and choose",
    "Keywords": "text, quick",
    "Reward": "$0.05",
    "CreationTime": "Wed Mar 09 21:02:11 PST 2021",
    "MaxAssignments": "3",
    "RequesterAnnotation": "BatchId:4321;OriginalHitTemplateId:928390909;",
    "AcceptTime": "Wed Mar 09 22:15:51 PST 2021",
    "SubmitTime": "Wed Mar 09 22:16:08 PST 2021",
    "WorkTimeInSeconds": "17",
    "LifetimeApprovalRate": "100% (4/4)",
}
ROWS = [  # HIT, worker, status, Input.id, Input.text, label, comment
    ("3H1", "A1AAA", "Approved", "r1", "Lovely, warm and cheap", "Positive", "{}"),
    ("3H1", "A2BBB", "Approved", "r1", "Lovely, warm and cheap", "Positive", ""),
    ("3H1", "A3SPAM", "Rejected", "r1", "Lovely, warm and cheap", "Negative", ""),
    ("3H2", "A1AAA", "Submitted", "r2", "Broke on day two", "Negative", ""),
    ("3H2", "A2BBB", "Approved", "r2", "Broke on day two", "Neutral", "not sure"),
    ("3H9", "A4DDD", "Approved", "r2", "Broke on day two", "Negative", ""),  # the same input in a second batch
]


def batch(path: Path, rows: list[dict[str, str]]) -> Path:
    """Write a batch result as Mechanical Turk does: every field is quoted."""
    named = [{"HITId": "", **FIXED, "AssignmentId": f"3AS{i}", **row} for i, row in enumerate(rows)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(named[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(named)
    return path


def sentiments(**changed: str) -> list[dict[str, str]]:
    names = ("HITId", "WorkerId", "AssignmentStatus", "Input.id", "Input.text", "Answer.sentiment", "Answer.comment")
    return [dict(zip(names, row, strict=True)) | {"Approve": "", "Reject": ""} | changed for row in ROWS]


def test_a_batch_is_read_without_options(tmp_path: Path) -> None:
    with pytest.warns(PlurivoxWarning) as notes:
        data = read(batch(tmp_path / "Batch_4321_batch_results.csv", sentiments()))
    votes = data.votes
    assert (
        votes is not None
        and votes.tasks.tolist() == ["r1", "r2"]
        and votes.workers.tolist() == ["A1AAA", "A2BBB", "A4DDD"]
    )
    assert votes.labels.tolist() == ["Negative", "Neutral", "Positive"]
    assert votes.counts().tolist() == [[0, 0, 2], [2, 1, 0]]
    assert votes.seconds is not None and votes.seconds[0] == 17
    assert votes.when is not None and votes.when[0] == np.datetime64("2021-03-10T06:16:08").astype(
        "datetime64[s]"
    ).astype(int)
    assert data.items is not None and data.items.to_dicts()[1] == {"task": "r2", "id": "r2", "text": "Broke on day two"}
    assert [str(note.message) for note in notes] == [
        "1 rejected assignment of the workers 'A3SPAM' left out; to keep them, set AssignmentStatus to Approved in the file",
        "tasks are named by Input.id; name another column, such as HITId, by task=... (--task)",
        "1 HIT merged with another that has the same Input.id",
        "votes are the answers to 'sentiment'; other questions are 'comment': label=... (--label)",
    ]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_the_caller_names_task_and_question(tmp_path: Path) -> None:
    path = batch(tmp_path / "b.csv", [{**row, "Answer.tone": "calm"} for row in sentiments()])
    with pytest.raises(InputError, match="select one: label='sentiment'"):
        read(path)
    votes = read(path, task="HITId", label="sentiment").votes
    assert votes is not None and votes.tasks.tolist() == ["3H1", "3H2", "3H9"] and votes.n_labels == 3
    assert read(path, label="Answer.tone", task="text").votes.tasks.tolist() == [
        "Broke on day two",
        "Lovely, warm and cheap",
    ]
    with pytest.raises(InputError, match="no questions named 'mood'"):
        read(path, label="mood")


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(
    ("answers", "labels", "counts"),
    [
        (({"Answer.category.label": "cat"}, {"Answer.category.label": "dog"}), ["cat", "dog"], [1, 1]),
        (
            (
                {"Answer.animal.cat": "true", "Answer.animal.dog": "false"},
                {"Answer.animal.cat": "false", "Answer.animal.dog": "true"},
            ),
            ["cat", "dog"],
            [1, 1],
        ),
        (({"Answer.animals": "cat|dog"}, {"Answer.animals": "dog"}), ["cat", "dog"], [0.5, 1.5]),
        (({"Answer.cat.cat": "true"}, {"Answer.cat.cat": "false"}), ["false", "true"], [1, 1]),
        (
            ({"Answer.category.labels": '["cat", "dog"]'}, {"Answer.category.labels": '["dog"]'}),
            ["cat", "dog"],
            [0.5, 1.5],
        ),
        (
            (
                {"Answer.taskAnswers": '[{"animal":{"cat":true,"dog":false},"comment":""}]'},
                {"Answer.taskAnswers": '[{"animal":{"cat":false,"dog":true},"comment":"blurred"}]'},
            ),
            ["cat", "dog"],
            [1, 1],
        ),
        (
            (
                {"Answer.taskAnswers": '[{"category":{"label":"cat"},"box":{"boundingBoxes":[]}}]'},
                {"Answer.taskAnswers": '[{"category":{"label":"dog"}}]'},
            ),
            ["cat", "dog"],
            [1, 1],
        ),
    ],
    ids=[
        "classifier",
        "radio",
        "boxes of a form",
        "one box",
        "multi-select",
        "task answers",
        "task answers, classifier",
    ],
)
def test_kinds_of_questions(
    tmp_path: Path, answers: tuple[dict[str, str], ...], labels: list[str], counts: list[float]
) -> None:
    rows = [
        {"HITId": "3H1", "WorkerId": f"A{i}", "AssignmentStatus": "Approved", "Input.image_url": "a.jpg", **answer}
        for i, answer in enumerate(answers)
    ]
    votes = read(batch(tmp_path / "b.csv", rows), **({"label": "animal"} if "comment" in str(answers) else {})).votes
    assert votes is not None and votes.labels.tolist() == labels and votes.counts().tolist() == [counts]
    assert votes.tasks.tolist() == ["a.jpg"]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_rows_marked_for_rejection_are_left_out(tmp_path: Path) -> None:
    rows = sentiments(AssignmentStatus="Submitted")
    rows[0]["Reject"] = "did not read the text"
    votes = read(batch(tmp_path / "b.csv", rows)).votes
    assert votes is not None and votes.n_answers == 5


def several_items(questions: tuple[str, str] = ("label_1", "label_2"), inputs: str = "image_url_{}") -> pl.DataFrame:
    """Return results of two HITs with two images each, by two workers; the last image is missing."""
    rows = [
        ("H1", "w1", "a.jpg", "b.jpg", "cat", "dog"),
        ("H1", "w2", "a.jpg", "b.jpg", "cat", "cat"),
        ("H2", "w1", "c.jpg", None, "dog", None),
    ]
    shown = [f"Input.{inputs.format(number)}" for number in (1, 2)]
    names = ["HITId", "WorkerId", *shown, *(f"Answer.{one}" for one in questions)]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(AssignmentId=pl.int_range(pl.len()).cast(pl.String), WorkTimeInSeconds=pl.lit(60))


@pytest.mark.parametrize("questions", [("label_1", "label_2"), ("label1", "label2"), ("q1_label", "q2_label")])
def test_question_k_is_about_item_k(questions: tuple[str, str]) -> None:
    with pytest.warns(PlurivoxWarning, match="several items per HIT"):
        votes = as_votes(several_items(questions))
    shown = set(zip(votes.tasks[votes.task], votes.workers[votes.worker], votes.labels[votes.label], strict=True))
    assert shown == {
        ("a.jpg", "w1", "cat"),
        ("a.jpg", "w2", "cat"),
        ("b.jpg", "w1", "dog"),
        ("b.jpg", "w2", "cat"),
        ("c.jpg", "w1", "dog"),
    }
    assert votes.seconds is not None and sorted(votes.seconds) == [30, 30, 30, 30, 60]


def test_answers_of_several_items_in_json() -> None:
    frame = (
        several_items()
        .with_columns(
            pl.Series(
                "Answer.taskAnswers",
                ['[{"label1":"cat","label2":"dog"}]', '[{"label1":"cat","label2":"cat"}]', '[{"label1":"dog"}]'],
            )
        )
        .drop("Answer.label_1", "Answer.label_2")
    )
    with pytest.warns(PlurivoxWarning, match="several items per HIT"):
        votes = as_votes(frame)
    assert votes.tasks.tolist() == ["a.jpg", "b.jpg", "c.jpg"]
    assert len(votes.task) == 5


def test_one_of_several_items_is_named_by_its_own_image() -> None:
    with pytest.warns(PlurivoxWarning):
        votes = dataset_of_given(several_items(), label="label_2").votes
    assert votes is not None and votes.tasks.tolist() == ["b.jpg"]


def test_numbers_that_do_not_pair_are_an_error_that_says_what_works() -> None:
    frame = several_items().rename({"Answer.label_1": "Answer.label_0", "Answer.label_2": "Answer.label_1"})
    with pytest.raises(InputError, match="--label label_0 --task HITId"):
        as_votes(frame)
    with pytest.warns(PlurivoxWarning):
        votes = dataset_of_given(frame, label="label_0", task="HITId").votes
    assert votes is not None and votes.tasks.tolist() == ["H1", "H2"]
