"""CrowdClassifier as a scikit-learn estimator."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import CrowdClassifier, Plan, fit
from toy_training import toy_data

X, GOLD, VOTES = toy_data()
FAST = Plan(epochs=40, batch=32, lr=0.05, device="cpu")
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "batches are random: a duplicated row is not a row of weight two",
}


@pytest.mark.slow
def test_the_checks_of_scikit_learn_pass() -> None:
    found = check_estimator(
        CrowdClassifier(net="linear", plan=FAST, random_state=0),
        expected_failed_checks=EXPECTED,
        on_skip=None,
        on_fail=None,
    )
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed, failed


def test_labels_distributions_and_votes() -> None:
    for y in (GOLD.hard(), GOLD.prob, VOTES):
        model = CrowdClassifier(net="linear", plan=FAST, random_state=1).fit(
            X, np.array(y.tolist()) if y is not VOTES else y
        )
        right = model.classes_[GOLD.most_probable_label_codes()]
        assert (model.predict(X) == right).mean() > 0.8 and model.predict_proba(X).shape == (60, 3)
    named = CrowdClassifier(net="linear", plan=FAST, labels=["x", "y", "z"]).fit(X, GOLD.prob)
    assert named.classes_.tolist() == ["x", "y", "z"] and set(named.predict(X)) <= set("xyz")
    drawn = CrowdClassifier(net="linear", plan=FAST, target="de-aggregated", random_state=0).fit(X, VOTES)
    assert drawn.trained_.made_by["target"] == "de-aggregated"
    with pytest.raises(InputError, match="X has 59 rows without names for 60 tasks of the votes"):
        clone(named).fit(X[:59], VOTES)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_votes_may_be_a_matrix_a_table_or_a_file(tmp_path: Path) -> None:
    """A matrix has a row per row of X; tables meet X by the names of tasks."""
    pandas = pytest.importorskip("pandas")

    def made(x: object, y: object, **more: object) -> list:
        model = CrowdClassifier(net="linear", plan=FAST, random_state=1).fit(x, y, **more)
        return model.predict_proba(X).round(4).tolist()

    matrix = np.full((VOTES.n_tasks, VOTES.n_workers), np.nan)
    matrix[VOTES.task, VOTES.worker] = VOTES.label
    task, worker = np.nonzero(~np.isnan(matrix))
    votes = Votes.of(task, worker, matrix[task, worker].astype(int))
    want = made(X, votes)
    assert made(X, matrix) == want
    assert made(X, np.where(np.isnan(matrix), -1, matrix).astype(int)) == want
    assert made(X, [[None if np.isnan(one) else int(one) for one in row] for row in matrix]) == want
    long = pandas.DataFrame(votes.columns())
    long.to_csv(tmp_path / "votes.csv", index=False)
    assert made(X, long) == made(X, long.pivot(index="task", columns="worker", values="label")) == want
    rows = np.random.default_rng(0).permutation(60)
    model = CrowdClassifier(net="linear", plan=FAST).fit(
        X[rows], tmp_path / "votes.csv", tasks=[str(row) for row in rows]
    )
    assert model.score(X, GOLD.most_probable_label_codes().astype(str)) > 0.8
    with pytest.raises(
        ValueError, match="neither a matrix of probabilities, whose rows sum to one, nor a matrix of votes"
    ):
        made(X, np.full((60, 3), 0.2))


def test_it_can_be_cross_validated() -> None:
    y = np.array(GOLD.hard().tolist())
    assert cross_val_score(CrowdClassifier(net="linear", plan=FAST, random_state=0), X, y, cv=3).mean() > 0.8
    search = GridSearchCV(CrowdClassifier(plan=FAST, random_state=0), {"net": ["linear", "mlp[hidden=8]"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8


def test_rows_of_x_in_the_users_order_meet_the_votes_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = load_digits(return_X_y=True)
    x, y, rng = x[:600] / 16, y[:600], np.random.default_rng(0)
    names, task = np.array([f"digit{i}" for i in range(600)]), np.repeat(np.arange(600), 3)
    said = np.where(rng.random(1800) < 0.8, y[task], rng.integers(0, 10, 1800))
    votes = Votes.of(names[task], np.tile(range(3), 600), said)
    soft, mixed = SoftLabels.from_vote_shares(votes), rng.permutation(600)
    model = CrowdClassifier(net="linear", plan=Plan(epochs=15, batch=64, lr=0.02, device="cpu"), random_state=0)
    inputs = x.astype(np.float32)
    ordered = clone(model).fit(inputs, votes, tasks=names)
    assert (ordered.predict(inputs) == y).mean() > 0.9
    frame = pandas.DataFrame(inputs, index=names).add_prefix("pixel")
    for fitted in (
        clone(model).fit(inputs[mixed], votes, tasks=names[mixed]),
        clone(model).fit(dict(zip(names[mixed].tolist(), inputs[mixed], strict=True)), soft),
        clone(model).fit(inputs[mixed], soft, tasks=names[mixed], sample_weight=dict.fromkeys(names.tolist(), 1.0)),
    ):
        np.testing.assert_array_equal(fitted.predict_proba(inputs), ordered.predict_proba(inputs))
    by_index, by_column = (
        clone(model).fit(frame.iloc[mixed], votes),
        clone(model).fit(frame.iloc[mixed].reset_index(names="name"), votes, tasks="name"),
    )
    assert by_index.feature_names_in_.tolist() == by_column.feature_names_in_.tolist() == list(frame.columns)
    for fitted in (by_index, by_column):
        np.testing.assert_array_equal(fitted.predict_proba(frame), ordered.predict_proba(inputs))
    for nameless in (inputs, frame.reset_index(drop=True)):
        with pytest.raises(InputError, match="the order of the rows of X cannot be known"):
            clone(model).fit(nameless, votes)


def test_labels_in_another_order_than_x_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(X, index=[f"t{i}" for i in range(60)])
    y = pandas.Series(GOLD.hard().tolist(), index=x.index)
    model = CrowdClassifier(net="linear", plan=FAST, random_state=0).fit(x, y)
    assert (model.predict(x) == y).mean() > 0.8
    with pytest.raises(InputError, match="rows of X and y have different names: X begins with 't0', 't1'"):
        clone(model).fit(x, y[::-1])
    drawn = x.sample(
        80, replace=True, random_state=0
    )  # labels have no task names, so that an index may contain a name twice
    again = clone(model).fit(drawn, y.loc[drawn.index], sample_weight=pandas.Series(1.0, drawn.index))
    assert (again.predict(x) == y).mean() > 0.8
    weight = pandas.Series(1.0, index=y.index)[::-1]
    with pytest.raises(InputError, match="rows of X and sample_weight have different names"):
        CrowdClassifier(net="linear", plan=FAST, random_state=0).fit(x, y, sample_weight=weight)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_inputs_become_the_same_tensors_as_in_fit(kind: type) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 3)).astype(kind)
    truth = SoftLabels.one_hot((pixels[:, 0] > 127).astype(int), range(40), range(2))
    plan = Plan(epochs=3, batch=8, lr=0.01, device="cpu")
    ours = fit(pixels, truth, net="linear", plan=plan).predict(pixels).prob
    found = CrowdClassifier(net="linear", plan=plan).fit(pixels, truth.prob).predict_proba(pixels)
    np.testing.assert_array_equal(found, ours)
