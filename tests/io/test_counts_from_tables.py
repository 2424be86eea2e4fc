"""Tables of counts are read: how many people chose each label, in columns with names of labels, or n_cat, dog_votes, ...."""

from pathlib import Path

import pandas as pd
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.counts_from_tables import counts
from plurivox.io.dataset_reader import as_dataset


def test_count_tables() -> None:
    made = counts(pd.DataFrame({"task": ["b", "a"], "no": [0, 2], "yes": [3, 1]}))
    assert made.counts().tolist() == [[2, 1], [0, 3]]
    with pytest.raises(InputError, match="column 'no' of the table, row 1: 'many' is not a number"):
        counts({"task": ["a"], "no": ["many"]})
    with pytest.raises(InputError, match="0 or more; check the tasks 'a'"):
        counts({"task": ["a"], "no": [-1]})


@pytest.mark.parametrize(
    "names",
    [
        ("n_owl", "n_fox", "n_total"),
        ("num owl", "num fox", "total"),
        ("nOwl", "nFox", "n"),
        ("votes_owl", "votes_fox", "n_annotators"),
        ("count_owl", "count_fox", "count"),
        ("owl_count", "fox_count", "total_count"),
        ("Owl votes", "Fox votes", "sum"),
    ],
)
def test_columns_with_a_word_for_counts_are_recognised(tmp_path: Path, names: tuple[str, str, str]) -> None:
    (tmp_path / "photos.csv").write_text(
        f"image,url,{','.join(names)}\na.png,x.org,0,4,4\nb.png,y.org,3,2,5\nc.png,,0,0,0\n"
    )
    with pytest.warns(
        PlurivoxWarning, match=rf"read as counts .* not read: 'url', '{names[2]}'; .* wide=True \(--wide\)"
    ):
        data = pv.read(tmp_path / "photos.csv")
    assert [str(label).lower() for label in data.counts.labels] == ["owl", "fox"]
    assert data.counts.counts().tolist() == [[0, 4], [3, 2], [0, 0]]


def test_gold_beside_counts_is_gold_and_their_majority_is_left_out() -> None:
    table = pd.DataFrame(
        {"image": ["a", "b"], "#owl": [0, 3], "#fox": [4, 2], "truth": ["fox", "fox"], "label": ["fox", "owl"]}
    )
    with pytest.warns(PlurivoxWarning) as said:
        data = as_dataset(table)
    assert data.gold.hard().tolist() == ["fox", "fox"] and data.counts.labels.tolist() == ["owl", "fox"]
    assert "not read: 'label'" in str(said[0].message)


def test_labels_select_columns_of_counts_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "photos.csv").write_text("image,n_owl,n_fox\na.png,0,4\nb.png,3,2\n")
    for labels in (["owl", "fox"], ["n_owl", "n_fox"]):
        with pytest.warns(PlurivoxWarning, match="read as counts"):
            found = pv.read(tmp_path / "photos.csv", labels=labels).counts
        assert found.labels.tolist() == labels and found.counts().tolist() == [[0, 4], [3, 2]]
    with pytest.raises(InputError, match="no column of counts for 'elk'; it has 'owl', 'fox'"):
        pv.read(tmp_path / "photos.csv", labels=["elk", "fox"])


def test_columns_of_numbers_with_equal_sums_are_counts() -> None:
    table = pd.DataFrame({"id": list("abcde"), "text": "seen", "owl": [5, 0, 3, 1, 5], "fox": [0, 5, 2, 4, 0]})
    with pytest.warns(PlurivoxWarning, match="read as counts of votes: 'id' is the task, the columns 'owl', 'fox'"):
        assert as_dataset(table).counts.n_answers == 25


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(
    "columns",
    [
        {"rater1": [5, 0, 3, 1, 5], "rater2": [0, 5, 2, 4, 0]},  # ratings of numbered workers
        {"a1": [5, 0, 3, 1, 5], "a2": [0, 5, 2, 4, 0], "n_total": [5, 5, 5, 5, 5]},
    ],
)
def test_ratings_of_numbered_workers_are_no_counts(columns: dict[str, list[int]]) -> None:
    assert as_dataset(pd.DataFrame({"image": list("abcde"), **columns})).votes.n_workers == 2


@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1, 2, 3, 1, 2], "y": [2, 1, 1, 3, 3], "z": [3, 3, 2, 2, 1]},  # ranks
        {"n_words": [5, 0, 3, 1, 5], "n_chars": [9, 5, 2, 4, 0]},  # measures of a text
        {"ann": [5, 4, 3, 1, 5], "bo": [4, 5, 2, 4, 3]},  # ratings
    ],
)
def test_other_columns_of_numbers_ask_what_they_are(columns: dict[str, list[int]]) -> None:
    with pytest.raises(InputError, match=r"if they count how many people chose each label, pv.counts\(table\)"):
        as_dataset(pd.DataFrame({"image": list("abcde"), **columns}))
