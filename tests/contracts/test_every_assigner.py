"""Contract tests that every assigner must pass, for any open tasks and any order of workers."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurivox import assign
from plurivox.assign import AssignedTask, Assigner, Ledger, Proposer, plan
from plurivox.assign._contract import shuffle_session_and_insert_repeats

OPTIONS = {"tasks-per-stratum": {"counts": "hard=3,easy=1"}, "quota": {"batch": 4}, "next-best": {"per_worker": 4}}
every = pytest.mark.parametrize("name", sorted(assign.methods))


def way(name: str, **more: object) -> Assigner:
    return assign.methods.make(name, **OPTIONS.get(name, {}), **more)


def ledger(n_tasks: int = 12, per_task: int = 3, seed: int = 0) -> Ledger:
    """Return a ledger in which every fourth task is easy; each batch of five tasks shares one with the next batch."""
    batches = [[*range(i, min(i + 4, n_tasks)), (i + 6) % n_tasks] for i in range(0, n_tasks, 4)]
    held = Counter(task for batch in batches for task in set(batch))
    strata = ["easy" if i % 4 == 0 else "hard" for i in range(n_tasks)]
    return Ledger([per_task * held[i] for i in range(n_tasks)], strata, batches, seed)


def once(places: list[AssignedTask]) -> list[int]:
    return [place.task for place in places if not place.repeat]


@every
def test_all_tasks_fill_and_no_quota_is_exceeded(name: str) -> None:
    held = ledger()
    for i in range(100):
        tasks = once(held.assign(way(name), f"worker {i}"))
        assert len(set(tasks)) == len(tasks) and (held.given <= held.quota).all()
        for task in tasks:
            held.set_gain(task, 0.3)  # a gain high enough for next-best to assign the task again
        if not tasks:
            break
    assert (held.given == held.quota).all()


@every
def test_a_worker_gets_a_task_twice_only_as_a_repeat(name: str) -> None:
    held = ledger(per_task=9)
    met: list[int] = []
    for _ in range(8):
        places = held.assign(way(name, twice=2), "ann")
        met += once(places)
        assert {place.task for place in places if place.repeat} <= set(once(places))
    assert len(met) == len(set(met)) == 12


@every
def test_repeats_are_never_adjacent_and_at_varying_distances(name: str) -> None:
    apart = Counter()
    for seed in range(60):
        places = ledger(seed=seed).assign(way(name, twice=2), "ann")
        assert sum(place.repeat for place in places) == 2
        for at, place in enumerate(places):
            if place.repeat:
                apart[at - places.index(AssignedTask(place.task))] += 1
    assert min(apart) >= 2 and len(apart) >= 3


@every
def test_the_same_seed_gives_the_same_plan(name: str) -> None:
    one, same, other = (list(plan(way(name, twice=1), ledger(seed=seed), 6)) for seed in (1, 1, 2))
    assert one == same != other


@every
def test_tasks_of_a_stratum_are_assigned_equally_often(name: str) -> None:
    """While every worker is new, the assignments of two tasks of a stratum differ by at most one; with `batches`, for
    each batch that a task is in.
    """
    held = ledger(per_task=50)
    n_batches = held.quota / 50
    for i in range(20):
        held.assign(way(name), f"worker {i}")
        for stratum in ("hard", "easy"):
            there = np.array([one == stratum for one in held.stratum])
            given = held.given / n_batches if name == "batches" else held.given
            assert np.ptp(given[there]) <= 1
    assert held.given.sum() >= 20


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_short_sessions_have_as_many_repeats_as_fit(n: int) -> None:
    for seed in range(20):
        places = shuffle_session_and_insert_repeats(range(n), 3, random.Random(seed))
        assert len(places) == n + max(0, n - 1)
        assert all(one.task != two.task for one, two in pairwise(places))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(assign.methods)),
    steps=st.lists(st.tuples(st.sampled_from(["come", "expire", "answer"]), st.integers(0, 9)), max_size=60),
    seed=st.integers(0, 99),
)
def test_quotas_hold_for_arrivals_answers_and_expiries_in_any_order(
    name: str, steps: list[tuple[str, int]], seed: int
) -> None:
    held, method = ledger(per_task=2, seed=seed), way(name, twice=1)
    leased: list[tuple[str, int]] = []
    met: Counter[tuple[str, int]] = Counter()
    done: Counter[int] = Counter()
    for what, who in steps:
        if what == "come":
            new = [(f"worker {who}", task) for task in once(held.assign(method, f"worker {who}"))]
            leased += new
            met.update(new)
        elif leased:
            _, task = leased.pop(who % len(leased))
            if what == "expire":
                held.release([task])
            else:
                done[task] += 1
                held.set_gain(task, 0.5)
        counted = Counter(task for _, task in leased) + done
        assert held.given.tolist() == [counted[task] for task in range(12)]
        assert (held.given <= held.quota).all() and max(met.values(), default=1) == 1
    held.release([task for _, task in leased])
    for i in range(200):
        for task in once(held.assign(method, f"late {i}")):
            held.set_gain(task, 0.5)
    assert (held.given == held.quota).all()


@every
def test_proposers_are_the_assigners_with_a_propose_method(name: str) -> None:
    method = way(name)
    assert isinstance(method, Proposer) == hasattr(method, "propose")
