"""Behaviour of Votes: encoding, sorting, checks, selection."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from crowds import crowd, soft_crowd, vote_columns
from plurivox.core.errors import InputError
from plurivox.core.votes import Votes


@given(vote_columns())
def test_columns_give_back_all_votes_by_name(columns: dict) -> None:
    votes = Votes.of(**columns)
    back = {name: column.tolist() for name, column in votes.columns().items()}
    rows = sorted(zip(*columns.values(), strict=True))
    assert sorted(zip(back["task"], back["worker"], back["label"], strict=True)) == rows
    assert {type(name) for name in back["label"]} == {type(name) for name in columns["label"]}


@given(vote_columns())
def test_rows_are_sorted_and_input_order_does_not_matter(columns: dict) -> None:
    plain = Votes.of(**columns)
    turned = Votes.of(**{name: column[::-1] for name, column in columns.items()})
    for name in ("task", "worker", "label", "tasks", "workers", "labels"):
        assert getattr(plain, name).tolist() == getattr(turned, name).tolist()
    key = list(zip(plain.task.tolist(), plain.worker.tolist(), plain.label.tolist(), strict=True))
    assert key == sorted(key)


@given(vote_columns())
def test_counts_tally_support_and_workload_agree(columns: dict) -> None:
    votes = Votes.of(**columns)
    counts = votes.counts()
    np.testing.assert_array_equal(counts, votes.sparse_vote_counts().dense_block(slice(None)))
    np.testing.assert_array_equal(counts.sum(1), votes.support)
    assert votes.n_answers_per_worker.sum() == len(votes) == votes.n_answers
    order, start = votes.row_order_and_offsets_by_worker
    assert all((votes.worker[order[start[w] : start[w + 1]]] == w).all() for w in range(votes.n_workers))


def test_plain_votes_are_compact() -> None:
    votes = Votes.of(**crowd())
    assert (votes.label.dtype, votes.task.dtype, votes.worker.dtype) == (np.uint8, np.int32, np.int32)
    assert votes.weight is None and votes.answer is None
    assert Votes.of(["t"] * 300, ["w"] * 300, [f"l{i}" for i in range(300)]).label.dtype == np.uint16
    assert votes.tasks.dtype != object and Votes.of(["t"], ["w"], ["l"]).tasks.dtype != object


def test_repeated_answers_of_a_worker_are_counted() -> None:
    votes = Votes.of(["a", "a", "a"], ["w", "w", "v"], ["x", "y", "x"])
    assert votes.n_repeats == 1 and votes.support.tolist() == [3]


def test_tasks_workers_and_labels_without_votes_are_kept() -> None:
    votes = Votes.of(["a"], ["w"], ["x"], tasks=["a", "b"], workers=["v", "w"], labels=["y", "x"])
    assert votes.counts().tolist() == [[0, 1], [0, 0]] and votes.n_answers_per_worker.tolist() == [0, 1]
    assert votes.labels.tolist() == ["y", "x"]  # a given list of labels keeps its order


def test_labels_on_a_scale() -> None:
    assert Votes.of(["a"], ["w"], ["10"], labels=["2", "10"], ordered=True).scale.tolist() == [2, 10]
    assert Votes.of(["a"], ["w"], ["low"], labels=["low", "high"], ordered=True).scale.tolist() == [0, 1]
    assert Votes.of(["a"], ["w"], ["low"], labels=["low", "high"], ordered=[0, 5]).scale.tolist() == [0, 5]
    assert Votes.of(["a"] * 2, ["w"] * 2, ["10", "2"]).labels.tolist() == ["2", "10"]


def test_counts_without_names_are_votes_too() -> None:
    votes = Votes.from_counts(np.array([[0, 3], [2, 1]]), ["b", "a"], ["x", "y"])
    assert votes.tasks.tolist() == ["a", "b"] and votes.counts().tolist() == [[2, 1], [0, 3]]
    assert votes.n_answers == 6 and votes.n_workers == 0 and votes.n_repeats == 0


def test_worker_names_can_be_required() -> None:
    named, counts = Votes.of(["a"], ["w"], ["x"]), Votes.from_counts(np.array([[3, 1]]), ["a"], ["x", "y"])
    mixed = Votes.coded(
        task=np.array([0, 0]), worker=np.array([0, -1]), label=np.array([0, 0]),
        tasks=named.tasks, workers=named.workers, labels=named.labels,
    )  # fmt: skip
    assert named.require_worker_names("glad") is named and mixed.require_worker_names("drift", every=False) is mixed
    for votes, every in ((counts, True), (mixed, True), (counts, False)):
        with pytest.raises(
            InputError, match="glad needs worker names; these votes contain counts without names: so there"
        ):
            votes.require_worker_names("glad", ": so there", every=every)


def test_soft_answers_count_once() -> None:
    votes = soft_crowd(n_tasks=4, n_workers=3)
    assert votes.n_answers == pytest.approx(12) and votes.support == pytest.approx([3] * 4) and votes.n_repeats == 0


def test_on_keeps_the_requested_order_and_notes_missing_tasks() -> None:
    votes = Votes.of(["a", "b", "b"], ["w", "w", "v"], ["x", "y", "y"]).on(["b", "c"])
    assert votes.tasks.tolist() == ["b", "c"] and votes.support.tolist() == [2, 0]
    assert votes.notes == ("1 of 2 tasks have no votes",)


def test_arrays_are_read_only_and_the_callers_stay_writable() -> None:
    mine = np.array([0, 0, 1])
    votes = Votes(mine, mine, mine, np.array([1, 2]), np.array([1, 2]), np.array([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        votes.task[0] = 1
    mine[0] = 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": ["x", "q"], "labels": ["x", "y"]}, "labels outside the given list: 'q'"),
        ({"task": ["a"]}, "one length"),
        ({"weight": [1.0, -1.0]}, "0 or more; check the tasks 'b'"),
        ({"weight": [0.5, 0.4], "answer": [1, 2]}, "must sum to one"),
        ({"weight": [0.5, 0.5], "answer": [1, 1]}, "must have the same task and the same worker"),
        ({"task": ["a", None]}, "missing values"),
        ({"label": ["x", 1]}, "mix text and whole numbers"),
        ({"tasks": ["a", "b", "b"]}, "a name twice: 'b'"),
    ],
)
def test_invalid_columns_raise_input_error(changes: dict, words: str) -> None:
    columns = {"task": ["a", "b"], "worker": ["w", "v"], "label": ["x", "y"]} | changes
    with pytest.raises(InputError, match=words):
        Votes.of(**columns)


@pytest.mark.parametrize("keep", [[True], [True, False, True], [0, 1]])
def test_where_needs_one_bool_per_row(keep: list) -> None:
    votes = Votes.of(["a", "b"], ["w", "v"], ["x", "y"])
    with pytest.raises(InputError, match="one bool for each of 2 rows"):
        votes.where(np.array(keep))
    assert len(votes.where([True, False])) == 1


@pytest.mark.parametrize("name", ["task", "worker", "label"])
def test_codes_out_of_range_raise_input_error(name: str) -> None:
    codes = {"task": np.array([0]), "worker": np.array([0]), "label": np.array([0])} | {name: np.array([2])}
    with pytest.raises(InputError, match=f"{name} codes run from 2 to 2; there are 2 {name}s"):
        Votes.coded(**codes, tasks=np.arange(2), workers=np.arange(2), labels=np.arange(2))


def test_missing_is_kept_by_every_selection() -> None:
    votes = replace(Votes.of(["a", "b"], ["w", "v"], ["x", "y"]), missing=3)
    parts = votes, votes.on(["b"]), votes.where(np.array([True, False])), votes.with_labels(["y", "x", "z"])
    assert [part.missing for part in parts] == [3] * 4
    with pytest.raises(InputError, match="must be 0 or more"):
        replace(votes, missing=-1)


def test_a_list_of_tasks_sets_their_order() -> None:
    columns = {"task": [0, 1, 2, 1], "worker": [1, 1, 1, 2], "label": ["x", "y", "x", "y"]}
    votes = Votes.of(**columns, tasks=[2, 0, 3, 1])
    assert votes.tasks.tolist() == [2, 0, 3, 1] and votes.support.tolist() == [1, 1, 0, 2]
    assert Votes.of(**columns, tasks={3, 2, 1, 0}).tasks.tolist() == [0, 1, 2, 3]  # a set has no order
    assert Votes.of(**columns).tasks.tolist() == [0, 1, 2]
