"""Contract tests that every simulation strategy must pass."""

import numpy as np
import pytest

from plurivox import simulate
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.engine.parallel_task_blocks import set_threads
from plurivox.simulate import HARD

EVERYTHING = {
    "label_tail": 1.0,
    "worker_tail": 0.7,
    "tire": 0.5,
    "drift": 0.5,
    "copiers": 0.5,
    "times": True,
    "too_fast": 0.2,
    "features": 3,
}
every = pytest.mark.parametrize("name", simulate.methods)


@every
def test_the_crowd_has_the_requested_sizes(name: str) -> None:
    crowd = simulate.methods.make(name, n_tasks=40, n_workers=9, n_labels=4, feedback=6, seed=3).draw()
    votes = crowd.votes
    assert (votes.n_tasks, votes.n_workers, votes.n_labels, len(votes)) == (40, 9, 4, 240)
    assert votes.support.tolist() == [6] * 40 and votes.n_repeats == 0
    np.testing.assert_allclose(crowd.confusion.dense().sum(2), 1)
    assert crowd.truth.tasks.tolist() == votes.tasks.tolist()


@every
def test_same_seed_same_crowd(name: str) -> None:
    a, b, c = (simulate.methods.make(name, seed=seed).draw().votes for seed in (1, 1, 2))
    assert a.label.tolist() == b.label.tolist() != c.label.tolist()


@every
def test_truth_can_be_given(name: str) -> None:
    truth = SoftLabels.gold(["a", "b", "c"], ["yes", "no", "no"])
    crowd = simulate.methods.make(name).draw(truth)
    assert crowd.votes.tasks.tolist() == ["a", "b", "c"] and crowd.truth.hard().tolist() == ["yes", "no", "no"]


@every
def test_votes_follow_the_matrices(name: str) -> None:
    crowd = simulate.methods.make(name, n_tasks=4000, n_workers=4, n_labels=3, feedback=4, seed=5).draw()
    votes, true = crowd.votes, crowd.truth.most_probable_label_codes()
    told = np.ones(4000, bool) if crowd.level is None else crowd.level == HARD
    for worker in range(4):
        mine = (votes.worker == worker) & told[votes.task]
        said = np.zeros((3, 3))
        np.add.at(said, (true[votes.task[mine]], votes.label[mine]), 1)
        np.testing.assert_allclose(said / said.sum(1, keepdims=True), crowd.confusion.dense()[worker], atol=0.06)


@every
@pytest.mark.parametrize("more", [{}, EVERYTHING], ids=["plain", "everything"])
def test_same_crowd_for_any_number_of_threads(name: str, more: dict) -> None:
    found = []
    try:
        for threads in (1, 3):
            set_threads(threads)
            found.append(simulate.methods.make(name, n_tasks=7_000, n_labels=3, **more).draw())
    finally:
        set_threads(None)
    a, b = found
    for column in ("task", "worker", "label", *(["seconds", "when"] if a.votes.seconds is not None else [])):
        np.testing.assert_array_equal(getattr(a.votes, column), getattr(b.votes, column))


@every
def test_all_optional_effects_can_be_combined(name: str) -> None:
    crowd = simulate.methods.make(name, n_tasks=50, feedback=7, **EVERYTHING).draw()
    assert crowd.votes.support.tolist() == [7] * 50 and crowd.votes.n_repeats == 0
    assert crowd.features is not None and crowd.features.shape == (50, 3)
    assert {"too_fast", "pace", "drifts_to", "copies"} <= set(crowd.traits)
    assert all(len(trait) == 30 for trait in crowd.traits.values())
    timed = crowd.votes if crowd.answers is None else crowd.answers
    assert timed.seconds is not None and (timed.seconds > 0).all() and np.isfinite(timed.when).all()


@every
@pytest.mark.parametrize(
    "sizes",
    [
        {"n_tasks": 1, "n_workers": 1, "n_labels": 2, "feedback": 1},
        {"n_tasks": 3, "n_workers": 4, "n_labels": 40, "feedback": 4},
        {"n_tasks": 9, "n_workers": 4, "feedback": 4, "worker_tail": 10.0},
        {"n_tasks": 9, "n_workers": 4, "feedback": 4, "copiers": 1.0, "copy_rate": 1.0, "tire": 1.0, "drift": 1.0},
        {"n_tasks": 9, "times": True, "too_fast": 1.0, "features": 1, "separation": 0.0},
        {"n_tasks": 9, "n_workers": 5, "feedback": 3, "imbalance_votes": True, "worker_tail": 2.0, "workload": 9},
    ],
)
def test_options_at_the_limits_of_their_range(name: str, sizes: dict) -> None:
    crowd = simulate.methods.make(name, **sizes).draw()
    assert crowd.votes.n_tasks == sizes["n_tasks"] and crowd.votes.n_repeats == 0
    assert (crowd.votes.support >= 1).all()
    if not sizes.get("imbalance_votes"):
        assert (crowd.votes.support == sizes.get("feedback", 10)).all()


@every
def test_given_matrices_are_used_or_rejected(name: str) -> None:
    given = Confusion(np.eye(2)[None, ::-1].repeat(3, 0), as_names(["ann", "bo", "cy"]), as_names(["no", "yes"]))
    simulator = simulate.methods.make(name, n_tasks=20, feedback=3)
    if "matrices" not in simulator.takes:
        with pytest.raises(InputError, match="to give yours, use independent-confusion"):
            simulator.draw(matrices=given)
        return
    truth = SoftLabels.gold(["a", "b"], ["yes", "no"], labels=["yes", "no"])
    crowd = simulator.draw(truth, given)
    assert crowd.votes.workers.tolist() == ["ann", "bo", "cy"]
    wrong = crowd.votes.label != crowd.truth.most_probable_label_codes()[crowd.votes.task]
    assert wrong[(crowd.level[crowd.votes.task] == HARD) if crowd.level is not None else slice(None)].all()
    with pytest.raises(InputError, match="must have the same labels"):
        simulator.draw(SoftLabels.gold(["a", "b"], ["yes", "maybe"]), given)
    with pytest.raises(OptionError, match="feedback of 4 needs as many workers; there are 3"):
        simulate.methods.make(name, feedback=4).draw(matrices=given)
    many = Confusion(given.matrices, as_names(range(40)), given.labels, which=np.zeros(40, int))
    assert simulate.methods.make(name, n_tasks=2, feedback=40).draw(matrices=many).votes.support.tolist() == [40, 40]


@every
def test_label_frequencies_follow_the_prior(name: str) -> None:
    given = simulate.methods.make(name, n_tasks=20_000, n_labels=3, feedback=1, prior="6, 3, 1").draw()
    np.testing.assert_allclose(
        np.bincount(given.truth.most_probable_label_codes()) / 20_000, [0.6, 0.3, 0.1], atol=0.015
    )
    tail = simulate.methods.make(name, n_tasks=20_000, n_labels=3, feedback=1, label_tail=1).draw()
    np.testing.assert_allclose(
        np.bincount(tail.truth.most_probable_label_codes()) / 20_000, np.array([6, 3, 2]) / 11, atol=0.015
    )


@every
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feedback": 31}, "feedback of 31 needs as many workers; there are 30"),
        ({"n_labels": 1}, "n-labels must be at least 2"),
        ({"n_tasks": 0}, "n-tasks must be at least 1"),
        ({"prior": "0.5,0.5"}, "prior has 2 numbers; 5 labels need one each"),
        ({"prior": "1,1,1,1,0"}, "all numbers of prior must be above 0; got '1,1,1,1,0'"),
        ({"prior": "a lot"}, "prior must be numbers separated by commas; got 'a lot'"),
        ({"prior": "1,1,1,1,1", "label_tail": 1.0}, "give one of them"),
        ({"copiers": 0.1, "group_size": 4}, "copiers=0.1 of 30 workers are 3, fewer than a group-size of 4"),
        ({"copiers": 1.0, "group_size": 31}, "fewer than a group-size of 31"),
        ({"copiers": 1.1}, "copiers must be 0 to 1"),
        ({"too_fast": 0.5, "times": False}, "too-fast needs answer times; set times=yes"),
        ({"order": "peerannot", "tire": 0.1, "worker_tail": 1.0}, "order=peerannot"),
    ],
)
def test_impossible_options_raise_an_error(name: str, options: dict, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        simulate.methods.make(name, **options).draw()
