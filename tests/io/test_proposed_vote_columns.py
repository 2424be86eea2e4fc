"""A table whose columns have unusual names is not read; the error names the columns by their values, ready to be copied."""

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
    columns=["ref", "line", "who said it", "code", "age"],
)


def test_the_error_proposes_options_that_work(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "play.csv", index=False)
    with pytest.raises(InputError, match="'ref' may be the task, 'who said it' the worker, 'code' the label") as said:
        pv.read(tmp_path / "play.csv")
    words = shlex.split(str(said.value).split("if so: ")[1].split(" (in Python")[0])
    assert words == ["--task", "ref", "--worker", "who said it", "--label", "code"]
    options = {flag.removeprefix("--"): value for flag, value in zip(words[::2], words[1::2], strict=True)}
    assert pv.read(tmp_path / "play.csv", **options).votes.n_workers == 3


def test_a_table_in_memory_gets_the_call() -> None:
    with pytest.raises(InputError, match=r"if so: pv.votes\(table, task='ref', worker='who said it', label='code'\)"):
        pv.agreement(ROWS)


def test_columns_that_are_known_are_not_proposed_again() -> None:
    table = ROWS.rename(columns={"ref": "item", "who said it": "coder"})
    with pytest.raises(
        InputError, match=r"by their values 'code' may be the label; if so: pv.votes\(table, label='code'\)"
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
