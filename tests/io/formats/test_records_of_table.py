"""A DataFrame made of an export's JSON records is read as the file is: fields that a record lacks do not matter."""

import io
import json
from typing import Any

import pandas as pd
import polars as pl
import pytest

from plurivox import votes
from plurivox.core.errors import PlurivoxWarning
from plurivox.core.votes import Votes
from plurivox.io.dataset_reader import as_votes

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
OPTIONS = [{"id": "SPORT", "text": "sport"}, {"id": "ART", "text": "art"}]
PRODIGY = [
    {
        "text": "a",
        "_input_hash": 1,
        "options": OPTIONS,
        "accept": ["SPORT"],
        "answer": "accept",
        "_annotator_id": "ann",
    },
    {"text": "a", "_input_hash": 1, "options": OPTIONS, "accept": ["ART"], "answer": "accept", "_annotator_id": "bo"},
    {"text": "b", "_input_hash": 2, "options": OPTIONS, "answer": "ignore", "_annotator_id": "ann", "meta": {"n": 1}},
]
BINARY = [
    {"text": "a", "_input_hash": 1, "label": "SPAM", "answer": "accept", "_annotator_id": "ann"},
    {"text": "a", "_input_hash": 1, "label": "SPAM", "answer": "reject", "_annotator_id": "bo"},
]
LABEL_STUDIO = [
    {
        "id": task,
        "data": {"text": text},
        "created_at": "2024-05-01T10:00:00Z",
        "annotations": [
            {
                "completed_by": worker,
                "lead_time": 3.5,
                "was_cancelled": False,
                "result": [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [label]}}],
            }
        ],
    }
    for task, text, worker, label in ((1, "a", 7, "SPORT"), (2, "b", 8, "ART"))
]
DOCCANO = [
    {
        "id": 1,
        "text": "a",
        "annotations": [{"label": 3, "user": 1}, {"label": 4, "user": 2}],
        "annotation_approver": None,
    },
    {"id": 2, "text": "b", "annotations": [{"label": 4, "user": 1}], "annotation_approver": "admin"},
]
ARGILLA = [
    {
        "id": text,
        "fields": {"text": text},
        "suggestions": {},
        "responses": {"mood": [{"value": label, "user_id": "u1", "status": status}]},
    }
    for text, label, status in (("a", "SPORT", "submitted"), ("b", "ART", "submitted"), ("c", "ART", "discarded"))
]
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas of lines": lambda records: pd.read_json(io.StringIO("\n".join(map(json.dumps, records))), lines=True),
    "polars": lambda records: pl.DataFrame(records, infer_schema_length=None),
    "arrow": lambda records: pl.DataFrame(records, infer_schema_length=None).to_arrow(),
}


def said(given: Votes) -> set[tuple[Any, ...]]:
    """Return the votes as (task, worker, label)."""
    columns = given.columns()
    return set(zip(columns["task"], columns["worker"], columns["label"], strict=True))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("records", [PRODIGY, BINARY, LABEL_STUDIO, DOCCANO, ARGILLA], ids="PBLDA")
def test_frame_of_an_export_is_read_as_the_export(records: list[dict[str, Any]], frame: str) -> None:
    given = FRAMES[frame](records)
    expected = as_votes(records)
    assert said(as_votes(given)) == said(votes(given)) == said(expected) and len(expected.task) >= 2


def test_label_shown_by_prodigy_is_not_the_vote() -> None:
    assert votes(pd.DataFrame(BINARY)).labels.tolist() == ["accept", "reject"]


def test_columns_named_by_the_caller_are_read_as_they_are() -> None:
    given = votes(pd.DataFrame(PRODIGY), task="text", worker="_annotator_id", label="answer")
    assert given.labels.tolist() == ["accept", "ignore"]


def test_frame_of_a_mechanical_turk_export_is_known_to_votes() -> None:
    table = {
        "HITId": ["h1", "h1"],
        "AssignmentId": ["a1", "a2"],
        "WorkerId": ["w1", "w2"],
        "AssignmentStatus": ["Approved", "Rejected"],
        "Answer.mood.label": ["glad", "sad"],
    }
    with pytest.warns(PlurivoxWarning, match="rejected"):
        assert said(votes(pd.DataFrame(table))) == {("h1", "w1", "glad")}
