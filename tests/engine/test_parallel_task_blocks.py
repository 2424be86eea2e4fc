import os
import threading
import time

import numpy as np
import pytest

from plurivox.core.errors import OptionError
from plurivox.engine import parallel_task_blocks
from plurivox.engine.parallel_task_blocks import Blocks, parallel_map, set_threads


@pytest.fixture(autouse=True)
def threads_as_before():
    yield
    set_threads(None)


def big_start() -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 9, 100_000))])


def total(start: np.ndarray) -> tuple[float, bytes]:
    values = np.random.default_rng(1).random(int(start[-1]))

    def work(first, last, sums):
        part = values[start[first] : start[last]]
        np.add.at(sums, np.arange(len(part)) % len(sums), part)
        return float(part.sum())

    value, (sums,) = Blocks(start, n_sums=70).map_over_task_blocks_and_sum(work, 70)
    assert np.isclose(value, values.sum()) and np.isclose(sums.sum(), values.sum())
    return value, sums.tobytes()


def test_sums_have_the_same_bits_for_any_number_of_threads():
    start, seen = big_start(), set()
    for n in (1, 2, 7):
        set_threads(n)
        seen.add(total(start))
    assert len(seen) == 1


def test_blocks_cover_all_tasks_and_are_balanced_by_votes():
    start = big_start()
    cut = Blocks(start)
    assert cut.edges[0] == 0 and cut.edges[-1] == len(start) - 1 and len(cut) > 8
    size = np.diff(start[cut.edges])
    assert size.max() < 1.01 * size.mean() + 9


@pytest.mark.parametrize("start", [[0], [0, 0, 0], [0, 100_000], [0] * 50 + [100_000] + [100_000] * 50])
def test_blocks_cover_every_task_once_for_unusual_vote_counts(start):
    cut = Blocks(np.array(start))
    seen = [t for first, last in cut.map_over_task_blocks(lambda a, b: (a, b)) for t in range(first, last)]
    assert seen == list(range(len(start) - 1))


def test_large_sums_give_fewer_blocks():
    assert len(Blocks(big_start(), n_sums=10**6)) == 1


def test_every_call_gets_new_aligned_sums_of_the_requested_sizes():
    blocks, seen = Blocks(np.arange(4) * parallel_task_blocks.MIN_BLOCK_VOTES), []

    def work(first, last, *sums):
        seen.extend(one.ctypes.data % 64 for one in sums)
        for one in sums:
            assert not one.any()
            one += last - first
        return 0.0

    results = [blocks.map_over_task_blocks_and_sum(work, *sizes)[1] for sizes in [(3, 5), (20, 1), (2, 2)]]
    assert [[one.tolist() for one in sums] for sums in results] == [
        [[3.0] * 3, [3.0] * 5],
        [[3.0] * 20, [3.0]],
        [[3.0] * 2, [3.0] * 2],
    ]
    assert set(seen) == {0}


def test_the_first_error_stops_the_rest_and_is_raised():
    set_threads(3)
    done = []

    def work(i):
        if i == 2:
            raise ValueError("two")
        time.sleep(0.001)  # slow enough that not all blocks are done when the error is raised
        done.append(i)

    with pytest.raises(ValueError, match="two"):
        parallel_map(work, 10_000)
    assert len(done) < 10_000


def test_calls_from_inside_a_block_and_from_many_threads_finish():
    set_threads(2)
    answers = []
    asking = [
        threading.Thread(
            target=lambda: answers.append(sum(parallel_map(lambda i: sum(parallel_map(lambda j: i * j, 5)), 20)))
        )
        for _ in range(8)
    ]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert answers == [1900] * 8


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_use_threads():
    set_threads(2)
    parallel_map(lambda i: i, 8)
    if (child := os.fork()) == 0:
        os._exit(0 if parallel_map(lambda i: i, 8) == list(range(8)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_number_of_threads_from_call_environment_or_machine(monkeypatch):
    monkeypatch.setenv("PLURIVOX_THREADS", "3")
    assert parallel_task_blocks.n_threads() == 3
    set_threads(5)
    assert parallel_task_blocks.n_threads() == 5
    set_threads(None)
    monkeypatch.setenv("PLURIVOX_THREADS", "many")
    with pytest.raises(OptionError, match="PLURIVOX_THREADS"):
        parallel_task_blocks.n_threads()
    with pytest.raises(OptionError, match="at least 1"):
        set_threads(0)
