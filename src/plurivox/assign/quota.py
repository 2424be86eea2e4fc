"""Ask about the tasks that have the fewest answers."""

from dataclasses import dataclass

from plurivox.assign._contract import Assigner, Pool
from plurivox.core.method import option


@dataclass(frozen=True)
class Quota(Assigner):
    """Ask about the tasks that have the fewest answers, at random among equals, until each has its quota.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([2, 2, 2, 2])
    >>> [len(ledger.seat(Quota(batch=3, twice=1), worker)) for worker in ("ann", "bo", "cy")]
    [4, 4, 3]
    >>> ledger.given.tolist()
    [2, 2, 2, 2]
    """

    batch: int = option(25, "tasks in a sitting; repeats come on top", low=1)

    def choose(self, pool: Pool) -> list[int]:
        return list(pool.fewest(None, self.batch))
