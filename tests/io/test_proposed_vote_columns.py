"""Columns with unusual names: one is found by its values, more are proposed in an error, ready to be copied."""

import shlex
from pathlib import Path

import pandas as pd
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning

ROWS = pd.DataFrame(
    [
        (f"L{line}", f"Line {line} of the play", who, said, age)
        for line in range(1, 7)
        for who, said, age in (
            ("Ivo", ("praise", "blame")[line % 2], 31),
            ("Mia K.", ("praise", "blame")[line % 3 == 0], 44),
            ("Zoe", ("praise", "blame", "neither")[line % 3], 31),
        )
    ],
    columns=["ref", "line", "who said it", "tone", "age"],
)


def test_the_error_proposes_options_that_work(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "play.csv", index=False)
    with pytest.raises(InputError, match="'ref' may be the task, 'who said it' the worker, 'tone' the label") as said:
        pv.read(tmp_path / "play.csv")
    words = shlex.split(str(said.value).split("if so: ")[1].split(" (in Python")[0])
    assert words == ["--task", "ref", "--worker", "who said it", "--label", "tone"]
    options = {flag.removeprefix("--"): value for flag, value in zip(words[::2], words[1::2], strict=True)}
    assert pv.read(tmp_path / "play.csv", **options).votes.n_workers == 3


def test_a_table_in_memory_gets_the_call() -> None:
    with pytest.raises(InputError, match=r"if so: pv.votes\(table, task='ref', worker='who said it', label='tone'\)"):
        pv.agreement(ROWS)


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (
            {"ref": "item", "who said it": "coder"},
            "read 'item' as the task, 'coder' as the worker, 'tone' as the label",
        ),
        ({"ref": "item", "tone": "label"}, "'who said it' as the worker"),
        (
            {"who said it": "Annotateur", "tone": "Décision", "ref": "Référence", "line": "Titre"},
            "'Référence' as the task",
        ),
    ],
)
def test_the_third_column_is_found_by_its_values(names: dict[str, str], note: str) -> None:
    with pytest.warns(PlurivoxWarning, match=note):
        votes = pv.votes(ROWS.rename(columns=names))
    assert (len(votes), votes.n_tasks, votes.n_workers, votes.n_labels) == (18, 6, 3, 3)


def test_labels_found_by_values_may_be_booleans_and_not_measures(tmp_path: Path) -> None:
    table = ROWS.assign(
        item=ROWS["ref"], is_praise=ROWS["tone"] == "praise", minutes="2,5", day="2024-03-01", confidence=2
    )
    table.loc[::2, ["minutes", "day", "confidence"]] = ["3,0", "2024-03-02", 5]
    table = table.rename(columns={"who said it": "coder"})[
        ["item", "coder", "is_praise", "minutes", "day", "confidence"]
    ]
    table.to_csv(tmp_path / "play.csv", index=False)
    with pytest.warns(PlurivoxWarning, match="'is_praise' as the label"):
        assert pv.read(tmp_path / "play.csv").votes.labels.tolist() == ["False", "True"]


def test_one_row_per_task_has_no_worker_to_be_found() -> None:
    table = pd.DataFrame({"image": range(12), "split": ["train", "test"] * 6, "class": ["a", "b", "b"] * 4})
    with pytest.raises(InputError, match="missing column 'worker'"):
        pv.votes(table)


def test_a_name_that_the_caller_gives_is_not_replaced() -> None:
    with pytest.raises(InputError, match="missing column 'mood'"):
        pv.votes(ROWS, task="ref", worker="who said it", label="mood")


def test_with_two_possible_labels_none_is_read() -> None:
    table = ROWS.rename(columns={"ref": "item", "who said it": "coder"}).assign(
        mood=["sad", "glad", "calm", "sad", "glad", "sad"] * 3
    )
    with pytest.raises(
        InputError, match=r"by their values 'tone' or 'mood' may be the label; select one, .* label='tone'"
    ):
        pv.votes(table)


def test_columns_of_numbers_beside_texts_may_be_workers_or_counts(tmp_path: Path) -> None:
    rows = "".join(f"{i},Some text,{i % 2 + 1},{i % 3 + 1}\n" for i in range(12))
    (tmp_path / "texts.csv").write_text("id,text,ann,bo\n" + rows)
    with pytest.raises(InputError, match=r"'ann', 'bo' are workers, .* \(--worker ann,bo\); if they count .*pv.counts"):
        pv.read(tmp_path / "texts.csv")
    with pytest.warns(PlurivoxWarning, match="read 'id' as the task"):
        assert pv.read(tmp_path / "texts.csv", worker=["ann", "bo"]).votes.n_tasks == 12


@pytest.mark.parametrize(
    "table",
    [
        ROWS.assign(mood=["sad", "glad", "calm"] * 2 + ["glad", "sad"] * 6),  # two columns that may be labels
        ROWS.drop(columns="who said it"),  # no workers
        ROWS.head(3),  # one task
    ],
)
def test_unclear_tables_get_no_proposal(table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="missing column") as said:
        pv.votes(table)
    assert "by their values" not in str(said.value)


def test_remarks_do_not_make_the_label_ambiguous() -> None:
    rows = {
        "item": [f"i{i // 3}" for i in range(30)],
        "rater": ["ann", "bo", "cy"] * 10,
        "Severity": ["low", "high", "low", "high", "high"] * 6,
        "Further words": ["blurred", None, None, "twice", None, None, "blurred", None, "twice", None] * 3,
        "Remarks": ["ok", "ok", "odd"] * 10,
    }
    with pytest.warns(PlurivoxWarning, match="'Severity' as the label"):
        assert pv.votes(rows).labels.tolist() == ["high", "low"]
