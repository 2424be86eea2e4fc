"""Asking where it tells most."""

import numpy as np
import pytest

from plurivox import simulate
from plurivox.aggregate import DawidSkene, Ibcc, VoteShares
from plurivox.assign import Ledger, NextBest
from plurivox.assign._shared.information_gain import channels, expected_gain, several, uncertainty_of
from plurivox.core.errors import InputError, OptionError
from plurivox.core.votes import Votes
from plurivox.recipes.active_labelling import ActiveLabelling

CROWD = simulate.methods.make("hammer-spammer", n_tasks=120, n_workers=12, feedback=4, ratio=0.5, seed=3).draw()
FIT = Ibcc().fit(CROWD.votes)


def test_the_gain_is_the_mean_fall_of_entropy_over_what_may_be_said() -> None:
    rng = np.random.default_rng(1)
    belief, channel = rng.dirichlet(np.ones(3), 5), rng.dirichlet(np.ones(3), 3)
    said = belief @ channel  # (5, 3)
    after = [
        [uncertainty_of((b * channel[:, k])[None] / s[k])[0] for k in range(3)]
        for b, s in zip(belief, said, strict=True)
    ]
    np.testing.assert_allclose(expected_gain(belief, channel), uncertainty_of(belief) - (said * after).sum(1))


def test_an_answer_worth_several_votes_never_tells_more_than_there_is() -> None:
    gain, unsure = np.array([0.2, 0.6, 0.0]), np.array([0.6, 0.6, 0.0])
    np.testing.assert_allclose(several(gain, unsure, 1), gain)
    assert several(gain, unsure, 50)[0] == pytest.approx(0.6) and several(gain, unsure, 3)[2] == 0


def test_a_worker_of_few_votes_is_drawn_to_the_crowd() -> None:
    matrices = np.stack([np.eye(2), np.full((2, 2), 0.5)])
    few = channels(matrices, np.array([90.0, 0.0]), 10)
    np.testing.assert_allclose(few[1], np.eye(2))  # nothing known: the mean of those who are known
    assert few[0, 0, 0] > 0.99


def test_spammers_are_let_go_and_known_tasks_left_alone() -> None:
    found = NextBest(n=500, per_worker=60).propose(CROWD.votes, FIT)
    spammers = {name for name in CROWD.votes.workers.tolist() if CROWD.confusion.of(name)[0, 0] < 0.9}
    assert set(found.let_go.tolist()) == spammers
    assert (np.diff(found.per_second) <= 0).all() and (found.gain >= 1e-4).all()
    asked = set(zip(CROWD.votes.task.tolist(), CROWD.votes.worker.tolist(), strict=True))
    assert not asked & set(zip(found.task.tolist(), found.worker.tolist(), strict=True))


def test_rich_questions_are_chosen_where_they_pay_for_their_time() -> None:
    cheap, dear = (
        NextBest(questions=f"one-label:2,top-two:{seconds}:3").propose(CROWD.votes, FIT) for seconds in (2.1, 200)
    )
    assert set(cheap.forms[cheap.question].tolist()) == {"top-two"}
    assert set(dear.forms[dear.question].tolist()) == {"one-label"}


def test_it_is_enough_when_nothing_is_left_to_learn() -> None:
    sure = Votes.of(task=list("aabb"), worker=["x", "y"] * 2, label=["no", "no", "yes", "yes"])
    found = NextBest(again=True, target=0.5).propose(sure, Ibcc().fit(sure))
    assert found.enough and "expected accuracy" in found.why
    assert NextBest(least=0.69).propose(sure, Ibcc().fit(sure)).enough


@pytest.mark.parametrize("questions", ["one-label:fast", ":3", "one-label:0", "one-label:1:2:3"])
def test_a_question_nobody_can_read(questions: str) -> None:
    with pytest.raises(OptionError):
        NextBest(questions=questions)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no confusion matrices: try ibcc"):
        NextBest().propose(CROWD.votes, VoteShares().fit(CROWD.votes))
    with pytest.raises(InputError, match="have not voted yet"):
        NextBest().propose(CROWD.votes, FIT, ["nobody"])
    with pytest.raises(InputError, match="of other tasks"):
        NextBest().propose(Votes.of(["a"], ["x"], ["no"]), FIT)


def test_asking_well_beats_asking_at_random_with_fewer_votes() -> None:
    """A small study; `plurivox recipe active-labelling` is the whole one."""
    made = ActiveLabelling(crowds="discrete-difficulty", n_tasks=200, n_workers=20, runs=2, refit=100).run()
    assert made["discrete-difficulty"].cells["difference"][-1] > 0


def test_it_is_not_enough_because_those_who_are_there_cannot_help() -> None:
    spammer = CROWD.votes.workers[-1:]
    gone = NextBest().propose(CROWD.votes, FIT, spammer)
    assert not len(gone) and not gone.enough and "nobody who is there is worth asking" in gone.why
    split = Votes.of(task=list("aa"), worker=["x", "y"], label=["no", "yes"])
    done = NextBest(least=0).propose(split, Ibcc().fit(split))
    assert not len(done) and not done.enough and "has answered all that is open" in done.why


def test_who_is_slow_costs_more_time() -> None:
    votes = Votes.of(list("aabb"), ["x", "y"] * 2, ["no", "no", "yes", "no"], seconds=[1, 4, 3, np.nan])
    found = NextBest(again=True, share=0).propose(votes, Ibcc().fit(votes))
    pace = dict(zip(found.workers[found.worker].tolist(), (found.seconds / 1.8).tolist(), strict=True))
    assert pace == pytest.approx({"x": 2 / 3, "y": 4 / 3})


def test_the_recipe_says_what_it_cannot_do() -> None:
    with pytest.raises(OptionError, match="every task first gets 2 votes"):
        ActiveLabelling(feedback=4, budget=0.3)
    small = {"n_tasks": 12, "n_workers": 4, "feedback": 4, "runs": 1, "crowds": "hammer-spammer"}
    with pytest.raises(InputError, match="vote-shares estimates no confusion matrices"):
        ActiveLabelling(method="vote-shares", **small).run()


def test_votes_spent_are_those_behind_the_accuracy() -> None:
    made = ActiveLabelling(n_tasks=12, n_workers=2, feedback=2, budget=1, runs=1, crowds="hammer-spammer").run()
    assert made["hammer-spammer"].cells["votes used"].tolist() == [24]  # each of both has answered each task once


def test_a_task_people_differ_on_gains_more_than_one_they_agree_on() -> None:
    votes = Votes.of(list("aaabbbc"), list("xyzxyzx"), ["no", "no", "no", "yes", "no", "yes", "no"])
    for method in (VoteShares(), Ibcc()):
        agreed, split, new = NextBest().gains(votes, method.fit(votes)).tolist()
        assert split > agreed and new > agreed > 0


def test_next_best_leaves_alone_what_is_settled() -> None:
    held = Ledger([5] * 4)
    for task, gain in enumerate((1e-6, 0.2, 0.4, 0.1)):
        held.learn(task, gain)
    assert [place.task for place in held.seat(NextBest(per_worker=1), "ann")] == [2]
    held.learn(2, 0.4)
    places = held.seat(NextBest(per_worker=9), "bo")
    assert sorted(place.task for place in places) == [1, 2, 3]


def test_one_answer_settles_nothing_however_sure_the_fit_is() -> None:
    once = Votes.of(list("abcd"), list("xyxy"), ["no"] * 4, labels=["no", "yes"])
    fit = DawidSkene().fit(once)
    assert fit.soft.confidence.min() > 0.999 and NextBest().gains(once, fit).min() > 0.02


def test_no_task_is_settled_by_few_answers_or_by_who_differs() -> None:
    """Ten people say the same of ten tasks; of one further task, x and y say what the others never do."""
    crowd = [(task, who, "no") for task in "abcdefghij" for who in "stuvw"]
    crowd += [("n", who, said) for who, said in zip("stuxyz", ["no"] * 3 + ["yes"] * 3, strict=True)]
    crowd += [(task, who, "yes") for task in "kl" for who in "xyz"] + [("m", "s", "no"), ("m", "t", "no")]
    votes = Votes.of(*(list(column) for column in zip(*crowd, strict=True)))
    fit, places = DawidSkene().fit(votes), dict(zip(votes.tasks.tolist(), range(votes.n_tasks), strict=True))
    gain = NextBest(least=0.05).gains(votes, fit)
    assert gain[places["n"]] >= NextBest().gains(votes, VoteShares().fit(votes))[places["n"]] > gain[places["a"]]
    assert gain[places["a"]] < 0.05 < gain[places["m"]] < 0.1  # five agree: settled; two do: one more is asked
    assert NextBest(least=0.05, least_answers=0).gains(votes, fit)[places["m"]] < gain[places["m"]]
    held = Ledger([9])
    held.learn(0, float(gain[places["m"]]))
    assert len(held.seat(NextBest(least=0.05), "ann")) == 1 and held.seat(NextBest(least=0.05), "bo") == []
