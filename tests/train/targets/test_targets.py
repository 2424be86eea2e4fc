"""The labels that each target draws, and how often."""

import numpy as np
import pytest
import torch

import plurivox as pv
from crowds import soft_crowd
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Supervision, targets
from plurivox.train.targets._contract import Examples, PaddedVotes

CPU = torch.device("cpu")
VOTES = Votes.of(
    task=["a", "a", "a", "b", "c", "c"], worker=["u", "v", "w", "u", "v", "w"], label=["x", "x", "y", "y", "x", "y"]
)
GOLD = SoftLabels.gold(["a", "b", "c", "d"], ["y", "y", "x", "x"])
SOFT = SoftLabels.of([[0.9, 0.1], [0.4, 0.6]], ["a", "c"], ["x", "y"])
KNOWN = Supervision(votes=VOTES, gold=GOLD, soft=SOFT)


def examples(spec: str, known: Supervision = KNOWN, tasks: tuple[str, ...] = ("a", "b", "c")) -> Examples:
    names = np.array(tasks, dtype=np.dtypes.StringDType())
    return targets.methods.make(spec).make_examples(known, names, known.merge_labels_of_votes_gold_and_soft(), CPU)


def drawn(spec: str, known: Supervision = KNOWN, tasks: tuple[str, ...] = ("a", "b", "c")) -> np.ndarray:
    made = examples(spec, known, tasks)
    return np.asarray(made.get_or_draw_labels(torch.arange(made.n_examples), torch.Generator().manual_seed(0)))


def mean(made: Examples, n: int = 4000) -> np.ndarray:
    rng = torch.Generator().manual_seed(0)
    indices = torch.arange(made.n_examples).repeat(n)
    return np.asarray(made.get_or_draw_labels(indices, rng)).reshape(n, made.n_examples, -1).mean(0)


def test_targets_with_one_distribution_per_task() -> None:
    np.testing.assert_array_equal(drawn("gold"), [[0, 1], [0, 1], [1, 0]])
    np.testing.assert_allclose(drawn("soft", tasks=("c", "a")), [[0.4, 0.6], [0.9, 0.1]])
    np.testing.assert_array_equal(drawn("soft[hard=yes]", tasks=("c", "a")), [[0, 1], [1, 0]])
    np.testing.assert_allclose(drawn("smoothed[of=gold,beta=.2]"), [[0.1, 0.9], [0.1, 0.9], [0.9, 0.1]], rtol=1e-6)
    assert targets.methods.make("smoothed").spec == "smoothed[of=majority]", "gold is smoothed only if the user says so"
    np.testing.assert_array_equal(drawn("uniform"), np.full((3, 2), 0.5))
    np.testing.assert_allclose(drawn("random").sum(1), 1, rtol=1e-6)


def test_a_tie_goes_to_a_random_label_the_first_or_all() -> None:
    np.testing.assert_array_equal(drawn("majority[ties=first]"), [[1, 0], [0, 1], [1, 0]])
    np.testing.assert_array_equal(drawn("majority[ties=share]"), [[1, 0], [0, 1], [0.5, 0.5]])
    assert {tuple(drawn(f"majority[seed={seed}]")[2]) for seed in range(9)} == {(1, 0), (0, 1)}


def test_the_mean_of_de_aggregated_is_the_vote_share() -> None:
    made = examples("de-aggregated")
    assert set(np.unique(np.asarray(made.get_or_draw_labels(torch.arange(3), torch.Generator())))) == {0, 1}
    np.testing.assert_allclose(mean(made), [[2 / 3, 1 / 3], [0, 1], [0.5, 0.5]], atol=0.03)


def test_counts_without_workers_are_drawn_by_their_count() -> None:
    counted = Supervision(votes=Votes.from_counts(np.array([[9, 1], [0, 3]]), ["a", "b"], ["x", "y"]))
    np.testing.assert_allclose(mean(examples("de-aggregated", counted, ("a", "b"))), [[0.9, 0.1], [0, 1]], atol=0.03)
    every = examples("repeated-labelling", counted, ("a", "b"))
    assert every.n_examples == 13 and every.row is not None and every.row.bincount().tolist() == [10, 3]


def test_a_soft_answer_is_used_whole() -> None:
    votes = soft_crowd(n_tasks=4, n_workers=3)
    known = Supervision(votes=votes)
    made = targets.methods.make("de-aggregated").make_examples(known, votes.tasks, votes.labels, CPU)
    answer = {tuple(row.round(5)) for row in votes.weights.reshape(-1, 3)}
    once = np.asarray(made.get_or_draw_labels(torch.arange(4), torch.Generator().manual_seed(1)))
    assert {tuple(row) for row in once.astype(float).round(5)} <= answer
    np.testing.assert_allclose(mean(made), votes.counts() / votes.support[:, None], atol=0.03)


def test_repeated_labelling_has_one_example_per_vote() -> None:
    made = examples("repeated-labelling")
    assert made.n_examples == 6 and made.row is not None and made.row.tolist() == [0, 0, 0, 1, 2, 2]
    np.testing.assert_array_equal(drawn("repeated-labelling")[:, 0], [1, 1, 0, 0, 1, 0])


def test_all_votes_have_workers_and_padding_has_weight_0() -> None:
    said = examples("all-votes", tasks=("b", "a")).get_or_draw_labels(torch.tensor([0, 1]), torch.Generator())
    assert isinstance(said, PaddedVotes)
    assert said.weight.tolist() == [[1, 0, 0], [1, 1, 1]] and said.worker[1].tolist() == [0, 1, 2]
    assert said.label[0, 0] == 1 and said.label[1].tolist() == [0, 0, 1]


def test_all_votes_can_be_limited_per_task() -> None:
    said = examples("all-votes[most=2]").get_or_draw_labels(torch.arange(3), torch.Generator())
    assert isinstance(said, PaddedVotes) and said.weight.tolist() == [[1, 1], [1, 0], [1, 1]]
    assert {
        tuple(
            examples(f"all-votes[most=1,seed={i}]")
            .get_or_draw_labels(torch.tensor([0]), torch.Generator())
            .worker[0]
            .tolist()
        )
        for i in range(20)
    } == {(0,), (1,), (2,)}  # type: ignore[union-attr]


def test_mixed_uses_the_first_target_if_available_and_else_the_rest() -> None:
    np.testing.assert_allclose(drawn("mixed"), [[0.9, 0.1], [0, 1], [0.4, 0.6]], rtol=1e-6)
    chosen = Supervision(VOTES, GOLD, SOFT, chosen=np.array(["c"], dtype=np.dtypes.StringDType()))
    np.testing.assert_allclose(drawn("mixed", chosen), [[0, 1], [0, 1], [0.4, 0.6]], rtol=1e-6)
    known: Names = np.array(["a", "d"], dtype=np.dtypes.StringDType())
    assert targets.methods.make("mixed[rest=majority]").mask_of_tasks_with_target(KNOWN, known).tolist() == [
        True,
        False,
    ]


def test_mixed_is_refused_if_nothing_says_which_tasks_are_trained_on_the_first_target() -> None:
    for spec in ("mixed[first=random,rest=gold]", "mixed[first=majority]", "smoothed[of=mixed[first=uniform]]"):
        with pytest.raises(
            InputError, match=r"which tasks are trained on .*: all 3 have it. Choose them: chosen=... \(--chosen FILE\)"
        ):
            targets.methods.make(spec).mask_of_tasks_with_target(KNOWN, VOTES.tasks)
    nobody = Supervision(VOTES, GOLD, SOFT, chosen=np.array(["z"], dtype=np.dtypes.StringDType()))
    with pytest.raises(
        InputError, match="none of the 3 training tasks, such as 'a', 'b', 'c', is among the chosen ones: 'z'"
    ):
        targets.methods.make("mixed").mask_of_tasks_with_target(nobody, VOTES.tasks)


def test_a_target_knows_whether_it_trains_on_gold() -> None:
    some = Supervision(VOTES, GOLD, SOFT, chosen=VOTES.tasks[:1])
    every = Supervision(VOTES, GOLD, SOFT, chosen=VOTES.tasks)
    for spec, known, trains in (
        ("gold", KNOWN, True),
        ("smoothed", KNOWN, False),
        ("smoothed[of=gold]", KNOWN, True),
        ("soft", KNOWN, False),
        ("pair", KNOWN, True),
        ("pair[main=majority]", KNOWN, False),
        ("mixed[first=random]", some, True),
        ("mixed[first=random]", every, False),
        ("mixed[first=gold,rest=random]", some, True),
        ("mixed[first=random,rest=majority]", some, False),
    ):
        assert targets.methods.make(spec).trains_on_gold(known, VOTES.tasks) == trains, spec
    counts = targets.methods.make("mixed[first=random]").n_tasks_by_component(some, VOTES.tasks)
    assert counts == {"random (first)": 1, "gold (rest)": 2}


def test_a_pair_draws_main_and_soft_labels() -> None:
    main, soft = examples("pair", tasks=("a", "c")).get_or_draw_labels(torch.arange(2), torch.Generator())  # type: ignore[misc]
    assert main.tolist() == [[0, 1], [1, 0]] and np.allclose(soft, [[0.9, 0.1], [0.4, 0.6]])


def test_missing_data_and_wrong_options_raise_errors() -> None:
    with pytest.raises(InputError, match="gold needs gold labels: give known labels"):
        targets.methods.make("gold").mask_of_tasks_with_target(Supervision(votes=VOTES), VOTES.tasks)
    with pytest.raises(OptionError, match="repeated-labelling cannot be used inside mixed"):
        targets.methods.make("mixed[first=repeated-labelling]").mask_of_tasks_with_target(KNOWN, VOTES.tasks)
    with pytest.raises(OptionError, match="drawn again in every epoch"):
        examples("smoothed[of=de-aggregated]")
    with pytest.raises(InputError, match="needs worker names"):
        examples("all-votes", Supervision(votes=Votes.from_counts(np.eye(2), ["a", "b"], ["x", "y"])), ("a",))


def test_known_is_another_name_of_supervision() -> None:
    assert pv.train.Known is pv.train.Supervision
    assert pv.train.Known(votes=VOTES).merge_labels_of_votes_gold_and_soft().tolist() == ["x", "y"]
