"""AUM and WAUM compared with plain loops over the formulas of the papers."""

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
EVIDENCE = replace(given(), votes=VOTES, fit=FIT)


def softmax(z: np.ndarray) -> np.ndarray:
    return np.exp(z) / np.exp(z).sum(-1, keepdims=True)


def margin_of_output(out: np.ndarray, label: int, margin: str, top_k: int) -> float:
    others = np.delete(out, label) if margin == "pleiss" else out
    after = np.sort(others)[::-1][top_k - 1 if margin == "pleiss" else top_k]
    return float(out[label] - after)


def mean_margin(dynamics: Dynamics, task: int, label: int, margin: str, top_k: int, form: object = softmax) -> float:
    return float(np.mean([margin_of_output(form(z[task]), label, margin, top_k) for z in dynamics.logits]))  # type: ignore[operator]


def slow_waum(dynamics_of: object, margin: str, top_k: int, divide_by: str) -> list[float]:
    """Return WAUM of every task by a plain loop; `dynamics_of(worker)` returns the dynamics for a worker's votes."""
    out = []
    for t in range(len(TASKS)):
        total = below = 0.0
        for row in range(VOTES.row_offsets_by_task[t], VOTES.row_offsets_by_task[t + 1]):
            dynamics: Dynamics = dynamics_of(VOTES.worker[row])  # type: ignore[operator]
            pi = FIT.confusion.of(WORKERS[VOTES.worker[row]])  # type: ignore[union-attr]
            s = softmax(dynamics.logits[-1][t]) @ np.diag(pi)
            total += s * mean_margin(dynamics, t, VOTES.label[row], margin, top_k)
            below += s if divide_by == "weights" else 1
        out.append(total / below)
    return out


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("top_k", [1, 2, 3])
@pytest.mark.parametrize("outputs", ["logits", "probabilities"])
def test_aum_equals_a_plain_loop(margin: str, top_k: int, outputs: str) -> None:
    scores = Aum(margin=margin, top_k=top_k, outputs=outputs).score(EVIDENCE)
    form = softmax if outputs == "probabilities" else np.asarray
    true = EVIDENCE.gold.most_probable_label_codes()  # type: ignore[union-attr]
    slow = [mean_margin(EVIDENCE.dynamics, t, true[t], margin, top_k, form) for t in range(len(TASKS))]  # type: ignore[arg-type]
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)
    np.testing.assert_array_equal(scores.badness, -scores.raw)
    assert set(scores.n.tolist()) == {4.0}  # type: ignore[union-attr]


def test_the_label_of_aum_is_from_gold_votes_or_a_fit() -> None:
    by_votes = Aum(assigned="majority").score(replace(EVIDENCE, gold=None, fit=None))
    majority = SoftLabels.gold(TASKS, LABELS[VOTES.counts().argmax(1)], labels=LABELS)
    np.testing.assert_array_equal(by_votes.raw, Aum().score(replace(EVIDENCE, gold=majority)).raw)
    by_fit = Aum(assigned="fit").score(replace(EVIDENCE, gold=None, votes=None))
    np.testing.assert_array_equal(by_fit.raw, Aum().score(replace(EVIDENCE, gold=FIT.soft)).raw)
    with pytest.raises(InputError, match="aum needs votes: give the votes"):
        Aum(assigned="majority").score(replace(EVIDENCE, votes=None))


def test_a_wrong_label_has_a_low_margin() -> None:
    assert EVIDENCE.gold is not None
    codes = EVIDENCE.gold.most_probable_label_codes().copy()
    codes[:5] = (codes[:5] + 1) % 4
    wrong = SoftLabels.one_hot(codes, TASKS, LABELS)
    assert set(Aum().score(replace(EVIDENCE, gold=wrong)).worst(10).tolist()) >= set(TASKS[:3])


def test_tasks_without_a_label_or_with_nan_logits_get_nan() -> None:
    assert EVIDENCE.dynamics is not None and EVIDENCE.gold is not None
    logits = EVIDENCE.dynamics.logits.copy()
    logits[1, 3, 0] = np.nan
    evidence = replace(EVIDENCE, dynamics=Dynamics(logits, TASKS, LABELS), gold=EVIDENCE.gold.on(TASKS[:-1]))
    assert np.flatnonzero(np.isnan(Aum().score(evidence).raw)).tolist() == [3, 29]
    assert np.flatnonzero(np.isnan(Waum().score(evidence).raw)).tolist() == [3]


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("divide_by", ["weights", "votes"])
@pytest.mark.parametrize("top_k", [1, 2])
def test_waum_equals_a_plain_loop(margin: str, divide_by: str, top_k: int) -> None:
    scores = Waum(margin=margin, divide_by=divide_by, top_k=top_k).score(EVIDENCE)
    slow = slow_waum(lambda worker: EVIDENCE.dynamics, margin, top_k, divide_by)
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)
    np.testing.assert_array_equal(scores.n, VOTES.support)


@pytest.mark.parametrize("margin", ["pleiss", "yang"])
@pytest.mark.parametrize("divide_by", ["weights", "votes"])
def test_waum_per_worker_equals_a_plain_loop(margin: str, divide_by: str) -> None:
    scores = WaumPerWorker(margin=margin, divide_by=divide_by).score(EVIDENCE)
    slow = slow_waum(lambda worker: EVIDENCE.worker_dynamics[str(WORKERS[worker])], margin, 1, divide_by)
    np.testing.assert_allclose(scores.raw, slow, atol=1e-12)


def test_waum_per_worker_with_one_shared_classifier_is_waum() -> None:
    assert EVIDENCE.dynamics is not None
    alike = replace(EVIDENCE, worker_dynamics=dict.fromkeys(WORKERS.tolist(), EVIDENCE.dynamics))
    np.testing.assert_allclose(WaumPerWorker().score(alike).raw, Waum().score(EVIDENCE).raw, atol=1e-15)


def test_with_full_trust_and_agreement_waum_is_aum_of_probabilities() -> None:
    trusted = Confusion(np.eye(4)[None], WORKERS, LABELS, which=np.zeros(6, int))
    evidence = replace(
        EVIDENCE, fit=replace(FIT, confusion=trusted), votes=votes_of({**columns(), "label": np.full(150, "bee")})
    )
    gold = SoftLabels.gold(TASKS, np.full(30, "bee"), labels=LABELS)
    aum = Aum(outputs="probabilities", margin="yang").score(replace(EVIDENCE, gold=gold))
    np.testing.assert_allclose(Waum().score(evidence).raw, aum.raw, atol=1e-12)


def test_votes_without_a_classifier_are_left_out_and_counted() -> None:
    some = {name: one for name, one in EVIDENCE.worker_dynamics.items() if name != "w0"}
    with pytest.warns(PlurivoxWarning, match=f"{int(VOTES.n_answers_per_worker[0])} of 150 votes are left out"):
        scores = WaumPerWorker().score(replace(EVIDENCE, worker_dynamics=some))
    assert scores.n is not None and scores.n.sum() == 150 - VOTES.n_answers_per_worker[0]


def test_mismatched_labels_tasks_or_workers_raise_clear_errors() -> None:
    few = Dynamics(np.zeros((1, 30, 2)), TASKS, LABELS[:2])
    none = Dynamics(np.zeros((0, 30, 4)), TASKS, LABELS)
    other = recorded(np.zeros(30, int), tasks=np.array([f"x{i}" for i in range(30)]))
    strangers = replace(FIT, confusion=Confusion(np.eye(4)[None], np.array(["nobody"]), LABELS))
    for evidence, message in (
        (replace(EVIDENCE, dynamics=few), "the classifier was not trained on labels 'cow', 'dog'"),
        (replace(EVIDENCE, dynamics=none), "the dynamics contain no epoch"),
        (replace(EVIDENCE, dynamics=other), "no vote is on a task that was recorded"),
        (
            replace(EVIDENCE, fit=strangers),
            "the fit has no confusion matrix of 6 workers such as 'w0', 'w1', 'w2' and 3 more",
        ),
    ):
        with pytest.raises(InputError, match=message):
            Waum().score(evidence)
    with pytest.raises(InputError, match="top-k of 4 needs more labels"):
        Waum(top_k=4).score(EVIDENCE)
    with pytest.raises(InputError, match="none of the tasks recorded"):
        Aum().score(replace(EVIDENCE, dynamics=other))
    with pytest.raises(InputError, match="no vote is on a task that its worker's classifier"):
        WaumPerWorker().score(replace(EVIDENCE, worker_dynamics={"stranger": EVIDENCE.dynamics}))  # type: ignore[dict-item]


def test_the_order_of_tasks_and_labels_in_the_dynamics_does_not_matter() -> None:
    assert EVIDENCE.dynamics is not None
    turned = Dynamics(EVIDENCE.dynamics.logits[:, ::-1, ::-1], TASKS[::-1], LABELS[::-1])
    np.testing.assert_allclose(
        Waum().score(replace(EVIDENCE, dynamics=turned)).raw, Waum().score(EVIDENCE).raw, atol=1e-15
    )


def test_evidence_has_tells_which_fields_are_present() -> None:
    assert (
        EVIDENCE.has_evidence("votes")
        and EVIDENCE.has_evidence("fits|votes")
        and not EVIDENCE.has_evidence("fits")
        and not Evidence().has_evidence("worker_dynamics")
    )
