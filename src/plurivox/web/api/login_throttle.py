"""How often a password may be guessed, so that nobody gets in by guessing and nobody can lock an owner out by it.

A stranger's address may try so often a minute, and for one name it waits longer after every wrong guess: 1, 2, 4 ... seconds
after the fifth, a quarter of an hour at most. All strangers together may try a name only so often a minute, from wherever.
An address from which an owner has signed in before has a lane of its own for that name, which strangers cannot fill: there,
only wrong passwords from the same address count.
"""

import time

from plurivox.web.api.rate_limit import MOST_NAMES, Buckets

PER_ACCOUNT = 3  # so many times what one address may try
FREE = 5  # wrong guesses of one address for one name before it has to wait
LONGEST, KEPT = 900.0, 3600.0  # seconds of waiting at most; after which wrong guesses are forgotten
DOUBLINGS = 10  # of a second: more than the longest wait


class Guesses:
    """Counts tries; each counts as wrong until it is known to be right.

    >>> guesses = Guesses(10)
    >>> [guesses.wait("olga", "192.0.2.1", known=False, at=0.0) for _ in range(6)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    >>> guesses.wait("olga", "198.51.100.7", known=True, at=0.0)
    0.0
    """

    def __init__(self, per_minute: float) -> None:
        self.addresses = Buckets(per_minute)
        self.accounts = Buckets(PER_ACCOUNT * per_minute)
        self.lanes = Buckets(per_minute)
        self._wrong: dict[tuple[str, str], tuple[int, float]] = {}  # (name, address): how often, when last

    def wait(self, name: str, address: str, *, known: bool, at: float | None = None) -> float:
        """0 where a try may be made, and then it counts; otherwise the seconds to wait."""
        time_now = time.monotonic() if at is None else at
        if known:
            return self.lanes.take((name, address), time_now)
        n, last = self._wrong.get((name, address), (0, time_now))
        if time_now - last > KEPT:
            n = 0
        if n >= FREE and (left := last + min(2.0 ** min(n - FREE, DOUBLINGS), LONGEST) - time_now) > 0:
            return left
        if left := self.addresses.take(address, time_now):
            return left
        if left := self.accounts.take(name, time_now):
            return left
        if len(self._wrong) >= MOST_NAMES:
            self._forget(time_now)
        self._wrong[name, address] = n + 1, time_now
        return 0.0

    def right(self, name: str, address: str, *, known: bool) -> None:
        """The password was right: the try counts no more, nor do the wrong ones before it."""
        self._wrong.pop((name, address), None)
        if known:
            self.lanes.give_back((name, address))
        else:
            self.addresses.give_back(address)
            self.accounts.give_back(name)

    def _forget(self, time_now: float) -> None:
        """Let go of what is old; of the older half where that is not enough."""
        fresh = {key: one for key, one in self._wrong.items() if time_now - one[1] <= KEPT}
        if len(fresh) >= MOST_NAMES:
            fresh = dict(sorted(fresh.items(), key=lambda one: one[1][1])[MOST_NAMES // 2 :])
        self._wrong = fresh
