"""Ledger: record, in memory, of which task was assigned to which worker, for plans, simulations and tests."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from plurivox.assign._contract import GAIN_DECAY, UNASKED_GAIN, AssignedTask, Assigner
from plurivox.core.array_types import Floats, Ints

Entry = tuple[float, float, int]  # sort key, random rank among equal keys, number of the task or batch


class Ledger:
    """Record of the tasks assigned to each worker, with heaps of the open tasks by assigned slots, gain and batch.

    >>> from plurivox.assign import Quota
    >>> ledger = Ledger([1, 1, 1], seed=4)
    >>> session = ledger.assign(Quota(batch=2), "ann")
    >>> ledger.release([session[0].task])  # not answered in time
    >>> int(ledger.given.sum()), ledger.seen["ann"] == {assigned.task for assigned in session}
    (1, True)
    """

    def __init__(
        self,
        quota: Sequence[int] | Ints,
        stratum: Sequence[str] | None = None,
        batches: Sequence[Sequence[int]] = (),
        seed: int = 0,
    ) -> None:
        self.quota: Ints = np.asarray(quota, np.int64)  # (n_tasks,) answers wanted
        self.given: Ints = np.zeros(len(self.quota), np.int64)  # (n_tasks,) assigned slots, answered or not
        self.gain: Floats = np.full(len(self.quota), UNASKED_GAIN)  # (n_tasks,) of one more answer, in nats
        self.stratum = list(stratum) if stratum is not None else [""] * len(self.quota)
        self.batches = [sorted(set(batch)) for batch in batches]
        self.seen: dict[str, set[int]] = {}  # worker -> tasks that were assigned to the worker
        self.rng = random.Random(seed)
        self._batch_given = [0] * len(self.batches)
        self._batches_of: dict[int, list[int]] = {}  # task -> batches that contain it
        for number, batch in enumerate(self.batches):
            for task in batch:
                self._batches_of.setdefault(task, []).append(number)
        self._by_given = _Heap((0.0, self.rng.random(), task) for task in np.flatnonzero(self.quota).tolist())
        self._by_stratum = {
            name: _Heap(entry for entry in self._by_given.entries if self.stratum[entry[2]] == name)
            for name in dict.fromkeys(self.stratum)
        }
        self._by_gain = _Heap((-UNASKED_GAIN, rank, task) for _, rank, task in self._by_given.entries)
        self._by_batch = _Heap((0.0, self.rng.random(), number) for number in range(len(self.batches)))

    def assign(self, method: Assigner, worker: str) -> list[AssignedTask]:
        """Choose the tasks of a worker's session by `method`, record them as assigned to the worker, and return them."""
        open_tasks = WorkerOpenTasks(self, worker)
        session = method.assign_session(open_tasks, self.rng)
        for assigned in session:
            if not assigned.repeat:
                self.seen.setdefault(worker, set()).add(assigned.task)
                self._add_assigned_slots_and_scale_gain(assigned.task, 1)
        if open_tasks.batch_number is not None and session:
            number = open_tasks.batch_number
            self._batch_given[number] += 1
            self._by_batch.push((self._batch_given[number], self.rng.random(), number))
        return session

    def release(self, unanswered_tasks: Iterable[int]) -> None:
        """Reopen one slot of each of `unanswered_tasks`, which was assigned but not answered in time."""
        for task in unanswered_tasks:
            self._add_assigned_slots_and_scale_gain(task, -1)

    def set_gain(self, task: int, gain: float) -> None:
        """Set the expected information gain, in nats, of one more answer to a task, and update the order of open tasks."""
        self.gain[task] = gain
        self._push_task_onto_heaps(task)

    def _add_assigned_slots_and_scale_gain(self, task: int, n_slots: int) -> None:
        """Add `n_slots` (may be negative) to a task's assigned slots; its gain is halved per slot added, doubled if removed."""
        self.given[task] += n_slots
        if self.gain[task] > 1 and n_slots > 0:
            self.gain[task] = 1.0
        self.gain[task] *= GAIN_DECAY**n_slots
        if self.given[task] == 0:
            self.gain[task] = UNASKED_GAIN
        self._push_task_onto_heaps(task)

    def _push_task_onto_heaps(self, task: int) -> None:
        """Push an open task and its batches with their current sort keys onto the heaps; their old entries become stale."""
        if self.given[task] < self.quota[task]:
            rank = self.rng.random()
            for heap in (self._by_given, self._by_stratum[self.stratum[task]]):
                heap.push((float(self.given[task]), rank, task))
            self._by_gain.push((-float(self.gain[task]), rank, task))
            for number in self._batches_of.get(task, ()):
                self._by_batch.push((self._batch_given[number], self.rng.random(), number))

    def is_open(self, task: int, worker: str) -> bool:
        """Return whether a task is below its quota and was not assigned to this worker before."""
        return bool(self.given[task] < self.quota[task]) and task not in self.seen.get(worker, ())


class WorkerOpenTasks:
    """The tasks of a `Ledger` that are open to one worker: an implementation of the protocol `OpenTasks`."""

    def __init__(self, ledger: Ledger, worker: str) -> None:
        self.ledger, self.worker = ledger, worker
        self.batch_number: int | None = None  # of the predefined batch that was chosen

    def least_assigned_open_tasks(self, stratum: str | None, n: int) -> list[int]:
        ledger = self.ledger
        heap = ledger._by_given if stratum is None else ledger._by_stratum.get(stratum, _Heap(()))
        return self._first_open_tasks_of_heap(heap, n, lambda given, task: given == ledger.given[task])

    def most_informative_open_tasks(self, n: int, min_gain: float) -> list[int]:
        ledger = self.ledger
        found = self._first_open_tasks_of_heap(
            ledger._by_gain, n, lambda minus_gain, task: -minus_gain == ledger.gain[task]
        )
        return [task for task in found if ledger.gain[task] >= min_gain]

    def open_tasks_of_least_assigned_batch(self) -> list[int]:
        ledger, current, found = self.ledger, list[Entry](), list[int]()
        while not found and (entry := ledger._by_batch.pop_smallest_or_none()) is not None:
            given, _, number = entry
            below_quota = [task for task in ledger.batches[number] if ledger.given[task] < ledger.quota[task]]
            if given != ledger._batch_given[number] or not below_quota:
                continue  # stale, or full: a released slot pushes it again
            current.append(entry)
            found = [task for task in below_quota if ledger.is_open(task, self.worker)]
            self.batch_number = number if found else None
        for entry in current:
            ledger._by_batch.push(entry)
        return found

    def _first_open_tasks_of_heap(
        self, heap: "_Heap", max_tasks: int, is_current: Callable[[float, int], bool]
    ) -> list[int]:
        """Return the first `max_tasks` tasks of a heap open to the worker; they stay in the heap, stale entries do not."""
        current: dict[int, Entry] = {}
        found: list[int] = []
        while len(found) < max_tasks and (entry := heap.pop_smallest_or_none()) is not None:
            key, _, task = entry
            if task in current or not is_current(key, task) or self.ledger.given[task] >= self.ledger.quota[task]:
                continue
            current[task] = entry
            if self.ledger.is_open(task, self.worker):
                found.append(task)
        for entry in current.values():
            heap.push(entry)
        return found


class _Heap:
    """Min-heap of open tasks or batches: entries (sort key, random rank, task or batch number)."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        heapify(self.entries)

    def push(self, entry: Entry) -> None:
        heappush(self.entries, entry)

    def pop_smallest_or_none(self) -> Entry | None:
        return heappop(self.entries) if self.entries else None


def plan(method: Assigner, ledger: Ledger, n_workers: int | None = None) -> Iterator[list[AssignedTask]]:
    """Yield the session of one simulated worker after another, until no task is open or after `n_workers`; updates `ledger`.

    >>> from plurivox.assign import Quota
    >>> [len(session) for session in plan(Quota(batch=2), Ledger([1] * 5))]
    [2, 2, 1]
    """
    n = 0
    while (n_workers is None or n < n_workers) and (session := ledger.assign(method, f"worker {n}")):
        n += 1
        yield session
