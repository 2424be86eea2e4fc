"""Tables of surveys: one row per person, one column per question."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plurivox.core.errors import InputError
from plurivox.io.dataset_reader import as_dataset, read

FORM = """Timestamp,Email Address,Age group,1. Sarcastic? “Great; rain”,2. Sarcastic? “I like it”,3. Colours?,Any more?
4/9/2024 14:03:00,ann@x.org,18-24,Yes,No,Red,
4/9/2024 14:56:00,bo@x.org,25-34,,No,Red,"hard, really"
4/10/2024 8:15:40,ann@x.org,18-24,No,Yes,Blue,nice
"""
HEADER = [
    *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "RecordedDate"),
    *("ResponseId", "Consent", "Q1", "Q2", "PID"),
]
TEXTS = ["", *HEADER[1:10], "How funny?\n\nCaption 1", "How funny? Caption 2", "PID"]
IDS = [f'{{"ImportId":"{name}"}}' for name in HEADER]


def qualtrics(path: Path, person: str, yes: str, no: str, preview: str) -> Path:
    """Write an export of Qualtrics, which has three rows of headings."""
    times = "2024-03-13 08:00:00", "2024-03-13 08:23:19"
    responses = [
        [*times, person, "10.1.0.1", "100", "1399", yes, times[1], "R_1", "Yes", "Very", "A bit", "p1"],
        [*times, person, "10.1.1.4", "100", "732", yes, times[1], "R_2", "Yes", "", "Very", "p2"],
        [*times, person, "10.1.2.7", "38", "387", no, times[1], "R_3", "Yes", "A bit", "Very", "p3"],
        [*times, preview, "10.1.3.1", "100", "708", yes, times[1], "R_4", "Yes", "A bit", "Very", "p4"],
    ]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([HEADER, TEXTS, IDS, *responses])
    return path


def test_google_forms(tmp_path: Path) -> None:
    path = tmp_path / "Survey (Responses) - Form Responses 1.csv"
    path.write_text(FORM)
    with pytest.warns(UserWarning) as told:
        data = read(path)
    votes = data.crowd()
    assert votes.tasks.tolist() == ["1. Sarcastic? “Great; rain”", "2. Sarcastic? “I like it”"]
    assert votes.workers.tolist() == ["ann@x.org", "bo@x.org"] and votes.labels.tolist() == ["No", "Yes"]
    assert votes.counts().tolist() == [[1, 0], [1, 1]]  # the later form of ann counts
    assert votes.when is not None and votes.when[0] == np.datetime64("2024-04-10T08:15:40").astype(int)
    assert data.workers is not None and data.workers.to_dicts()[1] == {
        "worker": "bo@x.org", "Age group": "25-34", "3. Colours?": "Red", "Any more?": "hard, really"
    }  # fmt: skip
    notes = [str(one.message) for one in told]
    assert notes[0].startswith(
        "read as Google Forms: rows are workers, named by 'Email Address'; the tasks are 2 columns: '1."
    )
    assert notes[2] == "2 repeated answers of a worker to the same task dropped; the last one is kept"
    with pytest.warns(UserWarning):
        assert read(path, repeats="first").crowd().counts().tolist() == [[0, 1], [2, 0]]
        assert read(path, task="3.*", worker="Age group", repeats="keep").crowd().workers.tolist() == ["18-24", "25-34"]
    with pytest.raises(InputError, match=r"no question matches 'Q\*'"):
        read(path, task="Q*")


@pytest.mark.parametrize("values", [("IP Address", "True", "False", "Survey Preview"), ("0", "1", "0", "1")])
def test_qualtrics(tmp_path: Path, values: tuple[str, ...]) -> None:
    with pytest.warns(UserWarning) as told:
        data = read(qualtrics(tmp_path / "Captions_March 14, 2024_09.31.csv", *values))
    votes = data.crowd()
    assert votes.tasks.tolist() == ["Q1", "Q2"] and votes.workers.tolist() == ["R_1", "R_2"]
    assert votes.labels.tolist() == ["A bit", "Very"] and votes.counts().tolist() == [[0, 1], [1, 1]]
    assert data.items is not None and data.items["text"].to_list() == [
        "How funny?\n\nCaption 1",
        "How funny? Caption 2",
    ]
    assert data.workers is not None and data.workers.to_dicts()[0] == {
        "worker": "R_1", "Duration (in seconds)": "1399", "Consent": "Yes", "PID": "p1"
    }  # fmt: skip
    notes = [str(one.message) for one in told]
    assert notes[2:] == [
        "1 preview, test or spam response left out (Status)",
        "1 unfinished response left out; to keep them, set Finished to True in the file",
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_several_answers_to_a_question_and_ratings() -> None:
    form = {"Timestamp": ["1/31/2024 9:00:00", "2/1/2024 9:00:00", "2/1/2024 9:30:00"]}
    seen = as_dataset({**form, "Seen [a.png]": ["cat", "cat, dog", "dog"], "Seen [b.png]": ["dog", None, "cat, yeti"]})
    assert seen.crowd().labels.tolist() == ["cat", "cat, yeti", "dog"] and seen.crowd().workers.tolist() == [1, 2, 3]
    assert seen.crowd().counts().tolist() == [[1.5, 0, 1.5], [0, 1, 1]]
    stars = as_dataset({**form, "How good is a?": [4.0, None, 5.0], "How good is b?": [5.0, 4.0, 4.0]}).crowd()
    assert stars.labels.tolist() == [4, 5] and stars.counts().tolist() == [[1, 1], [2, 1]]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_row_per_annotator_is_read_and_a_table_of_their_traits_is_not() -> None:
    answers = {"a.png": ["cat", "cat"], "b.png": ["dog", "cat"], "c.png": ["dog", None]}
    votes = as_dataset(pl.DataFrame({"annotator": ["ann", "bo"], **answers})).crowd()
    assert votes.tasks.tolist() == ["a.png", "b.png", "c.png"] and votes.workers.tolist() == ["ann", "bo"]
    for traits in ({"native": ["yes", "no"], "paid": ["no", "yes"]}, {"n": [3, 4], "tasks": [3, 4], "answers": [3, 4]}):
        with pytest.raises(InputError, match="missing column"):
            as_dataset({"annotator": ["ann", "bo"], **traits})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("started", ["2024-03-13 08:00:00", "2024-03-13 08:31:00", "2024-03-13 09:02:00"]),
        ("contact", ["ann@x.org", "bo@x.org", "cy@x.org"]),
        ("address", ["10.1.0.1", "10.1.1.4", "10.1.2.7"]),
        ("participant", ["p1", "p2", "p3"]),
    ],
)
def test_rows_of_people_are_never_read_as_tasks(name: str, values: list[str]) -> None:
    answers = {"q1": ["yes", "no", "no"], "q2": ["no", "no", "yes"]}
    with pytest.raises(InputError, match="missing column"):
        as_dataset({name: values, **answers})
    with pytest.warns(UserWarning, match="wide table"):
        assert as_dataset({"item": ["a", "b", "c"], **answers}).crowd().workers.tolist() == ["q1", "q2"]
