"""Behaviour of SoftLabels, dense and sparse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowds import distributions
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense


@st.composite
def sparse_rows(draw: st.DrawFn) -> Candidates:
    """Draw sparse rows with a few candidates and a rest."""
    n_labels = draw(st.integers(1, 6))
    label, mass, sizes, rest = [], [], [], []
    for _ in range(draw(st.integers(1, 4))):
        listed = sorted(draw(st.sets(st.integers(0, n_labels - 1), max_size=n_labels)))
        parts = np.array(draw(st.lists(st.integers(0, 5), min_size=len(listed) + 1, max_size=len(listed) + 1)), float)
        if len(listed) == n_labels:
            parts[-1] = 0
        if parts.sum() == 0:
            parts[0 if listed else -1] = 1
        parts /= parts.sum()
        label += listed
        mass += parts[:-1].tolist()
        sizes.append(len(listed))
        rest.append(parts[-1])
    start = np.concatenate([[0], np.cumsum(sizes)])
    return Candidates(start, np.array(label, int), np.array(mass, float), np.array(rest), n_labels)


@given(sparse_rows(), st.integers(1, 6))
def test_sparse_and_dense_rows_give_the_same_results(rows: Candidates, k: int) -> None:
    dense = Dense(rows.dense_block(slice(None)))
    every = np.arange(len(rows))
    np.testing.assert_allclose(rows.entropy_per_row(), dense.entropy_per_row(), atol=1e-12)
    np.testing.assert_allclose(rows.row_sums(), 1)
    np.testing.assert_allclose(rows.row_min(), dense.row_min())
    np.testing.assert_allclose(rows.take(every[::-1]).dense_block(slice(None)), dense.prob[::-1])
    for label in range(rows.n_labels):
        np.testing.assert_allclose(rows.prob_of_labels(np.full(len(rows), label)), dense.prob[:, label])
    k = min(k, rows.n_labels)
    (a, p), (b, q) = rows.top_label_codes_and_probs(k), dense.top_label_codes_and_probs(k)
    np.testing.assert_allclose(p, q)
    np.testing.assert_array_equal(a, b)


@given(distributions(), st.randoms())
def test_tasks_are_matched_by_name(prob: np.ndarray, rng: object) -> None:
    tasks = [f"t{i}" for i in range(len(prob))]
    order = list(range(len(prob)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    soft = SoftLabels.of(prob, tasks, range(prob.shape[1]))
    np.testing.assert_array_equal(soft.on([tasks[i] for i in order]).prob, prob[order])


def test_missing_tasks_raise_or_are_noted() -> None:
    soft = SoftLabels.of([[1.0]], ["a"], ["x"])
    with pytest.raises(InputError, match=r"1 of 2 tasks have no soft label: 'b'"):
        soft.on(["a", "b"])
    assert soft.shared(["b", "a"]).notes == ("1 of 2 tasks have no soft label",)


def test_a_number_and_its_text_are_one_name() -> None:
    assert SoftLabels.of([[1.0], [1.0]], [7, 8], ["x"]).on(["8"]).tasks.tolist() == ["8"]


def test_six_million_labels_are_stored_sparse() -> None:
    n, k = 200_000, 11_000
    soft = SoftLabels.one_hot(np.arange(n) % k, range(n), range(k))
    assert soft.is_sparse and soft.confidence.min() == 1 and soft.entropy().max() == 0
    assert soft.top(3)[0][5].tolist() == [5, 0, 1]
    with pytest.raises(InputError, match=r"too many for one array; use top\(k\)"):
        _ = soft.prob
    where, block = next(soft.rows(2))
    assert where == slice(0, 2) and block.shape == (2, k)


def test_gold_is_soft_labels_and_moves_to_another_label_list() -> None:
    gold = SoftLabels.gold(["b", "a"], ["y", "x"])
    assert gold.hard().tolist() == ["x", "y"]
    assert gold.on_labels(["z", "y", "x"]).prob.tolist() == [[0, 0, 1], [0, 1, 0]]
    with pytest.raises(InputError, match=r"labels 'y' have mass on 1 tasks"):
        gold.on_labels(["x", "z"])


@pytest.mark.parametrize(
    ("prob", "words"),
    [
        ([[0.5, 0.4]], "sum to one; 1 rows do not, such as task 'a' with the sum 0.9"),
        ([[1.5, -0.5]], "0 or more"),
        ([[np.nan, 1.0]], "sum to one"),
        ([[0.5, 0.5], [1.0, 0.0]], "1 tasks and 2 labels"),
    ],
)
def test_rows_that_are_not_distributions_raise_input_error(prob: list, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SoftLabels.of(prob, ["a"], ["x", "y"])


@pytest.mark.parametrize("prob", [[[0.5, 0.5], [1.0]], [["0.5", "0.5"]], [[None, "a"]], [[None, {}]]])
def test_input_that_is_not_a_table_of_numbers_raises_input_error(prob: list) -> None:
    with pytest.raises(InputError, match=r"rows of soft labels differ in length|soft labels must be numbers"):
        SoftLabels.of(prob, ["a"], ["x", "y"])


@pytest.mark.parametrize("field", ["support", "scale"])
def test_support_and_scale_must_fit(field: str) -> None:
    with pytest.raises(InputError, match=f"the {field} has 3 values; soft labels need"):
        SoftLabels.of([[0.5, 0.5]], ["a"], ["x", "y"], **{field: np.ones(3)})


@pytest.mark.parametrize("code", [[0, 2], [-1, 0], [0], [0.0, 1.0]])
def test_codes_out_of_range_raise_for_dense_and_sparse_rows(code: list) -> None:
    for soft in (SoftLabels.gold(["a", "b"], ["x", "y"]), SoftLabels.of(np.eye(2), ["a", "b"], ["x", "y"])):
        assert soft.at(np.array([0, 0])).tolist() == [1, 0]
        with pytest.raises(InputError, match=r"label codes|a label code for each of 2 rows"):
            soft.at(np.array(code))
