"""dawid-skene against plain numpy, and against Dawid and Skene (1979)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aggregate.plain_dawid_skene import plain_dawid_skene, posterior_of
from crowds import crowd, soft_crowd
from plurivox.aggregate import DawidSkene, _contract
from plurivox.core.errors import InputError, OptionError
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import read

CROWDS = [Votes.of(**crowd(n_labels=k, n_tasks=60, seed=k)) for k in (2, 3, 5, 9, 16, 17, 37)]
CROWDS += [soft_crowd(seed=3, n_labels=k) for k in (3, 6)]


def exact(passes: int, **options: object) -> DawidSkene:
    """Return the method with a fixed number of EM passes, without acceleration."""
    return DawidSkene(max_iter=passes, tol=0.0, accelerate=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "votes", CROWDS, ids=lambda votes: f"K={votes.n_labels}{'' if (votes.weight is None) else ' soft'}"
)
@pytest.mark.parametrize("smooth", [0.0, 0.01, 1.0])
def test_passes_equal_em_in_numpy(votes: Votes, smooth: float) -> None:
    plain = plain_dawid_skene(votes, 7, smooth)
    fit = exact(7, smooth=smooth).fit(votes)
    np.testing.assert_allclose(fit.soft.prob, plain["posterior"], atol=1e-9)
    np.testing.assert_allclose(fit.prior, plain["prior"], atol=1e-9)
    np.testing.assert_allclose(fit.confusion.matrices, plain["matrices"], atol=1e-9)
    np.testing.assert_allclose(fit.trace, plain["trace"], rtol=1e-12)


def test_pseudo_counts_on_the_diagonal() -> None:
    plain = plain_dawid_skene(CROWDS[1], 5, np.ones((3, 3)) + 3 * np.eye(3))
    fit = exact(5, smooth=1.0, diagonal=4.0).fit(CROWDS[1])
    np.testing.assert_allclose(fit.confusion.matrices, plain["matrices"], atol=1e-12)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_prior_of_the_1979_paper(data_set: Callable[[str], Path]) -> None:
    """The paper reports the label frequencies .40, .42, .11 and .07."""
    votes = read(data_set("anesthesia")).votes
    fit = DawidSkene(smooth=0.0, tol=1e-12, max_iter=500).fit(votes)
    np.testing.assert_allclose(fit.prior, [0.40, 0.42, 0.11, 0.07], atol=5e-3)
    plain = plain_dawid_skene(votes, 200)
    np.testing.assert_allclose(fit.soft.prob, plain["posterior"], atol=1e-4)
    np.testing.assert_allclose(fit.trace[-1], plain["trace"][-1], rtol=1e-9)


@pytest.mark.parametrize("name", ["bluebird", "dog", "rte"])
def test_posteriors_on_real_data_equal_crowd_kit(data_set: Callable[[str], Path], name: str) -> None:
    """crowd-kit 1.4.2 has the same posteriors to 4e-9 after 20 rounds; `smooth` imitates its smallest count, 1e-10."""
    votes = read(data_set(name)).votes
    fit = exact(20, smooth=1e-10).fit(votes)
    np.testing.assert_allclose(fit.soft.prob, plain_dawid_skene(votes, 20, 1e-10)["posterior"], atol=1e-7)


def test_acceleration_converges_to_the_same_maximum_in_fewer_passes() -> None:
    votes = Votes.of(**crowd(n_tasks=400, n_workers=20, n_labels=4, feedback=3, seed=5))
    slow, fast = (DawidSkene(tol=1e-9, max_iter=2000, accelerate=a, smooth=1.0).fit(votes) for a in (False, True))
    assert slow.converged and fast.converged and fast.found["passes"] < 0.6 * slow.found["passes"]
    np.testing.assert_allclose(fast.trace[-1], slow.trace[-1], rtol=1e-7)
    np.testing.assert_allclose(fast.soft.prob, slow.soft.prob, atol=1e-2)


@pytest.mark.parametrize(
    "options", [{}, {"smooth": 0.0}, {"pool": 4.0}, {"smooth": 1.0, "diagonal": 4.0}, {"prior": "even"}]
)
def test_the_trace_never_decreases(options: dict[str, object]) -> None:
    for seed in range(8):
        votes = Votes.of(**crowd(n_tasks=40, n_labels=2 + seed % 4, feedback=2 + seed % 3, seed=seed))
        trace = np.array(DawidSkene(tol=1e-10, max_iter=300, **options).fit(votes).trace)
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


# ---- priors


def test_a_pooled_prior_shrinks_matrices_towards_the_mean() -> None:
    votes = Votes.of(**crowd(n_tasks=80))
    alone, drawn, one = (DawidSkene(pool=pool, smooth=0.0).fit(votes).confusion.matrices for pool in (0.0, 4.0, 1e9))
    spread = [matrices.std(0).max() for matrices in (alone, drawn, one)]
    assert spread[0] > spread[1] > spread[2] and spread[2] < 1e-6
    np.testing.assert_allclose(drawn.sum(2), 1, atol=1e-9)


def test_the_prior_can_be_even_or_given() -> None:
    votes = Votes.of(**{**crowd(n_labels=2), "label": np.array(["no", "yes"])[crowd(n_labels=2)["label"]]})
    assert DawidSkene(prior="even").fit(votes).prior.tolist() == [0.5, 0.5]
    for text in (".9/.1", "yes=1/no=9"):
        np.testing.assert_allclose(DawidSkene(prior=text).fit(votes).prior, [0.9, 0.1])
    for text in ("often", ".9", "yes=1/nope=9", "-1/2", "0/0", "yes=1/yes=9"):
        with pytest.raises(OptionError, match="prior"):
            DawidSkene(prior=text).fit(votes)


# ---- gold labels and start fits


def test_gold_labels_are_kept_and_used_for_the_matrices() -> None:
    """Two workers who always swap two labels are corrected by gold labels only."""
    task, worker = np.repeat(np.arange(20), 3), np.tile([0, 1, 2], 20)
    true = np.arange(20) % 2
    label = np.where(worker < 2, 1 - true[task], true[task])
    votes = Votes.of(task, worker, label)
    gold = SoftLabels.gold(range(6), true[:6])
    assert (DawidSkene().fit(votes).soft.most_probable_label_codes() == 1 - true).all()
    fit = DawidSkene(smooth=0.1).fit(votes, gold=gold)
    assert (fit.soft.most_probable_label_codes() == true).all() and fit.soft.prob[0].tolist() == [1, 0]
    assert fit.ability[2] > 0.9 and fit.ability[0] < 0.1


def test_with_all_gold_labels_matrices_are_counts() -> None:
    columns = crowd(n_tasks=50)
    true = np.random.default_rng(0).integers(0, 3, 50)
    votes = Votes.of(**columns, tasks=range(51))  # task 50 has a gold label and no votes
    fit = exact(3, smooth=0.0).fit(votes, gold=SoftLabels.gold(range(51), [*true, 2]))
    for w in range(6):
        mine = columns["worker"] == w
        said = np.zeros((3, 3))
        np.add.at(said, (true[columns["task"][mine]], columns["label"][mine]), 1)
        np.testing.assert_allclose(fit.confusion.of(w), said / said.sum(1, keepdims=True))
        right = columns["label"][mine] == true[columns["task"][mine]]
        np.testing.assert_allclose(fit.found["left_out"][w], right.mean())
    np.testing.assert_allclose(fit.prior, np.bincount([*true, 2]) / 51)


def test_gold_can_be_soft_and_can_lack_labels() -> None:
    votes = Votes.of(**crowd())
    soft = SoftLabels.of([[0.25, 0.75]], tasks=[3], labels=[0, 2])
    np.testing.assert_allclose(DawidSkene().fit(votes, gold=soft).soft.on([3]).prob, [[0.25, 0, 0.75]])
    with pytest.raises(InputError, match="are not in the list"):
        DawidSkene().fit(votes, gold=SoftLabels.gold([3], [9]))


def test_left_out_is_the_leave_one_out_agreement() -> None:
    for votes in (CROWDS[1], soft_crowd(seed=2)):
        fit = DawidSkene().fit(votes)
        for w in (0, 3):
            agreed = 0.0
            for row in np.flatnonzero(votes.worker == w):
                task = votes.task[row]
                others = votes.where((votes.task == task) & (votes.worker != w))
                rest, _ = posterior_of(others, np.log(fit.prior), fit.confusion.matrices)
                agreed += votes.weights[row] * rest[task, votes.label[row]]
            np.testing.assert_allclose(fit.found["left_out"][w], agreed / votes.n_answers_per_worker[w], rtol=1e-9)


def test_a_warm_start_needs_fewer_passes_and_allows_new_workers() -> None:
    columns = crowd(n_tasks=300, n_workers=10, feedback=4, seed=1)
    votes = Votes.of(**columns)
    first = DawidSkene(tol=1e-9).fit(votes)
    again = DawidSkene(tol=1e-6).fit(votes, start=first)
    assert again.found["passes"] < first.found["passes"]
    np.testing.assert_allclose(again.soft.prob, first.soft.prob, atol=1e-2)
    more = {
        k: np.concatenate([c, crowd(n_tasks=320, n_workers=12, feedback=4, seed=1)[k][-80:]])
        for k, c in columns.items()
    }
    grown = DawidSkene().fit(Votes.of(**more), start=first)
    assert len(grown.workers) == 12 and len(grown.soft) == 320 and grown.converged


def test_a_warm_start_from_another_method_or_with_other_labels() -> None:
    votes, from_shares = Votes.of(**crowd()), Fit(SoftLabels.of(np.eye(3)[[0, 1]], [0, 1], [0, 1, 2]), [], "by hand")
    assert DawidSkene().fit(votes, start=from_shares).converged
    fewer = DawidSkene().fit(Votes.of(**crowd(n_labels=2)))
    assert DawidSkene().fit(votes, start=fewer).converged


# ---- unusual crowds


def test_workers_and_tasks_without_votes() -> None:
    votes = Votes.of(**crowd(), workers=range(8), tasks=range(40))
    fit = DawidSkene().fit(votes)
    np.testing.assert_allclose(fit.confusion.of(7), 1 / 3)
    assert np.isnan(fit.found["left_out"][7]) and fit.ability_high[7] - fit.ability_low[7] > 0.3
    np.testing.assert_allclose(fit.soft.prob[35], fit.prior)
    np.testing.assert_allclose(fit.soft.prob[:30], DawidSkene().fit(Votes.of(**crowd())).soft.prob, atol=1e-9)


def test_intervals_shrink_with_votes_and_contain_the_accuracy() -> None:
    few, many = (DawidSkene().fit(Votes.of(**crowd(n_tasks=n))) for n in (20, 2000))
    assert (many.ability_high - many.ability_low).max() < 0.3 * (few.ability_high - few.ability_low).min()
    for fit in (few, many):  # true accuracy: .7, plus a third of .3 by random labels
        assert (fit.ability_low < 0.8).all() and (fit.ability_high > 0.8).all()


def test_matrices_too_large_for_memory_raise_an_error_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contract, "available_memory_or_none", lambda: 10_000)
    with pytest.raises(
        InputError, match=r"dawid-skene needs about .* MiB for 40 workers.* are available\. Use one of one-coin"
    ):
        DawidSkene().fit(Votes.of(["a"], ["w"], ["x"], workers=["w", *map(str, range(39))], labels=["x", *"yzabc"]))
