"""next-best: questions by expected information gain."""

import numpy as np
import pytest

from plurivox import simulate
from plurivox.aggregate import DawidSkene, Ibcc, VoteShares
from plurivox.assign import Ledger, NextBest
from plurivox.assign._shared.information_gain import (
    entropy_per_task,
    expected_gain,
    gain_of_several_votes,
    shrink_confusion_towards_mean,
)
from plurivox.core.errors import InputError, OptionError
from plurivox.core.votes import Votes
from plurivox.recipes.active_labelling import ActiveLabelling

CROWD = simulate.methods.make("hammer-spammer", n_tasks=120, n_workers=12, feedback=4, ratio=0.5, seed=3).draw()
FIT = Ibcc().fit(CROWD.votes)


def test_the_gain_is_the_mean_decrease_of_entropy_over_all_votes() -> None:
    rng = np.random.default_rng(1)
    belief, channel = rng.dirichlet(np.ones(3), 5), rng.dirichlet(np.ones(3), 3)
    vote = belief @ channel  # (5, 3) probability of each vote
    after = [
        [entropy_per_task((b * channel[:, k])[None] / s[k])[0] for k in range(3)]
        for b, s in zip(belief, vote, strict=True)
    ]
    np.testing.assert_allclose(expected_gain(belief, channel), entropy_per_task(belief) - (vote * after).sum(1))


def test_the_gain_of_several_votes_never_exceeds_the_entropy() -> None:
    gain, unsure = np.array([0.2, 0.6, 0.0]), np.array([0.6, 0.6, 0.0])
    np.testing.assert_allclose(gain_of_several_votes(gain, unsure, 1), gain)
    assert (
        gain_of_several_votes(gain, unsure, 50)[0] == pytest.approx(0.6)
        and gain_of_several_votes(gain, unsure, 3)[2] == 0
    )


def test_the_matrix_of_a_worker_with_few_votes_is_shrunk_to_the_mean() -> None:
    matrices = np.stack([np.eye(2), np.full((2, 2), 0.5)])
    few = shrink_confusion_towards_mean(matrices, np.array([90.0, 0.0]), 10)
    np.testing.assert_allclose(few[1], np.eye(2))  # a worker without votes has the mean matrix of the others
    assert few[0, 0, 0] > 0.99


def test_spammers_get_no_questions_and_no_worker_gets_a_task_again() -> None:
    found = NextBest(n=500, per_worker=60).propose(CROWD.votes, FIT)
    spammers = {name for name in CROWD.votes.workers.tolist() if CROWD.confusion.of(name)[0, 0] < 0.9}
    assert set(found.let_go.tolist()) == spammers
    assert (np.diff(found.per_second) <= 0).all() and (found.gain >= 1e-4).all()
    asked = set(zip(CROWD.votes.task.tolist(), CROWD.votes.worker.tolist(), strict=True))
    assert not asked & set(zip(found.task.tolist(), found.worker.tolist(), strict=True))


def test_forms_with_percents_are_proposed_if_their_gain_per_second_is_larger() -> None:
    cheap, dear = (
        NextBest(questions=f"one-label:2,top-two:{seconds}:3").propose(CROWD.votes, FIT) for seconds in (2.1, 200)
    )
    assert set(cheap.forms[cheap.question].tolist()) == {"top-two"}
    assert set(dear.forms[dear.question].tolist()) == {"one-label"}


def test_the_stopping_rule_is_met_when_no_gain_reaches_least() -> None:
    sure = Votes.of(task=list("aabb"), worker=["x", "y"] * 2, label=["no", "no", "yes", "yes"])
    found = NextBest(again=True).propose(sure, Ibcc().fit(sure))
    assert not found.enough and "accuracy" not in found.why  # votes alone do not tell the accuracy
    assert NextBest(least=0.69).propose(sure, Ibcc().fit(sure)).enough


@pytest.mark.parametrize("questions", ["one-label:fast", ":3", "one-label:0", "one-label:1:2:3"])
def test_an_invalid_question_raises_option_error(questions: str) -> None:
    with pytest.raises(OptionError):
        NextBest(questions=questions)


def test_errors_name_what_is_missing() -> None:
    with pytest.raises(InputError, match="no confusion matrices: try ibcc"):
        NextBest().propose(CROWD.votes, VoteShares().fit(CROWD.votes))
    with pytest.raises(InputError, match="have not voted yet"):
        NextBest().propose(CROWD.votes, FIT, ["nobody"])
    with pytest.raises(InputError, match="has other tasks than the votes"):
        NextBest().propose(Votes.of(["a"], ["x"], ["no"]), FIT)


def test_next_best_is_more_accurate_than_random_with_fewer_votes() -> None:
    """Uses a small run of the recipe active-labelling."""
    made = ActiveLabelling(crowds="discrete-difficulty", n_tasks=200, n_workers=20, runs=2, refit=100).run()
    assert made["discrete-difficulty"].cells["difference"][-1] > 0


def test_the_stopping_rule_is_not_met_if_only_the_given_workers_cannot_help() -> None:
    spammer = CROWD.votes.workers[-1:]
    gone = NextBest().propose(CROWD.votes, FIT, spammer)
    assert not len(gone) and not gone.enough and "none of the workers given is worth asking" in gone.why
    split = Votes.of(task=list("aa"), worker=["x", "y"], label=["no", "yes"])
    done = NextBest(least=0).propose(split, Ibcc().fit(split))
    assert not len(done) and not done.enough and "have answered all open tasks" in done.why


def test_the_seconds_of_a_slow_worker_are_scaled_up() -> None:
    votes = Votes.of(list("aabb"), ["x", "y"] * 2, ["no", "no", "yes", "no"], seconds=[1, 4, 3, np.nan])
    found = NextBest(again=True, share=0).propose(votes, Ibcc().fit(votes))
    pace = dict(zip(found.workers[found.worker].tolist(), (found.seconds / 1.8).tolist(), strict=True))
    assert pace == pytest.approx({"x": 2 / 3, "y": 4 / 3})


def test_the_recipe_rejects_a_small_budget_and_methods_without_matrices() -> None:
    with pytest.raises(OptionError, match="every task first gets 2 votes"):
        ActiveLabelling(feedback=4, budget=0.3)
    small = {"n_tasks": 12, "n_workers": 4, "feedback": 4, "runs": 1, "crowds": "hammer-spammer"}
    with pytest.raises(InputError, match="vote-shares estimates no confusion matrices"):
        ActiveLabelling(method="vote-shares", **small).run()


def test_votes_spent_counts_the_votes_of_the_last_fit() -> None:
    made = ActiveLabelling(n_tasks=12, n_workers=2, feedback=2, budget=1, runs=1, crowds="hammer-spammer").run()
    assert made["hammer-spammer"].cells["votes used"].tolist() == [24]  # both workers have answered all 12 tasks


def test_a_task_with_disagreement_has_a_larger_gain_than_one_with_agreement() -> None:
    votes = Votes.of(list("aaabbbc"), list("xyzxyzx"), ["no", "no", "no", "yes", "no", "yes", "no"])
    for method in (VoteShares(), Ibcc()):
        agreed, split, new = NextBest().gain_of_one_more_answer_per_task(votes, method.fit(votes)).tolist()
        assert split > agreed and new > agreed > 0


def test_tasks_with_a_gain_below_least_are_not_assigned() -> None:
    ledger = Ledger([5] * 4)
    for task, gain in enumerate((1e-6, 0.2, 0.4, 0.1)):
        ledger.set_gain(task, gain)
    assert [place.task for place in ledger.assign(NextBest(per_worker=1), "ann")] == [2]
    ledger.set_gain(2, 0.4)
    places = ledger.assign(NextBest(per_worker=9), "bo")
    assert sorted(place.task for place in places) == [1, 2, 3]


def test_a_task_with_one_answer_has_a_gain_even_if_the_fit_is_certain() -> None:
    once = Votes.of(list("abcd"), list("xyxy"), ["no"] * 4, labels=["no", "yes"])
    fit = DawidSkene().fit(once)
    assert fit.soft.confidence.min() > 0.999 and NextBest().gain_of_one_more_answer_per_task(once, fit).min() > 0.02


def test_the_gain_stays_positive_below_least_answers_and_under_disagreement() -> None:
    """Five workers agree on ten tasks; on task n, three of them and three other workers disagree."""
    crowd = [(task, who, "no") for task in "abcdefghij" for who in "stuvw"]
    crowd += [("n", who, said) for who, said in zip("stuxyz", ["no"] * 3 + ["yes"] * 3, strict=True)]
    crowd += [(task, who, "yes") for task in "kl" for who in "xyz"] + [("m", "s", "no"), ("m", "t", "no")]
    votes = Votes.of(*(list(column) for column in zip(*crowd, strict=True)))
    fit, places = DawidSkene().fit(votes), dict(zip(votes.tasks.tolist(), range(votes.n_tasks), strict=True))
    gain = NextBest(least=0.05).gain_of_one_more_answer_per_task(votes, fit)
    assert (
        gain[places["n"]]
        >= NextBest().gain_of_one_more_answer_per_task(votes, VoteShares().fit(votes))[places["n"]]
        > gain[places["a"]]
    )
    assert gain[places["a"]] < 0.05 < gain[places["m"]] < 0.1  # a: five votes agree, m: two votes
    assert (
        NextBest(least=0.05, least_answers=0).gain_of_one_more_answer_per_task(votes, fit)[places["m"]]
        < gain[places["m"]]
    )
    ledger = Ledger([9])
    ledger.set_gain(0, float(gain[places["m"]]))
    assert len(ledger.assign(NextBest(least=0.05), "ann")) == 1 and ledger.assign(NextBest(least=0.05), "bo") == []
