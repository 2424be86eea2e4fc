"""How often somebody may come: a bucket of requests that fills up again, for each name."""

import time

MOST_NAMES = 50_000


class Buckets:
    """At most `per_minute` requests a minute of one name, in one go or spread.

    >>> buckets = Buckets(2)
    >>> [buckets.take("ann", at=0.0) for _ in range(3)], buckets.take("ann", at=30.0)
    ([0.0, 0.0, 30.0], 0.0)
    """

    def __init__(self, per_minute: float) -> None:
        self.rate, self.most = per_minute / 60, max(1.0, per_minute)
        self._held: dict[object, tuple[float, float]] = {}  # name: what is left, when that was

    def take(self, name: object, at: float | None = None) -> float:
        """0 where the request may pass, otherwise the seconds to wait."""
        time_now = time.monotonic() if at is None else at
        left, when = self._held.get(name, (self.most, time_now))
        left = min(self.most, left + (time_now - when) * self.rate)
        if left < 1:
            return (1 - left) / self.rate
        if len(self._held) >= MOST_NAMES:
            self._forget(time_now)
        self._held[name] = left - 1, time_now
        return 0.0

    def _forget(self, time_now: float) -> None:
        """Let go of names whose bucket is full again; of all where that is not enough."""
        full = [name for name, (left, when) in self._held.items() if left + (time_now - when) * self.rate >= self.most]
        for name in full:
            del self._held[name]
        if len(self._held) >= MOST_NAMES:
            self._held.clear()
