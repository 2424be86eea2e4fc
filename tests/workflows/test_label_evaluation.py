"""pv.evaluate_labels: which labels each measure compares with, and that the result names them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, UnknownName
from plurivox.io import read

RNG = np.random.default_rng(11)
TASKS = [f"t{i}" for i in range(40)]
LABELS = ["ant", "bee", "cat"]
SHARES, Q, R = RNG.dirichlet(np.ones(3), (3, 40))
COUNTS = RNG.multinomial(10, SHARES)
VOTES = pv.Votes.from_counts(COUNTS, TASKS, LABELS)
GOLD = pv.SoftLabels.one_hot(SHARES.argmax(1), TASKS, LABELS)
SOFT = pv.SoftLabels.of(R, TASKS, LABELS)
PREDICTION = pv.SoftLabels.of(Q, TASKS, LABELS)


def found(truth: Any, against: Any = None, measures: str = "accuracy,nll,cross-entropy", **how: Any) -> Any:
    return pv.evaluate_labels(how.pop("prediction", PREDICTION), truth, against, measures=measures, repeats=0, **how)


def reference_of(made: Any) -> dict[str, str]:
    """Return {measure: its reference} of an evaluation."""
    return dict(zip(made.measure.tolist(), made.against.tolist(), strict=True))


def cross_entropy(reference: Any) -> float:
    return float(-(reference * np.log(Q)).sum(1).mean())


@pytest.mark.parametrize(
    ("parts", "name", "reference"),
    [
        ({"counts": VOTES}, "counts", COUNTS / 10),
        ({"votes": VOTES}, "votes", COUNTS / 10),
        ({"votes": VOTES, "soft_labels": SOFT}, "soft labels", R),
        ({"soft_labels": SOFT}, "soft labels", R),
        ({}, "gold (one-hot)", GOLD.prob),
    ],
)
def test_soft_measures_use_the_soft_reference_of_a_data_set_with_gold(
    parts: dict[str, Any], name: str, reference: Any
) -> None:
    made = found(pv.Dataset("set", gold=GOLD, **parts))
    assert reference_of(made)["cross-entropy"] == name and made["cross-entropy"].mean == pytest.approx(
        cross_entropy(reference)
    )
    assert reference_of(made)["accuracy"] == reference_of(made)["nll"] == "gold"
    assert made["accuracy"].mean == np.mean(Q.argmax(1) == SHARES.argmax(1))
    assert made["nll"].mean == pytest.approx(-np.log(Q[range(40), SHARES.argmax(1)]).mean())


def test_against_selects_gold_soft_labels_or_votes_of_the_truth() -> None:
    data = pv.Dataset("set", gold=GOLD, votes=VOTES, soft_labels=SOFT)
    for word, name, reference in (
        ("gold", "gold (one-hot)", GOLD.prob),
        ("soft", "soft labels", R),
        ("votes", "votes", COUNTS / 10),
    ):
        made = found(data, word)
        assert reference_of(made)["cross-entropy"] == name and reference_of(made)["nll"] == "gold"
        assert made["cross-entropy"].mean == pytest.approx(cross_entropy(reference))
    with pytest.raises(InputError, match="set has no soft labels to compare with; it has gold labels and votes"):
        found(pv.Dataset("set", gold=GOLD, votes=VOTES), "soft")


def test_another_input_as_reference_is_named() -> None:
    data, other = pv.Dataset("set", gold=GOLD, votes=VOTES), pv.Dataset("other", votes=VOTES)
    assert reference_of(found(data, other))["cross-entropy"] == "votes of other"
    assert reference_of(found(data, data))["cross-entropy"] == "votes"
    assert reference_of(found(data, SOFT))["cross-entropy"] == "reference"
    assert reference_of(found(data, VOTES))["cross-entropy"] == "votes"
    with pytest.raises(InputError, match="has no votes to compare with; it has gold labels"):
        found(data, pv.Dataset("only gold", gold=GOLD))


def test_a_truth_without_gold_is_named_by_its_top_label() -> None:
    assert reference_of(found(VOTES)) | {} == {
        "accuracy": "votes (top label)",
        "nll": "votes (top label)",
        **dict.fromkeys(("cross-entropy", "count-deviance", "kl-divergence-floor", "cross-entropy-floor"), "votes"),
    }
    assert reference_of(found(SOFT)) == {
        "accuracy": "truth (top label)",
        "nll": "truth (top label)",
        "cross-entropy": "truth",
    }
    assert reference_of(found(GOLD)) == {"accuracy": "truth", "nll": "truth", "cross-entropy": "truth (one-hot)"}


def test_the_saved_evaluation_and_its_tables_name_the_reference(tmp_path: Path) -> None:
    made = found(pv.Dataset("set", gold=GOLD, counts=VOTES))
    made.save(tmp_path / "made.npz")
    assert reference_of(DataType.load(tmp_path / "made.npz")) == reference_of(made)
    for text in (made.csv(), made.json(), made.markdown(), made.latex()):
        assert "counts" in text and "gold" in text


def test_hard_measures_do_not_read_the_votes() -> None:
    def no_votes() -> Any:
        raise AssertionError("the votes were read")

    made = found(pv.Dataset("set", gold=GOLD, votes=no_votes), measures="accuracy,brier")
    assert reference_of(made) == {"accuracy": "gold", "brier": "gold"}


def test_votes_on_other_tasks_or_with_other_labels_are_no_default_reference() -> None:
    elsewhere = pv.Votes.from_counts(COUNTS, [f"other {task}" for task in TASKS], LABELS)
    assert reference_of(found(pv.Dataset("set", gold=GOLD, votes=elsewhere)))["cross-entropy"] == "gold (one-hot)"
    numbers = pv.Votes.from_counts(COUNTS, TASKS, [0, 1, 2])
    made = found(pv.Dataset("set", gold=GOLD, votes=numbers))
    assert reference_of(made)["cross-entropy"] == "gold (one-hot)"
    assert "soft measures do not use the votes of set: their labels are 0, 1, 2" in made.notes
    with pytest.raises(InputError, match="the prediction and the votes have no label in common"):
        found(pv.Dataset("set", gold=GOLD, votes=numbers), "votes")


def test_a_comparison_with_the_own_votes_is_noted() -> None:
    votes = pv.votes(task=TASKS * 3, worker=np.repeat([1, 2, 3], 40), label=RNG.choice(LABELS, 120))
    data = pv.Dataset("set", gold=GOLD, votes=votes)
    fit = pv.fit(votes, "dawid-skene")
    assert any(note.startswith("the prediction was made from the votes") for note in found(data, prediction=fit).notes)
    assert any(note.startswith("if the prediction was made from the votes") for note in found(data).notes)
    others = pv.votes(task=TASKS, worker=[9] * 40, label=RNG.choice(LABELS, 40))
    assert not any("was made from" in note for note in found(data, prediction=pv.fit(others, "dawid-skene")).notes)
    assert not any("was made from" in note for note in found(data, measures="accuracy").notes)


def test_tasks_that_the_soft_reference_lacks_are_noted() -> None:
    some = pv.Votes.from_counts(COUNTS[:30], TASKS[:30], LABELS)
    made = found(pv.Dataset("set", gold=GOLD, votes=some))
    assert dict(zip(made.measure.tolist(), made.n.tolist(), strict=True))["cross-entropy"] == 30
    assert "soft measures leave out 10 of 40 tasks of the prediction, which are not in the votes" in made.notes


def test_labels_of_the_prediction_can_be_renamed() -> None:
    numbers = pv.SoftLabels.of(Q, TASKS, [0, 1, 2])
    with pytest.raises(InputError, match="the prediction and the truth have no label in common"):
        found(GOLD, prediction=numbers)
    made = found(GOLD, prediction=numbers, rename=dict(enumerate(LABELS)))
    np.testing.assert_array_equal(made.value, found(GOLD).value)
    with pytest.raises(UnknownName, match="there is no label '7'"):
        found(GOLD, prediction=numbers, rename={7: "ant"})


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_soft_measures_of_cifar10h_are_against_its_counts(data_set: Callable[[str], Path]) -> None:
    data = read(data_set("cifar10h"))
    assert data.counts is not None
    smooth = pv.fit(data, "softmax-shares").soft
    made = pv.evaluate_labels(smooth, data, measures="nll,cross-entropy", repeats=0)
    shares = data.counts.counts() / data.counts.counts().sum(1, keepdims=True)
    by_hand = (
        -(shares * np.log(np.maximum(smooth.on(data.counts.tasks).on_labels(data.counts.labels).prob, 1e-12)))
        .sum(1)
        .mean()
    )
    assert reference_of(made)["cross-entropy"] == "counts" and reference_of(made)["nll"] == "gold"
    assert made["cross-entropy"].mean == pytest.approx(by_hand) and made["nll"].mean != pytest.approx(by_hand)
