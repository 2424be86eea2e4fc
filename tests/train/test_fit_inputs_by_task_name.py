"""Inputs of fit meet their labels by task name, in any order; inputs without names are refused."""

import numpy as np
import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit
from toy_training import toy_data

X, NUMBERED, _ = toy_data()
TASKS = np.array([f"img{i}" for i in range(60)])  # sorted by name: img0, img1, img10, ...
GOLD = SoftLabels.gold(TASKS, NUMBERED.hard(), NUMBERED.labels)
VOTES = Votes.of(np.repeat(TASKS, 2), ["w1", "w2"] * 60, np.repeat(NUMBERED.hard(), 2), labels=NUMBERED.labels)
PLAN = Plan(epochs=8, batch=16, lr=0.02, device="cpu")


def test_rows_in_any_order_give_the_same_net() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    mixed = np.random.default_rng(1).permutation(60)
    x, tasks, columns = X[mixed], TASKS[mixed].tolist(), ["a", "b", "c"]
    plain = fit(X, VOTES, tasks=TASKS, net="linear", plan=PLAN)
    assert (plain.predict(X, TASKS).on(GOLD.tasks).hard() == GOLD.hard()).mean() > 0.8
    with_column = polars.DataFrame(x, schema=columns).with_columns(polars.Series("name", tasks))
    for given, names in (
        (x, tasks),
        (pandas.DataFrame(x, index=tasks), None),
        (pandas.DataFrame(x, columns=columns).assign(name=tasks), "name"),
        (with_column, "name"),
        (dict(zip(tasks, x, strict=True)), None),
    ):
        np.testing.assert_array_equal(
            fit(given, VOTES, tasks=names, net="linear", plan=PLAN).logits(X), plain.logits(X)
        )


def test_rows_whose_order_cannot_be_known_are_refused() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for given in (X, X.tolist(), pandas.DataFrame(X), polars.DataFrame(X)):
        for target in (VOTES, GOLD):
            with pytest.raises(InputError, match=r"order of the rows of x cannot be known.*tasks=\[\.\.\.\].*mapping"):
                fit(given, target, plan=PLAN)
    turned = NUMBERED.on(NUMBERED.tasks[::-1])
    with pytest.raises(InputError, match="called 59, 58, 57"):
        fit(X, turned, plan=PLAN)
    from_one = pandas.DataFrame(X)  # the default index names nothing, although 59 of its numbers are tasks
    with pytest.raises(InputError, match="called 1, 2, 3"):
        fit(from_one, SoftLabels.of(NUMBERED.prob, range(1, 61), NUMBERED.labels), plan=PLAN)
    with pytest.raises(InputError, match="order of the rows of the inputs of dev cannot be known"):
        fit(X, VOTES, tasks=TASKS, dev=(X, GOLD), plan=PLAN)


def test_a_task_without_a_row_is_an_error_and_a_row_without_votes_is_left_out_with_a_warning() -> None:
    with pytest.raises(
        InputError, match=r"2 of 60 tasks of the votes have no row in x: 'img58', 'img59'; its rows are"
    ):
        fit(X[:58], VOTES, tasks=TASKS[:58], plan=PLAN)
    few = VOTES.on(TASKS[:50])
    with pytest.warns(PlurivoxWarning, match="10 of 60 rows of x are left out, .* not in the votes: 'img50', 'img51'"):
        some = fit(X, few, tasks=TASKS, net="linear", plan=PLAN)
    np.testing.assert_array_equal(some.logits(X), fit(X[:50], few, tasks=TASKS[:50], net="linear", plan=PLAN).logits(X))


def test_weights_and_dev_tasks_meet_by_name_too() -> None:
    weight = np.arange(60) % 3 + 0.0
    mixed = np.random.default_rng(2).permutation(60)
    dev = dict(zip(TASKS[mixed].tolist(), X[mixed], strict=True))
    plan = Plan(epochs=4, lr=0.02, best="loss", device="cpu")
    runs = [
        fit(X, VOTES, tasks=TASKS, weight=weight, dev=(X, GOLD, TASKS), net="linear", plan=plan),
        fit(X[mixed], VOTES, tasks=TASKS[mixed], weight=weight[mixed], dev=(dev, GOLD), net="linear", plan=plan),
        fit(
            X[mixed],
            VOTES,
            tasks=TASKS[mixed],
            weight=dict(zip(TASKS.tolist(), weight.tolist(), strict=True)),
            dev=(X[mixed], GOLD, TASKS[mixed]),
            net="linear",
            plan=plan,
        ),
    ]
    for one in runs[1:]:
        np.testing.assert_array_equal(one.logits(X), runs[0].logits(X))
        assert one.history["dev_loss"] == runs[0].history["dev_loss"]
    with pytest.raises(InputError, match="59 of 60 tasks have no weight: 'img1'"):
        fit(X, VOTES, tasks=TASKS, weight={"img0": 1.0}, plan=PLAN)


def test_a_prediction_has_the_names_of_its_rows() -> None:
    pandas = pytest.importorskip("pandas")
    trained = fit(X, VOTES, tasks=TASKS, net="linear", plan=PLAN)
    assert trained.predict(pandas.DataFrame(X[:2], index=["p", "q"])).tasks.tolist() == ["p", "q"]
    assert trained.predict({"p": X[0], "q": X[1]}).tasks.tolist() == ["p", "q"]
    assert trained.predict(X[:2]).tasks.tolist() == [0, 1]
