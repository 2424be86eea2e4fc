"""`recommend`: what it promises about its choice, its simulated crowds and its result."""

import os
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.core.votes import Votes
from plurivox.workflows.crowd_problems import crowd_problems
from plurivox.workflows.hidden_vote_evidence import HiddenVoteLosses, as_plain_votes, hide_one_vote_per_task
from plurivox.workflows.recommend_method import choose_candidate, recommend, weights_of_crowds
from plurivox.workflows.recommendation import Recommendation
from plurivox.workflows.recommendation_scores import question_called
from plurivox.workflows.simulate_crowds_like import (
    FittedCrowd,
    misread,
    pair_agreement_per_task,
    simulate_votes,
    truth_worlds,
)
from plurivox.workflows.simulate_shares_like import fit_dirichlet_mixture

FEW = "wawa,one-coin,vote-shares"
TRUTH = question_called("truth")


def crowd(**options: object) -> "pv.simulate.Simulated":
    sizes = {"n_tasks": 150, "n_workers": 12, "n_labels": 3, "feedback": 5, "seed": 2}
    return pv.simulate_crowd("independent-confusion", **{**sizes, **options})


def losses(*brier: float, n: int = 8) -> Floats:
    """Return scores of simulated crowds in which the methods have these Brier scores."""
    found = np.zeros((n, len(brier), 4))
    found[:, :, 2] = brier
    return found


@pytest.fixture(scope="module")
def made() -> Recommendation:
    return recommend(crowd().votes, methods=FEW, crowds_per_world=1, seed=1)


def test_same_seed_same_result(made: Recommendation) -> None:
    again = recommend(crowd().votes, methods=FEW, crowds_per_world=1, seed=1)
    np.testing.assert_array_equal(again.simulated, made.simulated)
    assert again.text() == made.text()


def test_result_can_be_saved_and_shown(made: Recommendation, tmp_path: Path) -> None:
    made.save(tmp_path / "r.npz")
    loaded = Recommendation.load(tmp_path / "r.npz")
    assert loaded.text() == made.text() and loaded.csv() == made.csv() and loaded.markdown() == made.markdown()
    assert made.recommended in made.text() and 8 <= len(made.text().splitlines()) <= 25
    assert set(made.columns()["method"].tolist()) == {made.default, "wawa", "one-coin", "vote-shares"}


def test_expected_accuracy_is_near_the_true_one() -> None:
    """A crowd that follows one of the worlds, and misreads nothing: the range of the simulated crowds contains its accuracy."""
    drawn = crowd(n_tasks=300)
    made = recommend(drawn.votes, methods="dawid-skene[pool=4]", misread_shares=[0.0], crowds_per_world=1)
    accuracy = pv.evaluate.accuracy(pv.fit(drawn.votes, made.recommended).soft, drawn.truth)
    _, low, high = made.expected("accuracy")
    assert low - 0.03 <= accuracy <= high + 0.03


def test_another_vote_helps(made: Recommendation) -> None:
    assert made.gain[:, 0].mean() > 0


def test_gold_moves_the_expectation() -> None:
    """Gold labels that contradict the votes lower the expected accuracy."""
    drawn = crowd(n_tasks=60)
    other = (drawn.truth.most_probable_label_codes() + 1) % 3
    wrong = pv.SoftLabels.gold(drawn.votes.tasks, drawn.votes.labels[other])
    options = {"methods": "wawa", "misread_shares": [0.0, 0.1, 0.3, 0.6], "crowds_per_world": 1}
    right = recommend(drawn.votes, gold=drawn.truth, **options)
    with pytest.warns(pv.PlurivoxWarning, match="may name or number their labels differently"):
        contradicted = recommend(drawn.votes, gold=wrong, **options)
    assert contradicted.expected("accuracy") < right.expected("accuracy")
    assert right.n_gold == 60 and right.measured is not None


@pytest.mark.parametrize("question", ["people", "training"])
def test_other_questions(question: str) -> None:
    made = recommend(crowd(n_tasks=60).votes, question, methods="vote-shares,dirichlet-shares", crowds_per_world=1)
    assert made.question == question and np.isfinite(made.simulated).all()


def test_intervals_of_shares_stay_between_0_and_1_and_contain_the_mean() -> None:
    """All gold labels agree with all votes: the accuracy is 1, but not for certain."""
    votes = Votes.of(np.repeat(np.arange(40), 3), np.tile([1, 2, 3], 40), np.repeat(np.arange(40) % 2, 3))
    gold = pv.SoftLabels.gold(range(40), np.arange(40) % 2, [0, 1])
    found = recommend(votes, gold=gold, methods="wawa", crowds_per_world=1)
    assert "accuracy 1.000 (0.9" in found.text() and " to 1.000) on" not in found.text().split("NLL")[0]
    for measure in found.measures:
        mean, low, high = found.expected(measure)
        assert low <= mean <= high
    with pytest.raises(UnknownName, match="measure"):
        found.expected("manhattan")


def test_invalid_input_raises_clear_errors() -> None:
    votes = crowd().votes
    with pytest.raises(OptionError, match="crowds_per_world must be 1 or more"):
        recommend(votes, crowds_per_world=0)
    with pytest.raises(OptionError, match="misread_shares are shares of tasks"):
        recommend(votes, misread_shares=np.array([1.9]))
    shares = Votes.from_counts(np.full((30, 2), 0.4), range(30), ["no", "yes"])
    with pytest.raises(InputError, match="counts must be whole numbers"):
        recommend(shares, "people")


def test_people_of_counts_without_names() -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(6, [0.6, 0.3, 0.1], 80)
    votes = pv.Votes.from_counts(counts, [f"t{i}" for i in range(80)], ["a", "b", "c"])
    made = recommend(votes, "people")
    assert made.hidden is not None and made.n_hidden == 80
    with pytest.raises(InputError, match="for people"):
        recommend(votes)


def test_default_is_kept_unless_another_is_clearly_better() -> None:
    even = np.full(8, 1 / 8)
    assert choose_candidate(TRUTH, losses(0.3, 0.295), even, None, None) == 0
    assert choose_candidate(TRUTH, losses(0.3, 0.2), even, None, None) == 1
    too_sure = losses(0.3, 0.2)
    too_sure[:, 1, 1] = 0.1  # a higher NLL
    assert choose_candidate(TRUTH, too_sure, even, None, None) == 0
    mixed = losses(0.3, 0.2)
    mixed[:4, 1, 2] = 0.31  # better on average, but in half of the crowds only
    assert choose_candidate(TRUTH, mixed, even, None, None) == 0


def test_gold_decides_against_the_simulation_if_there_is_enough() -> None:
    even, rng = np.full(8, 1 / 8), np.random.default_rng(0)
    gold = rng.random((2, 600, 3)) * 0.1
    gold[0, :, 2] += 0.2
    assert choose_candidate(TRUTH, losses(0.3, 0.31), even, None, gold) == 1
    assert choose_candidate(TRUTH, losses(0.3, 0.31), even, None, gold[:, :10]) == 0


def test_hidden_votes_decide_for_people() -> None:
    people = question_called("people")
    simulated, even = np.full((4, 2, 3), 0.5), np.full(4, 0.25)
    rng = np.random.default_rng(0)
    loss = np.stack([1 + rng.random(300), 0.9 + rng.random(300)])
    assert choose_candidate(people, simulated, even, HiddenVoteLosses(loss), None) == 1
    assert choose_candidate(people, simulated, even, HiddenVoteLosses(loss[::-1]), None) == 0


def test_crowds_that_agree_with_gold_weigh_more() -> None:
    measured = np.zeros((1, 50, 3))
    measured[0, :30, 0] = 1  # accuracy 0.6
    weight = weights_of_crowds(np.array([0.6, 0.95]), measured)
    assert weight[0] > 0.99 and weight.sum() == pytest.approx(1)
    assert weights_of_crowds(np.array([0.6, 0.95]), measured[:, :10]).tolist() == [0.5, 0.5]


def test_simulated_crowds_have_the_design_and_agreement_of_the_votes() -> None:
    votes = crowd(n_tasks=600).votes
    fitted = FittedCrowd.of(votes)

    def agreement(some: pv.Votes) -> float:
        pairs = pair_agreement_per_task(some.task.astype(int), some.label.astype(int), some.n_tasks, some.n_labels)
        return float(pairs.mean())

    for world in truth_worlds(fitted):
        rng = np.random.default_rng(3)
        again = simulate_votes(world.draw(rng), votes, rng)
        assert np.array_equal(np.sort(again.worker * 1000 + again.task), np.sort(votes.worker * 1000 + votes.task))
        assert agreement(again) == pytest.approx(agreement(votes), abs=0.05)


def test_misread_tasks_have_another_true_label() -> None:
    rng = np.random.default_rng(0)
    drawn = truth_worlds(FittedCrowd.of(crowd(n_tasks=600).votes))[0].draw(rng)
    changed = (misread(drawn, 0.25, 3, rng).truth != drawn.truth).mean()
    assert changed == pytest.approx(0.25, abs=0.06)


def test_dirichlet_mixture_finds_the_concentration() -> None:
    rng = np.random.default_rng(1)
    counts = np.array([rng.multinomial(12, p) for p in rng.dirichlet([2.0, 1.0, 1.0], 3000)], float)
    found = fit_dirichlet_mixture(counts, 1)
    assert found.concentration[0] == pytest.approx(4, rel=0.35)
    np.testing.assert_allclose(found.mean[0], [0.5, 0.25, 0.25], atol=0.02)


def test_hidden_votes_and_the_rest_are_all_votes() -> None:
    votes = crowd().votes
    rest, task, label = hide_one_vote_per_task(votes)
    counts = rest.counts()
    counts[task, label] += 1
    np.testing.assert_array_equal(counts, votes.counts())


def test_counts_and_soft_answers_become_plain_votes() -> None:
    counts = pv.Votes.from_counts(np.array([[3, 0], [1, 2]]), ["a", "b"], ["no", "yes"])
    assert as_plain_votes(counts).counts().tolist() == [[3, 0], [1, 2]]
    soft = pv.Votes.of(["a", "a", "b"], [1, 1, 1], ["x", "y", "y"], weight=[0.3, 0.7, 1], answer=[1, 1, 2])
    assert as_plain_votes(soft).counts().tolist() == [[0, 1], [0, 1]]


def test_problems_are_named() -> None:
    votes = pv.Votes.of(
        np.repeat(np.arange(40), 3), np.tile(["a", "b", "c"], 40), ["x"] * 118 + ["y"] * 2, labels=["x", "y"]
    )
    found = " ".join(crowd_problems(votes, pv.evaluate.describe(votes), np.zeros(40, int)))
    assert "votes for one label only" in found and "1 of the labels" in found and "One worker" not in found


@pytest.mark.slow
@pytest.mark.skipif("PLURIVOX_DATA" not in os.environ, reason="real data: set PLURIVOX_DATA")
def test_recommended_methods_are_near_the_best_on_real_data() -> None:
    """Without gold, on two data sets: the recommended method loses at most .03 of the best accuracy of the candidates."""
    for name in ("rte", "labelme"):
        data = pv.read(name)
        made = recommend(data.votes, methods="vote-shares,wawa,dawid-skene,ibcc")
        found = {
            m: pv.evaluate.accuracy(pv.fit(data.votes, m).soft, data.gold, ties="share") for m in made.method.tolist()
        }
        assert found[made.recommended] >= max(found.values()) - 0.03
