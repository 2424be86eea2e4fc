"""AUM and WAUM against loops that follow the papers letter by letter."""

from dataclasses import replace

import numpy as np
import pytest

from evidence import LABELS, TASKS, WORKERS, columns, given, recorded, votes_of
from plurivox import aggregate
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.results import Confusion, Dynamics
from plurivox.core.soft_labels import SoftLabels
from plurivox.identify import Aum, Evidence, Waum, WaumPerWorker

VOTES = votes_of(columns())
FIT = aggregate.methods.make("dawid-skene").fit(VOTES)
SEEN = replace(given(), votes=VOTES, fit=FIT)


def softmax(z: np.ndarray) -> np.ndarray:
    return np.exp(z) / np.exp(z).sum(-1, keepdims=True)


def one_margin(out: np.ndarray, label: int, margin: str, top_k: int) -> float:
    others = np.delete(out, label) if margin == "pleiss" else out
    after = np.sort(others)[::-1][top_k - 1 if margin == "pleiss" else top_k]
    return float(out[label] - after)


def mean_margin(dynamics: Dynamics, task: int, label: int, margin: str, top_k: int, form: object = softmax) -> float:
    return float(np.mean([one_margin(form(z[task]), label, margin, top_k) for z in dynamics.logits]))  # type: ignore[operator]


def slow_waum(of: object, margin: str, top_k: int, divide_by: str) -> list[float]:
    """`of(worker)` gives the dynamics that a worker's votes are judged by."""
    out = []
    for t in range(len(TASKS)):
        total = below = 0.0
        for row in range(VOTES.start[t], VOTES.start[t + 1]):
            dynamics: Dynamics = of(VOTES.worker[row])  # type: ignore[operator]
            pi = FIT.confusion.of(WORKERS[VOTES.worker[row]])  # type: ignore[union-attr]
            s = softmax(dynamics.logits[-1][t]) @ np.diag(pi)
            total += s * mean_margin(dynamics, t, VOTES.label[row], margin, top_k)
            below += s if divide_by == "weights" else 1
        out.append(total / below)
    return out


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("top_k", [1, 2, 3])
@pytest.mark.parametrize("outputs", ["logits", "probabilities"])
def test_aum(margin: str, top_k: int, outputs: str) -> None:
    scores = Aum(margin=margin, top_k=top_k, outputs=outputs).score(SEEN)
    form = softmax if outputs == "probabilities" else np.asarray
    true = SEEN.gold.codes()  # type: ignore[union-attr]
    slow = [mean_margin(SEEN.dynamics, t, true[t], margin, top_k, form) for t in range(len(TASKS))]  # type: ignore[arg-type]
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)
    np.testing.assert_array_equal(scores.value, -scores.raw)  # type: ignore[operator]
    assert set(scores.n.tolist()) == {4.0}  # type: ignore[union-attr]


def test_the_label_of_aum_is_known_or_voted_for_or_fitted() -> None:
    by_votes = Aum(assigned="majority").score(replace(SEEN, gold=None, fit=None))
    majority = SoftLabels.gold(TASKS, LABELS[VOTES.counts().argmax(1)], labels=LABELS)
    np.testing.assert_array_equal(by_votes.raw, Aum().score(replace(SEEN, gold=majority)).raw)
    by_fit = Aum(assigned="fit").score(replace(SEEN, gold=None, votes=None))
    np.testing.assert_array_equal(by_fit.raw, Aum().score(replace(SEEN, gold=FIT.soft)).raw)
    with pytest.raises(InputError, match="aum needs votes: give the votes"):
        Aum(assigned="majority").score(replace(SEEN, votes=None))


def test_a_wrong_label_has_a_low_margin() -> None:
    assert SEEN.gold is not None
    codes = SEEN.gold.codes().copy()
    codes[:5] = (codes[:5] + 1) % 4
    wrong = SoftLabels.one_hot(codes, TASKS, LABELS)
    assert set(Aum().score(replace(SEEN, gold=wrong)).worst(10).tolist()) >= set(TASKS[:3])


def test_tasks_without_a_label_and_logits_gone_wrong_are_nan() -> None:
    assert SEEN.dynamics is not None and SEEN.gold is not None
    logits = SEEN.dynamics.logits.copy()
    logits[1, 3, 0] = np.nan
    seen = replace(SEEN, dynamics=Dynamics(logits, TASKS, LABELS), gold=SEEN.gold.on(TASKS[:-1]))
    assert np.flatnonzero(np.isnan(Aum().score(seen).value)).tolist() == [3, 29]
    assert np.flatnonzero(np.isnan(Waum().score(seen).value)).tolist() == [3]


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("divide_by", ["weights", "votes"])
@pytest.mark.parametrize("top_k", [1, 2])
def test_waum(margin: str, divide_by: str, top_k: int) -> None:
    scores = Waum(margin=margin, divide_by=divide_by, top_k=top_k).score(SEEN)
    slow = slow_waum(lambda worker: SEEN.dynamics, margin, top_k, divide_by)
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)
    np.testing.assert_array_equal(scores.n, VOTES.support)


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("divide_by", ["weights", "votes"])
def test_waum_per_worker(margin: str, divide_by: str) -> None:
    scores = WaumPerWorker(margin=margin, divide_by=divide_by).score(SEEN)
    slow = slow_waum(lambda worker: SEEN.worker_dynamics[str(WORKERS[worker])], margin, 1, divide_by)
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)


def test_one_classifier_for_all_is_waum() -> None:
    assert SEEN.dynamics is not None
    alike = replace(SEEN, worker_dynamics=dict.fromkeys(WORKERS.tolist(), SEEN.dynamics))
    np.testing.assert_allclose(WaumPerWorker().score(alike).raw, Waum().score(SEEN).raw, atol=1e-15)


def test_with_full_trust_and_agreement_waum_is_aum_of_probabilities() -> None:
    trusted = Confusion(np.eye(4)[None], WORKERS, LABELS, which=np.zeros(6, int))
    seen = replace(
        SEEN, fit=replace(FIT, confusion=trusted), votes=votes_of({**columns(), "label": np.full(150, "bee")})
    )
    gold = SoftLabels.gold(TASKS, np.full(30, "bee"), labels=LABELS)
    aum = Aum(outputs="probabilities", margin="yang").score(replace(SEEN, gold=gold))
    np.testing.assert_allclose(Waum().score(seen).raw, aum.raw, atol=1e-12)


def test_votes_without_a_classifier_are_left_out_and_counted() -> None:
    some = {name: one for name, one in SEEN.worker_dynamics.items() if name != "w0"}
    with pytest.warns(PlurivoxWarning, match=f"{int(VOTES.workload[0])} of 150 votes are left out"):
        scores = WaumPerWorker().score(replace(SEEN, worker_dynamics=some))
    assert scores.n is not None and scores.n.sum() == 150 - VOTES.workload[0]


def test_what_does_not_fit_together_is_told() -> None:
    few = Dynamics(np.zeros((1, 30, 2)), TASKS, LABELS[:2])
    none = Dynamics(np.zeros((0, 30, 4)), TASKS, LABELS)
    other = recorded(np.zeros(30, int), tasks=np.array([f"x{i}" for i in range(30)]))
    strangers = replace(FIT, confusion=Confusion(np.eye(4)[None], np.array(["nobody"]), LABELS))
    for seen, why in (
        (replace(SEEN, dynamics=few), "the classifier was not trained on labels 'cow', 'dog'"),
        (replace(SEEN, dynamics=none), "the dynamics contain no epoch"),
        (replace(SEEN, dynamics=other), "no vote is on a task that was recorded"),
        (
            replace(SEEN, fit=strangers),
            "the fit has no confusion matrix of 6 workers such as 'w0', 'w1', 'w2' and 3 more",
        ),
    ):
        with pytest.raises(InputError, match=why):
            Waum().score(seen)
    with pytest.raises(InputError, match="top-k of 4 needs more labels"):
        Waum(top_k=4).score(SEEN)
    with pytest.raises(InputError, match="none of the tasks recorded"):
        Aum().score(replace(SEEN, dynamics=other))
    with pytest.raises(InputError, match="no vote is on a task that its worker's classifier"):
        WaumPerWorker().score(replace(SEEN, worker_dynamics={"stranger": SEEN.dynamics}))  # type: ignore[dict-item]


def test_the_order_of_tasks_and_labels_in_the_dynamics_does_not_matter() -> None:
    assert SEEN.dynamics is not None
    turned = Dynamics(SEEN.dynamics.logits[:, ::-1, ::-1], TASKS[::-1], LABELS[::-1])
    np.testing.assert_allclose(Waum().score(replace(SEEN, dynamics=turned)).raw, Waum().score(SEEN).raw, atol=1e-15)


def test_evidence_is_what_it_says() -> None:
    assert (
        SEEN.has("votes") and SEEN.has("fits|votes") and not SEEN.has("fits") and not Evidence().has("worker_dynamics")
    )
