"""Contract tests that every aggregator in the registry must pass, including aggregators added later."""

import os
import pickle
import re
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox import aggregate
from plurivox.aggregate import Aggregator, _contract, average, temperature
from plurivox.core.errors import InputError, PlurivoxError, PlurivoxWarning
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
def test_the_method_declares_what_its_soft_labels_estimate_and_fit_writes_it(name: str) -> None:
    declared = aggregate.methods.make(name).estimated_quantity()
    assert declared in ("truth", "people")
    assert fitted(name, Votes.of(**crowd())).soft.estimates == declared


def test_the_default_methods_estimate_what_they_are_the_default_for() -> None:
    assert {
        what: aggregate.methods.make(name).estimated_quantity() for what, name in aggregate.DEFAULT_METHODS.items()
    } == {"truth": "truth", "people": "people"}


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
def test_ordered_labels_are_used_or_said_to_be_ignored(name: str) -> None:
    plain, ordered = (Votes.of(**crowd(), ordered=ordered) for ordered in (False, True))
    if "order" in aggregate.methods[name].takes:
        assert not np.array_equal(pv.fit(plain, name).soft.prob, pv.fit(ordered, name).soft.prob)
        return
    with pytest.warns(PlurivoxWarning, match=f"^{name} does not use the order of the labels") as said:
        found = pv.fit(ordered, name)
    assert len(said) == 1
    np.testing.assert_array_equal(found.soft.prob, pv.fit(plain, name).soft.prob)


def few_passes(name: str) -> Aggregator:
    """Return the aggregator with few passes and starts, which need as much memory as many."""
    few = {"max_iter": 6, "starts": 3}
    known = {one.name for one in aggregate.methods[name].options()}
    return aggregate.methods.make(name, **{option: n for option, n in few.items() if option in known})


def random_votes(n_tasks: int, n_labels: int, n_workers: int, n_rows: int) -> Votes:
    rng = np.random.default_rng(7)
    task = rng.integers(0, n_tasks, n_rows)
    label = np.where(rng.random(n_rows) < 0.7, task % n_labels, rng.integers(0, n_labels, n_rows))
    names = {"tasks": range(n_tasks), "labels": range(n_labels), "workers": range(n_workers)}
    return Votes.of(task, rng.integers(0, n_workers, n_rows), label, **names)  # type: ignore[arg-type]


def peak_bytes_of_fit(method: Aggregator, votes: Votes) -> int:
    """Return the largest number of bytes that are allocated at once while a method fits votes."""
    tracemalloc.start()
    method.fit(votes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@every
@pytest.mark.parametrize("shape", [(200, 16, 150, 900), (4000, 60, 3, 8000)], ids=["many workers", "many tasks"])
def test_the_estimate_of_the_memory_is_right(name: str, shape: tuple[int, int, int, int]) -> None:
    votes, method = random_votes(*shape), few_passes(name)
    method.fit(votes)  # compile and import first: both allocate memory that is not the fit's
    # the least of three: what else runs in this process allocates at times too
    peak = min(peak_bytes_of_fit(method, votes) for _ in range(3))
    assert 0.9 * peak - 2**20 < 8 * method.estimated_peak_floats(votes) < 3 * peak + 2**20


@every
@pytest.mark.parametrize("many", ["labels", "tasks"])
def test_too_little_memory_is_a_clear_error_that_names_methods_that_work(
    name: str, many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = random_votes(100, 60, 80, 400) if many == "labels" else random_votes(4000, 60, 10, 8000)
    free = 2_000_000 if many == "labels" else 5_000_000
    monkeypatch.setattr(_contract, "available_memory_or_none", lambda: free)
    monkeypatch.setattr(_contract, "DENSE_CELLS", 10_000)  # as if the soft labels were too many for a table
    monkeypatch.setattr(average, "DENSE_CELLS", 10_000)
    monkeypatch.setattr(temperature, "DENSE_CELLS", 10_000)
    method = few_passes(name)
    if method.fits_into_memory(votes, free):
        assert len(method.fit(votes).soft) == votes.n_tasks
        return
    with pytest.raises(InputError, match=rf"{name} needs about [\d.,]+ [GM]iB for .* are available") as error:
        method.fit(votes)
    named = re.findall(r"([\w-]+) \(about", str(error.value)) or [
        f"average[{p}]" for p in re.findall(r"parts=\[.*?\]", str(error.value))
    ]
    assert named
    for other in named:
        assert len(aggregate.methods.make(other).fit(votes).soft) == votes.n_tasks


@every
def test_a_memory_error_of_the_method_is_a_clear_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Fit:
        raise MemoryError("Unable to allocate 47 GiB")

    monkeypatch.setattr(aggregate.methods[name], "_fit", fail)
    with pytest.raises(InputError, match=f"{name} needs about .* and there is less: Unable to allocate 47 GiB"):
        fitted(name, Votes.of(**crowd()))


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
