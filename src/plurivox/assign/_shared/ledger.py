"""Ledger: all slots of a study in memory, for plans, simulations and tests."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from plurivox.assign._contract import FALL, UNASKED, Assigner, Place
from plurivox.core.types import Floats, Ints

Entry = tuple[float, float, int]  # by what, random rank, number


class Ledger:
    """Who was given which task. Open tasks stand in heaps, so that nothing ever sorts them all.

    >>> from plurivox.assign import Quota
    >>> ledger = Ledger([1, 1, 1], seed=4)
    >>> first = ledger.seat(Quota(batch=2), "ann")
    >>> ledger.give_back([first[0].task])  # not answered in time
    >>> int(ledger.given.sum()), ledger.seen["ann"] == {place.task for place in first}
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
        self.given: Ints = np.zeros(len(self.quota), np.int64)  # (n_tasks,) slots that are leased or done
        self.gain: Floats = np.full(len(self.quota), UNASKED)  # (n_tasks,) in nats, of one more answer
        self.stratum = list(stratum) if stratum is not None else [""] * len(self.quota)
        self.batches = [sorted(set(batch)) for batch in batches]
        self.seen: dict[str, set[int]] = {}
        self.rng = random.Random(seed)
        self._batch_given = [0] * len(self.batches)
        self._holders: dict[int, list[int]] = {}
        for number, batch in enumerate(self.batches):
            for task in batch:
                self._holders.setdefault(task, []).append(number)
        self._by_given = _Heap((0.0, self.rng.random(), task) for task in np.flatnonzero(self.quota).tolist())
        self._by_stratum = {
            name: _Heap(entry for entry in self._by_given.entries if self.stratum[entry[2]] == name)
            for name in dict.fromkeys(self.stratum)
        }
        self._by_gain = _Heap((-UNASKED, rank, task) for _, rank, task in self._by_given.entries)
        self._by_batch = _Heap((0.0, self.rng.random(), number) for number in range(len(self.batches)))

    def seat(self, method: Assigner, worker: str) -> list[Place]:
        """What this worker is asked now; the slots are given."""
        pool = OpenTo(self, worker)
        places = method.sit(pool, self.rng)
        for place in places:
            if not place.repeat:
                self.seen.setdefault(worker, set()).add(place.task)
                self._count(place.task, 1)
        if pool.number is not None and places:
            self._batch_given[pool.number] += 1
            self._by_batch.put((self._batch_given[pool.number], self.rng.random(), pool.number))
        return places

    def give_back(self, tasks: Iterable[int]) -> None:
        """Slots that were not answered in time."""
        for task in tasks:
            self._count(task, -1)

    def learn(self, task: int, gain: float) -> None:
        """What one more answer to a task is expected to tell now, in nats."""
        self.gain[task] = gain
        self._put(task)

    def _count(self, task: int, more: int) -> None:
        self.given[task] += more
        if self.gain[task] > 1 and more > 0:
            self.gain[task] = 1.0
        self.gain[task] *= FALL**more
        if self.given[task] == 0:
            self.gain[task] = UNASKED
        self._put(task)

    def _put(self, task: int) -> None:
        if self.given[task] < self.quota[task]:
            rank = self.rng.random()
            for heap in (self._by_given, self._by_stratum[self.stratum[task]]):
                heap.put((float(self.given[task]), rank, task))
            self._by_gain.put((-float(self.gain[task]), rank, task))
            for number in self._holders.get(task, ()):
                self._by_batch.put((self._batch_given[number], self.rng.random(), number))

    def is_open(self, task: int, worker: str) -> bool:
        """Whether a task wants more answers and this worker has not seen it."""
        return bool(self.given[task] < self.quota[task]) and task not in self.seen.get(worker, ())


class OpenTo:
    """What is open to one worker: a pool."""

    def __init__(self, ledger: Ledger, worker: str) -> None:
        self.ledger, self.worker = ledger, worker
        self.number: int | None = None  # of the fixed batch that was chosen

    def fewest(self, stratum: str | None, n: int) -> list[int]:
        led = self.ledger
        heap = led._by_given if stratum is None else led._by_stratum.get(stratum, _Heap(()))
        return self._first(heap, n, lambda given, task: given == led.given[task])

    def telling(self, n: int, least: float) -> list[int]:
        led = self.ledger
        found = self._first(led._by_gain, n, lambda worse, task: -worse == led.gain[task])
        return [task for task in found if led.gain[task] >= least]

    def batch(self) -> list[int]:
        led, kept, found = self.ledger, list[Entry](), list[int]()
        while not found and (entry := led._by_batch.pop()) is not None:
            given, _, number = entry
            open_now = [task for task in led.batches[number] if led.given[task] < led.quota[task]]
            if given != led._batch_given[number] or not open_now:
                continue  # out of date, or full: a slot given back puts it in again
            kept.append(entry)
            found = [task for task in open_now if led.is_open(task, self.worker)]
            self.number = number if found else None
        for entry in kept:
            led._by_batch.put(entry)
        return found

    def _first(self, heap: "_Heap", n: int, holds: Callable[[float, int], bool]) -> list[int]:
        """The first `n` that are open to the worker; what is out of date is dropped on the way."""
        kept: dict[int, Entry] = {}
        found: list[int] = []
        while len(found) < n and (entry := heap.pop()) is not None:
            by, _, task = entry
            if task in kept or not holds(by, task) or self.ledger.given[task] >= self.ledger.quota[task]:
                continue
            kept[task] = entry
            if self.ledger.is_open(task, self.worker):
                found.append(task)
        for entry in kept.values():
            heap.put(entry)
        return found


class _Heap:
    """Entries, the smallest first."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        heapify(self.entries)

    def put(self, entry: Entry) -> None:
        heappush(self.entries, entry)

    def pop(self) -> Entry | None:
        return heappop(self.entries) if self.entries else None


def plan(method: Assigner, ledger: Ledger, n_workers: int | None = None) -> Iterator[list[Place]]:
    """The sittings of people who come one after the other, each once; until all is given, or so many have come.

    >>> from plurivox.assign import Quota
    >>> [len(sitting) for sitting in plan(Quota(batch=2), Ledger([1] * 5))]
    [2, 2, 1]
    """
    n = 0
    while (n_workers is None or n < n_workers) and (places := ledger.seat(method, f"worker {n}")):
        n += 1
        yield places
