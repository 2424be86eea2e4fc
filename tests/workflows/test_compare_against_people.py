"""Comparison without gold labels, on crowds whose true distributions are known, and on real data."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.aggregate import Aggregator, VoteShares
from plurivox.core.array_types import Floats
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset, read
from plurivox.workflows.compare_against_people import PeopleComparison, compare_against_people

N, K = 1000, 3


def crowd_shares(seed: int = 0) -> Floats:
    """Return (N, K) what share of the crowd gives each label, for each task."""
    return np.random.default_rng(seed).dirichlet([1.0, 0.7, 0.4], N)


def counts_of(shares: Floats, n: int, seed: int = 1) -> Votes:
    """Return counts of n votes per task."""
    return Votes.from_counts(np.random.default_rng(seed).multinomial(n, shares), range(N), ["x", "y", "z"])


def votes_of(shares: Floats, n: int, seed: int = 1) -> Votes:
    """Return n votes per task of named workers, of 40."""
    rng = np.random.default_rng(seed)
    label = (rng.random((N, n, 1)) > shares.cumsum(1)[:, None, :-1]).sum(2)
    worker = rng.random((N, 40)).argsort(1)[:, :n]
    return Votes.of(np.repeat(np.arange(N), n), worker.ravel(), np.array(["x", "y", "z"])[label.ravel()])


class KnowsTheCrowd(Aggregator):
    """An aggregator that knows what the crowd says."""

    power = 1.0
    takes = frozenset({"counts", "soft"})

    @classmethod
    def name(cls) -> str:
        return cls.__name__

    @property
    def spec(self) -> str:
        return self.name()

    def _fit(self, votes: Votes, *_: object) -> Fit:
        true = crowd_shares() ** self.power
        soft = SoftLabels.of(true / true.sum(1, keepdims=True), votes.tasks, votes.labels)
        return Fit(soft, votes.workers, self.spec)


class TooSure(KnowsTheCrowd):
    """The same to the power 2."""

    power = 2.0


@pytest.mark.parametrize("how", [{"against": "votes", "hide": 10}, {"against": "counts", "votes_per_task": 20}])
def test_the_true_distribution_reaches_the_floor_and_a_sharpened_one_does_not(how: dict[str, object]) -> None:
    data = Dataset("made", counts=counts_of(crowd_shares(), 40))
    made = compare_against_people(data, [KnowsTheCrowd(), TooSure(), VoteShares()], reference="vote-shares", **how)  # type: ignore[arg-type]
    for measure in ("manhattan", "jsd_bits", "cross_entropy", "nll"):
        true, sure, shares = made.table(measure)[0]
        assert true == pytest.approx(made.floor_of(measure)[0], rel=0.05) and true < shares < sure, measure
    true, sure, _ = made.table("entropy_correlation")[0]
    assert true == pytest.approx(made.floor_of("entropy_correlation")[0], abs=0.05) and true > sure
    assert (
        (made.p_values[0] < 0.01).all() and (made.highs[0, :3] < 0).all() and made.ranks_of("nll").tolist() == [1, 3, 2]
    )


def test_a_single_hidden_vote_is_scored_properly_by_the_cross_entropy_and_not_by_manhattan() -> None:
    votes = votes_of(crowd_shares(), 6)
    made = compare_against_people(votes, [KnowsTheCrowd(), TooSure()], reference="KnowsTheCrowd")
    assert made.tasks.tolist() == [N, N] and made.votes_per_task.tolist() == [1, 1]
    assert made.values_of("cross_entropy")[0] == pytest.approx(made.floor_of("cross_entropy")[0], rel=0.05)
    assert made.lows[1, 2] > 0 > made.highs[1, 0]  # too sure: worse in cross-entropy, "better" in Manhattan
    assert any("Manhattan and JSD favour predictions that are surer" in sentence for sentence in made.sentences())


def test_hidden_workers_and_soft_answers() -> None:
    votes = votes_of(crowd_shares(), 6)
    made = compare_against_people(votes, "vote-shares,wawa", against="votes", hide_workers=0.25)
    assert 1 < made.votes_per_task[0] < 2 and made.estimates.tolist() == ["people", "truth"]
    half = Votes.of(
        task=np.repeat(votes.task, 2), worker=np.repeat(votes.worker, 2), label=["x", "y"] * len(votes),
        answer=np.repeat(np.arange(len(votes)), 2), weight=np.tile([0.75, 0.25], len(votes)),
    )  # fmt: skip
    soft = compare_against_people(half, "vote-shares,dawid-skene", against="votes")
    assert soft.values_of("manhattan")[0] == pytest.approx(0, abs=1e-9)  # everyone says the same
    assert np.isnan(soft.floors).all() and any("soft answers" in sentence for sentence in soft.sentences())


def test_the_reference_may_be_other_peoples_votes_or_shares() -> None:
    votes, others = votes_of(crowd_shares(), 5), counts_of(crowd_shares(), 200)
    made = compare_against_people(votes, "vote-shares,wawa", against=others)
    same = compare_against_people(votes, "vote-shares,wawa", against=SoftLabels.from_vote_shares(others))
    np.testing.assert_array_equal(made.values, same.values)
    assert made.votes_per_task[0] == 200 and made.splits.tolist() == [1, 1]
    expected = np.abs(votes.counts() / 5 - others.counts() / 200).sum(1).mean()
    assert made.values_of("manhattan")[0] == pytest.approx(expected)
    unknown = SoftLabels.of(crowd_shares(), range(N), ["x", "y", "z"])
    assert np.isnan(compare_against_people(votes, "vote-shares", against=unknown).values_of("nll")).all()


def test_counts_are_compared_without_the_votes_that_the_methods_see() -> None:
    votes = votes_of(crowd_shares(), 3)
    counts = Votes.from_counts(votes.counts() + np.array([2, 0, 0]), votes.tasks, votes.labels)  # two others say x
    made = compare_against_people(
        Dataset("d", votes=votes, counts=counts), "vote-shares", against="counts", part="votes"
    )
    assert made.values_of("manhattan")[0] == pytest.approx(2 * (1 - votes.counts()[:, 0].mean() / 3))
    with pytest.raises(InputError, match="are not its votes and those of further people"):
        compare_against_people(Dataset("d", votes=votes, counts=counts_of(crowd_shares(), 3, 5)), against="counts")
    with pytest.raises(InputError, match=r"counts only.*--votes-per-task 10"):
        compare_against_people(Dataset("d", counts=counts), against="counts")


def test_the_smoothing_bounds_the_cost_of_a_label_that_was_excluded() -> None:
    votes = Votes.from_counts(np.array([[2, 0]] * 20), range(20), ["x", "y"])
    wrong = Votes.from_counts(np.array([[0, 4]] * 19 + [[2, 2]]), range(20), ["x", "y"])
    made = compare_against_people(votes, "vote-shares", against=wrong, smoothing=0.1)
    assert made.values_of("cross_entropy")[0] == pytest.approx(-(19.5 * np.log(0.05) + 0.5 * np.log(0.95)) / 20)
    with pytest.raises(OptionError, match="smoothing must be above 0"):
        compare_against_people(votes, "vote-shares", smoothing=0)


def test_of_a_large_data_set_a_random_part_is_used_and_named() -> None:
    made = compare_against_people(counts_of(crowd_shares(), 5), "vote-shares", max_tasks=100)
    assert made.tasks.tolist() == [100] and made.against[0].endswith(", on 100 random tasks of 1,000")


def test_several_data_sets_are_ranked_tested_and_saved(tmp_path: Path) -> None:
    given = {f"made {seed}": votes_of(crowd_shares(seed), 5, seed) for seed in range(3)}
    made = pv.compare(given, "vote-shares,softmax-shares,majority-vote", against="votes", splits=1)
    assert isinstance(made, PeopleComparison) and made.over_datasets["cross_entropy"].mean_ranks.tolist() == [2, 1, 3]
    text = made.markdown()
    assert "Mean ranks over the 3 data sets" in text and "| (finite-vote floor) |" in text and "nan" not in text
    assert r"`majority-vote`\*" in text and "which label is right, not what people say" in text
    made.save(tmp_path / "made.npz")
    again = DataType.load(tmp_path / "made.npz")
    assert isinstance(again, PeopleComparison) and again.csv() == made.csv()
    np.testing.assert_allclose(made.columns()["total_variation"] * 2, made.columns()["manhattan"])
    twice = pv.compare(given, "vote-shares,softmax-shares,majority-vote", against="votes", splits=1)
    np.testing.assert_array_equal(made.values, twice.values)


def test_methods_that_cannot_be_fitted_are_left_out_or_noted() -> None:
    counts = counts_of(crowd_shares(), 5)
    made = compare_against_people(counts, against="votes")
    assert "vote-shares" in made.method_specs and "dawid-skene" not in made.method_specs
    assert "no result of" in made.notes[0] and "needs worker names" in made.notes[0]
    named = compare_against_people(counts, "vote-shares,wawa", against="votes")
    assert np.isnan(named.values[1]).all() and "nan" not in named.markdown()


def test_invalid_input_raises_clear_errors() -> None:
    votes = votes_of(crowd_shares(), 3)
    with pytest.raises(InputError, match=r"no gold labels.*--against votes"):
        pv.compare(votes, "vote-shares")
    with pytest.raises(OptionError, match="applies only with against"):
        pv.compare(votes, "vote-shares", hide=2)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="exclude each other"):
        compare_against_people(votes, "vote-shares", hide=1, hide_workers=0.2)
    with pytest.raises(InputError, match="no task has more votes than are hidden or shown"):
        compare_against_people(votes, "vote-shares", hide=3)
    with pytest.raises(InputError, match="estimates which label is right, not what people say"):
        compare_against_people(votes, "vote-shares", against=pv.fit(votes, "dawid-skene"))
    with pytest.raises(InputError, match="one certain label per task"):
        compare_against_people(
            votes, "vote-shares", against=SoftLabels.of(np.eye(3)[[0] * N], range(N), ["x", "y", "z"])
        )


def test_methods_are_not_compared_with_the_votes_they_are_fitted_to(tmp_path: Path) -> None:
    votes = votes_of(crowd_shares(), 3)
    shares = SoftLabels.from_vote_shares(votes)
    pv.write_soft(shares, tmp_path / "shares.csv")  # the table does not say from how many votes
    more_labels = shares.on_labels(["a", *shares.labels[::-1].tolist()])
    for against in (shares, votes, tmp_path / "shares.csv", more_labels):
        with pytest.raises(InputError, match="the methods would be fitted to the votes behind"):
            compare_against_people(votes, "vote-shares", against=against)
    with pytest.raises(InputError, match="fitted to the votes behind"):
        compare_against_people(votes, "vote-shares", against=votes, votes_per_task=2)
    others = compare_against_people(votes, "vote-shares", against=votes_of(crowd_shares(), 4))
    assert others.values_of("total_variation")[0] > 0.05


def test_people_of_another_study_and_a_few_of_hundred_votes(data_set: Callable[[str], Path]) -> None:
    """Against CIFAR-10H sharpening harms; on ChaosNLI smoothing three votes helps the cross-entropy."""
    specs = "vote-shares,dawid-skene"
    with pytest.warns(PlurivoxWarning, match="second or later answer"):
        data = read(data_set("cifar10s"))
        data.crowd()
    made = compare_against_people(data, specs, against=data_set("cifar10h"))
    assert made.tasks[0] == 1000 and made.votes_per_task[0] > 50
    assert made.values_of("total_variation")[0] < 0.16 < made.values_of("total_variation")[1]
    assert (made.values[:, :4:2] > made.floors[:, :4:2]).all()
    few = compare_against_people(
        read(data_set("chaosnli_snli")), "vote-shares,dirichlet-shares", against="counts", votes_per_task=3
    )
    assert few.votes_per_task[0] == 97 and few.highs[1, 2] < 0  # the reference is vote-shares
