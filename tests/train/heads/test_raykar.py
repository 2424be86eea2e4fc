"""Raykar's EM: its two steps by hand, gold labels, start fits, accuracy above majority vote, and LabelMe."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from plurivox import io
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit, raykar_em
from plurivox.train.em.raykar_em import RaykarSteps
from toy_training import toy_data, toy_data_with_spammers


def test_the_two_steps_are_those_of_the_paper() -> None:
    votes = Votes.of(task=[0, 0, 1, 1, 1], worker=list("abacb"), label=[0, 1, 1, 1, 0])
    steps, prior = RaykarSteps(votes, clip=0.05), np.array([[0.9, 0.1], [0.0, 1.0]])
    posterior, value = steps.e_step(prior, m := np.random.default_rng(0).dirichlet([1, 1], (3, 2)))
    held = np.array([[0.9, 0.1], [0.05, 0.95]])
    product = [held[0] * m[0, :, 0] * m[1, :, 1], held[1] * m[0, :, 1] * m[2, :, 1] * m[1, :, 0]]
    np.testing.assert_allclose(posterior, [row / row.sum() for row in product])
    assert value == pytest.approx(sum(np.log(row.sum()) for row in product))
    want = np.zeros((3, 2, 2)) + 0.01
    for t, w, said in zip(votes.task, votes.worker, votes.label, strict=True):
        want[w, :, said] += posterior[t]
    np.testing.assert_allclose(steps.m_step_confusion_matrices(posterior), want / want.sum(2, keepdims=True))


def test_gold_labels_are_kept_and_used() -> None:
    x, gold, votes = toy_data(40)
    wrong = SoftLabels.gold(gold.tasks[:3], gold.labels[[(k + 1) % 3 for k in gold.prob[:3].argmax(1)]], gold.labels)
    done = raykar_em(votes, x, LogisticRegression(), gold=wrong)
    assert (done.fit.soft.on(wrong.tasks).hard() == wrong.hard()).all()
    assert (done.fit.soft.on(gold.tasks[3:]).hard() == gold.hard()[3:]).mean() > 0.9


def test_warm_and_cold_starts_give_the_same_result_and_a_start_fit_saves_passes() -> None:
    x, _, votes = toy_data(60)
    warm, cold = (raykar_em(votes, x, LogisticRegression(), warm=one, tol=1e-5) for one in (True, False))
    np.testing.assert_allclose(warm.fit.soft.prob, cold.fit.soft.prob, atol=1e-2)
    assert warm.fit.converged and len(warm.fit.trace) > 3 and warm.fit.trace[-1] > warm.fit.trace[0]
    again = raykar_em(votes, x, LogisticRegression(), start=warm.fit, tol=1e-4)
    assert len(again.fit.trace) <= 2


def test_pipelines_work_and_classifiers_without_weights_or_probabilities_raise_errors() -> None:
    x, gold, votes = toy_data(60)
    done = raykar_em(votes, x, make_pipeline(StandardScaler(), LogisticRegression()))
    assert (done.predict(x, gold.tasks).hard() == gold.hard()).mean() > 0.95
    with pytest.raises(InputError, match="KNeighborsClassifier does not accept sample weights"):
        raykar_em(votes, x, KNeighborsClassifier())
    with pytest.raises(InputError, match="StandardScaler gives no probabilities"):
        raykar_em(votes, x, StandardScaler())
    with pytest.raises(InputError, match="x has 5 rows without names for 60 tasks of the votes"):
        raykar_em(votes, x[:5], LogisticRegression())


def test_a_label_without_votes_is_not_predicted() -> None:
    x, _, votes = toy_data(30)
    more = votes.with_labels([*votes.labels.tolist(), "never"])
    assert (raykar_em(more, x, LogisticRegression()).predict(x).prob[:, 3] < 0.01).all()


def test_accuracy_is_above_the_majority_vote_with_spammers() -> None:
    x, gold, votes = toy_data_with_spammers()
    done = raykar_em(votes, x, LogisticRegression(C=0.1))
    majority = LogisticRegression(C=0.1).fit(x, votes.counts().argmax(1)).predict(x)
    assert (done.predict(x).prob.argmax(1) == gold.prob.argmax(1)).mean() > 0.1 + (
        majority == gold.prob.argmax(1)
    ).mean()
    assert done.fit.ability is not None and done.fit.ability[:4].min() > 0.2 + done.fit.ability[4:].max()


def test_the_head_raykar_gives_the_same_for_a_net() -> None:
    x, _, votes = toy_data(60)
    trained = fit(x, votes, net="linear", head="raykar", plan=Plan(epochs=40, batch=60, lr=0.1))
    done = raykar_em(votes, x, LogisticRegression(C=10), max_iter=40)
    assert trained.fit is not None and trained.fit.confusion is not None and done.fit.confusion is not None
    np.testing.assert_allclose(trained.fit.confusion.dense(), done.fit.confusion.dense(), atol=0.1)
    assert (trained.fit.soft.hard() == done.fit.soft.hard()).mean() > 0.95


def labelme(folder: Path) -> tuple[Votes, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return votes on training photos, and features (scaled by the training split) and true labels of each split."""
    data = io.read(folder)
    seen, votes = data.features, data.votes
    assert seen is not None and seen.split is not None and seen.gold is not None and votes is not None
    at = {name: np.flatnonzero(seen.split == name) for name in ("train", "valid", "test")}
    at["train"] = positions(seen.tasks, votes.tasks)
    mean, spread = seen.x[at["train"]].mean(0, np.float64), seen.x[at["train"]].std(0, np.float64)
    x = {name: (seen.x[rows] - mean) / spread for name, rows in at.items()}
    return votes, x, {name: seen.gold.on(seen.tasks[rows]).hard() for name, rows in at.items()}


def test_accuracy_on_labelme_with_l2_chosen_on_validation_tasks(data_set: Callable[[str], Path]) -> None:
    votes, x, true = labelme(data_set("labelme"))
    right = {}
    for l2 in (100, 300, 1000):
        with threadpool_limits(1):  # small matrix products on many threads are slow if other tests use the same cores
            done = raykar_em(votes, x["train"], LogisticRegression(C=1 / l2, max_iter=300), tasks=votes.tasks)
        right[l2] = [(done.predict(x[name]).hard() == true[name]).mean() for name in ("valid", "test")]
    chosen = max(right, key=lambda l2: right[l2][0])
    assert chosen == 300 and right[chosen][1] > 0.85
