"""Wide tables are recognised by the names or the values of their columns; other columns are left out."""

from pathlib import Path

import pandas as pd
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset_reader import as_dataset

NUMBERED = "comment,rater1,rater2,Rater 3\n"


def test_numbered_workers_with_empty_cells_and_texts_that_repeat(tmp_path: Path) -> None:
    rows = '"Well, no",rude,,fine\nThanks!,,NA,rude\n"Well, no",,rude,\n"So, ""what""?",fine,fine,NA\n'
    (tmp_path / "posts.csv").write_text(NUMBERED.replace("comment", "post") + rows)
    with pytest.warns(PlurivoxWarning) as said:
        votes = pv.read(tmp_path / "posts.csv").votes
    assert votes.tasks.tolist() == ['So, "what"?', "Thanks!", "Well, no"] and votes.workers.tolist()[0] == "Rater 3"
    assert votes.counts().tolist() == [[2, 0], [0, 1], [1, 2]]
    assert "1 row with a task of another row in 'post': read as the same task" in [str(one.message) for one in said]


def test_ratings_of_numbered_workers(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("id,post,rater1,rater2,consensus\n1,Hi,1,5,3\n2,Ho,,4,4\n3,Hi,3,3,3\n")
    with pytest.warns(
        PlurivoxWarning, match="'id' is the task, .* 'rater1', 'rater2' are workers, not read: 'post', 'consen"
    ):
        votes = pv.read(tmp_path / "posts.csv").votes
    assert votes.tasks.tolist() == ["1", "2", "3"] and votes.labels.tolist() == ["1", "3", "4", "5"]


@pytest.mark.parametrize(
    "names", ["consensus", "Final label", "adjudicated", "expert", "majority_vote", "aggregated label", "Final"]
)
@pytest.mark.parametrize("workers", [("ann", "bo", "cleo"), ("coder_1", "coder_2", "coder_3")])
def test_a_label_made_of_several_workers_is_no_worker(names: str, workers: tuple[str, ...]) -> None:
    table = pd.DataFrame([["a", "x", "y", "x", "x"], ["b", "y", "y", "x", "y"]], columns=["image", *workers, names])
    with pytest.warns(PlurivoxWarning, match=f"not read: '{names}'"):
        data = as_dataset(table)
    assert data.votes.workers.tolist() == list(workers) and data.gold is None


@pytest.mark.parametrize("name", ["gold", "truth", "reference", "Ground Truth"])
@pytest.mark.filterwarnings("ignore:read as a wide table")
def test_a_column_of_truth_is_gold(name: str) -> None:
    table = pd.DataFrame([["a", "x", "y", "x"], ["b", "y", "y", "y"]], columns=["image", "ann", "bo", name])
    with pytest.warns(PlurivoxWarning, match=f"column '{name}' is read as the gold labels of 2 tasks"):
        data = as_dataset(table)
    assert data.votes.workers.tolist() == ["ann", "bo"] and data.gold.hard().tolist() == ["x", "y"]


@pytest.mark.filterwarnings("ignore:read as a wide table")
def test_of_two_columns_of_truth_none_is_read() -> None:
    columns = ["image", "ann", "bo", "gold label", "truth"]
    with pytest.warns(
        PlurivoxWarning, match="the columns 'gold label', 'truth' may each be the gold labels: none of them is read"
    ):
        data = as_dataset(pd.DataFrame([["a", "x", "y", "x", "y"], ["b", "y", "y", "y", "y"]], columns=columns))
    assert data.votes.n_workers == 2 and data.gold is None


def test_a_label_beside_numbered_workers_is_their_result() -> None:
    columns = ["image", "annotator1", "annotator2", "label"]
    with pytest.warns(PlurivoxWarning, match="'annotator1', 'annotator2' are workers, not read: 'label'"):
        assert pv.votes(pd.DataFrame([["a", "x", "y", "x"], ["b", "y", "y", "y"]], columns=columns)).n_workers == 2


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (["image", "annotator1", "annotator2", "label"], ["a", "Ann", "Bo", "cat"]),  # who gave the label together
        (["image", "worker1", "label1", "worker2", "label2"], ["a", "Ann", "cat", "Bo", "dog"]),
        (["image", "ann", "bo", "is_reply", "has_link"], ["a", "cat", "dog", "yes", "no"]),  # two groups of labels
    ],
)
def test_tables_that_are_unclear_are_not_wide(columns: list[str], row: list[str]) -> None:
    other = [f"{cell}2" if place == 0 else cell for place, cell in enumerate(row)]
    swapped = [other[0], *other[:0:-1]] if "is_reply" not in columns else ["a2", "dog", "cat", "no", "yes"]
    with pytest.raises(InputError, match="missing column"):
        pv.votes(pd.DataFrame([row, swapped if "label" not in columns else other], columns=columns))


@pytest.mark.parametrize(
    ("others", "workers"),
    [
        ("Dr. Haddad,Dr. Lim,biopsy", ["Dr. Haddad", "Dr. Lim"]),
        ("Rater 1 (AK),Rater 2 (BM),Consensus", ["Rater 1 (AK)", "Rater 2 (BM)"]),
        ("ann,bo,biopsy", ["ann", "biopsy", "bo"]),  # unclear: names of one form
    ],
)
def test_workers_share_a_title_or_a_number(tmp_path: Path, others: str, workers: list[str]) -> None:
    rows = "".join(f"c{i},{'yn'[i % 2]},{'yn'[i % 3 > 0]},{'yn'[i % 4 > 1]}\n" for i in range(12))
    (tmp_path / "wide.csv").write_text(f"case,{others}\n{rows}")
    with pytest.warns(PlurivoxWarning, match="read as a wide table"):
        assert pv.read(tmp_path / "wide.csv").votes.workers.tolist() == workers


def test_a_full_column_of_another_form_beside_columns_with_gaps_is_asked_for(tmp_path: Path) -> None:
    rows = "".join(f"c{i},{'yn,'[i % 3].strip(',')},{'n,y'[i % 3].strip(',')},{'yn'[i % 2]}\n" for i in range(12))
    (tmp_path / "wide.csv").write_text(f"case,Haddad,Lim,biopsy\n{rows}")
    with pytest.raises(InputError, match=r"column 'biopsy' .* has a value in every row, .*--worker Haddad,Lim"):
        pv.read(tmp_path / "wide.csv")
    with pytest.warns(PlurivoxWarning, match="'case' as the task"):
        assert len(pv.read(tmp_path / "wide.csv", worker=["Haddad", "Lim"]).votes.workers) == 2


def test_a_consensus_is_not_proposed_as_a_worker(tmp_path: Path) -> None:
    rows = "".join(f"c{i},{i % 3},{i % 2},{i % 2},ok {i}\n" for i in range(12))
    (tmp_path / "wide.csv").write_text(f"case,ann,bo,consensus,remarks\n{rows}")
    for how in ({}, {"wide": True}):
        with pytest.raises(InputError, match=r"--worker ann,bo\)"):
            pv.read(tmp_path / "wide.csv", **how)


@pytest.mark.parametrize("role", ["task", "worker", "label"])
def test_a_column_named_by_the_caller_must_exist(tmp_path: Path, role: str) -> None:
    (tmp_path / "wide.csv").write_text("case,rater_1,rater_2\nc1,y,n\nc2,n,n\nc3,y,y\n")
    with pytest.raises(InputError, match="missing column 'nosuch'"):
        pv.read(tmp_path / "wide.csv", **{role: "nosuch"})
