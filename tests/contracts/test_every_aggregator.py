"""Contract tests that every aggregator in the registry must pass, including aggregators added later."""

import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from crowds import crowd, soft_crowd
from plurivox import aggregate
from plurivox.core.errors import InputError, PlurivoxError
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine import parallel_task_blocks
from plurivox.engine.parallel_task_blocks import set_threads

every = pytest.mark.parametrize("name", aggregate.methods)


def fitted(name: str, votes: Votes, **more: object) -> Fit:
    return aggregate.methods.make(name).fit(votes, **more)  # type: ignore[arg-type]


@every
def test_name_summary_options_and_spec(name: str) -> None:
    method = aggregate.methods[name]
    assert method.name() == name and method.summary() == aggregate.methods.summary(name) != ""
    assert all(one.help for one in method.options())
    made = method()
    assert aggregate.methods.make(made.spec) == made


@every
def test_the_fit_has_a_distribution_for_every_task_in_order(name: str) -> None:
    votes = Votes.of(**crowd())
    fit = fitted(name, votes)
    assert fit.soft.tasks.tolist() == votes.tasks.tolist() and fit.soft.labels.tolist() == votes.labels.tolist()
    assert fit.workers.tolist() == votes.workers.tolist() and fit.made_by == aggregate.methods.make(name).spec
    np.testing.assert_allclose(fit.soft.prob.sum(1), 1, atol=1e-9)


@every
def test_row_order_does_not_matter(name: str) -> None:
    rows = np.random.default_rng(1).permutation(150)
    plain, mixed = crowd(), {k: c[rows] for k, c in crowd().items()}
    a, b = (fitted(name, Votes.of(**columns)).soft.prob for columns in (plain, mixed))
    np.testing.assert_allclose(a, b, atol=1e-8)


@every
def test_the_same_votes_give_the_same_result(name: str) -> None:
    votes = Votes.of(**crowd())
    np.testing.assert_array_equal(fitted(name, votes).soft.prob, fitted(name, votes).soft.prob)


@every
def test_accuracy_is_well_above_random(name: str) -> None:
    columns = crowd(n_tasks=60, seed=4)
    true = np.random.default_rng(4).integers(0, 3, 60)  # the true labels that crowd() draws with this seed
    assert (fitted(name, Votes.of(**columns)).soft.hard() == true).mean() > 0.7


@every
def test_a_task_without_votes_has_a_distribution_and_support_0(name: str) -> None:
    votes = Votes.of(**crowd(), tasks=range(31))
    soft = fitted(name, votes).soft
    assert soft.support is not None and soft.support[-1] == 0 and abs(soft.prob[-1].sum() - 1) < 1e-9


@every
def test_tiny_crowds_and_labels_without_votes_are_fitted_or_rejected(name: str) -> None:
    for votes in (
        Votes.of(["a"], ["w"], ["x"]),
        Votes.of(["a", "b"], ["w", "w"], ["x", "x"]),
        Votes.of(["a", "a"], ["w", "v"], ["x", "y"]),
        Votes.of(["a", "a"], ["w", "v"], ["x", "x"], labels=["x", "y", "z"], workers=["u", "v", "w"]),
    ):
        try:
            soft = fitted(name, votes).soft
        except PlurivoxError as error:
            assert name in str(error)
        else:
            assert np.isfinite(soft.prob).all()


@every
def test_repeated_votes_and_full_ties_are_accepted(name: str) -> None:
    columns = crowd()
    twice = {k: np.concatenate([c, c[:40]]) for k, c in columns.items()}
    tied = Votes.of(["a", "a", "b", "b"], ["v", "w", "v", "w"], ["x", "y", "x", "y"])
    for votes in (Votes.of(**twice), tied):
        np.testing.assert_allclose(fitted(name, votes).soft.prob.sum(1), 1, atol=1e-9)


@every
def test_three_thousand_votes_on_one_task_do_not_underflow(name: str) -> None:
    n = 3000
    columns = {
        "task": [0] * n + [1, 2] * 10,
        "worker": [*range(n), *range(20)],
        "label": [0, 0, 1] * (n // 3) + [0, 1] * 10,
    }
    soft = fitted(name, Votes.of(**columns)).soft
    assert np.isfinite(soft.prob).all() and soft.most_probable_label_codes()[0] == 0


@every
def test_labels_may_be_text_numbers_or_booleans(name: str) -> None:
    columns = crowd(n_labels=2)
    a = fitted(name, Votes.of(**columns)).soft.prob
    for labels in (np.array([False, True]), np.array([0.5, 2.0]), np.array(["no", "yes"])):
        b = fitted(name, Votes.of(**{**columns, "label": labels[columns["label"]]})).soft.prob
        np.testing.assert_array_equal(a, b)


@every
def test_soft_answers_are_weighted_or_rejected(name: str) -> None:
    if "soft" not in aggregate.methods[name].takes:
        with pytest.raises(InputError, match=f"{name} takes plain votes only"):
            fitted(name, soft_crowd())
        return
    assert np.isfinite(fitted(name, soft_crowd()).soft.prob).all()
    columns = crowd()
    n = len(columns["task"])
    plain, corner = Votes.of(**columns), Votes.of(**columns, weight=np.ones(n), answer=np.arange(n))
    np.testing.assert_allclose(fitted(name, plain).soft.prob, fitted(name, corner).soft.prob, atol=1e-12)


@every
def test_counts_without_workers_are_accepted_or_rejected(name: str) -> None:
    counts = Votes.from_counts(np.array([[3, 1], [0, 2]]), ["a", "b"], ["x", "y"])
    if "counts" in aggregate.methods[name].takes:
        assert fitted(name, counts).soft.most_probable_label_codes().tolist() == [0, 1]
    else:
        with pytest.raises(InputError, match=f"{name} needs worker names"):
            fitted(name, counts)


@every
def test_gold_labels_are_kept_or_rejected(name: str) -> None:
    votes = Votes.of(**crowd())
    gold = SoftLabels.gold([0, 1, 999], [2, 2, 0], labels=votes.labels)
    if "gold" in aggregate.methods[name].takes:
        np.testing.assert_allclose(fitted(name, votes, gold=gold).soft.prob[:2, 2], 1)
    else:
        with pytest.raises(InputError, match=f"{name} cannot use known labels"):
            fitted(name, votes, gold=gold)


@every
def test_an_earlier_fit_is_used_as_start_or_rejected(name: str) -> None:
    votes, more = Votes.of(**crowd()), Votes.of(**crowd(n_tasks=35, n_workers=8, seed=2))
    earlier = fitted(name, votes)
    if "start" in aggregate.methods[name].takes:
        assert np.isfinite(fitted(name, more, start=earlier).soft.prob).all()
    else:
        with pytest.raises(InputError, match=f"{name} cannot start from an earlier fit"):
            fitted(name, more, start=earlier)


@pytest.mark.parametrize("name", [name for name in aggregate.methods if "start" in aggregate.methods[name].takes])
@pytest.mark.parametrize("other", ["dawid-skene", "ibcc", "one-coin"])
def test_the_objective_never_decreases_from_a_fit_of_another_method(name: str, other: str) -> None:
    votes = Votes.of(**crowd(n_tasks=50))
    trace = np.array(fitted(name, votes, start=fitted(other, votes)).trace)
    assert (np.diff(trace) >= -1e-7 * np.abs(trace[1:])).all()


@every
def test_the_objective_never_decreases(name: str) -> None:
    trace = np.array(fitted(name, Votes.of(**crowd(n_tasks=50))).trace)
    assert (np.diff(trace) >= -1e-7 * np.abs(trace[1:])).all()


def many_blocks(monkeypatch: pytest.MonkeyPatch) -> Votes:
    """Return votes, and lower the block size so that the engine splits them into several blocks."""
    monkeypatch.setattr(parallel_task_blocks, "MIN_BLOCK_VOTES", 1000)
    votes = Votes.of(**crowd(n_tasks=2000, n_workers=12))
    assert len(parallel_task_blocks.Blocks(votes.row_offsets_by_task, n_sums=12 * 3 * 3)) > 4
    return votes


@pytest.mark.slow
@every
def test_results_are_bit_identical_for_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = many_blocks(monkeypatch)
    seen = set()
    try:
        for n in (1, 2, 3):
            set_threads(n)
            fit = fitted(name, votes)
            seen.add((fit.soft.prob.tobytes(), fit.trace))
    finally:
        set_threads(None)
    assert len(seen) == 1


@pytest.mark.slow
@every
def test_concurrent_fits_and_a_forked_child_give_the_same_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = many_blocks(monkeypatch)
    alone = fitted(name, votes).soft.prob.tobytes()
    with ThreadPoolExecutor(2) as both:
        assert set(both.map(lambda _: fitted(name, votes).soft.prob.tobytes(), range(2))) == {alone}
    with warnings.catch_warnings():
        # newer versions of Python warn about a fork in a process with threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if fitted(name, votes).soft.prob.tobytes() == alone else 1)
    assert os.waitpid(child, 0)[1] == 0


@every
def test_a_fit_is_the_same_after_saving_and_pickling(name: str, tmp_path: object) -> None:
    fit = fitted(name, Votes.of(**crowd()))
    fit.save(tmp_path / "fit.npz")  # type: ignore[operator]
    for back in (Fit.load(tmp_path / "fit.npz"), pickle.loads(pickle.dumps(fit))):  # type: ignore[operator]
        np.testing.assert_array_equal(back.soft.prob, fit.soft.prob)
        assert back.made_by == fit.made_by and back.trace == fit.trace


@every
def test_votes_without_a_task_or_label_are_rejected(name: str) -> None:
    with pytest.raises(InputError, match="needs at least one task and one label"):
        fitted(name, Votes.of([], [], []))


@every
def test_the_progress_callback_can_stop_a_fit(name: str) -> None:
    def stop(step: int, total: int, value: float | None = None) -> None:
        raise KeyboardInterrupt

    try:
        fitted(name, Votes.of(**crowd()), progress=stop)
    except KeyboardInterrupt:
        return
    assert not fitted(
        name, Votes.of(**crowd())
    ).trace  # only a method without iterations may never call the progress callback
