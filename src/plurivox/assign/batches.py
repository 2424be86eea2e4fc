"""Ask about the tasks of batches that were fixed beforehand."""

from dataclasses import dataclass

from plurivox.assign._contract import Assigner, Pool


@dataclass(frozen=True)
class Batches(Assigner):
    """Ask about the tasks of batches that were fixed beforehand, the batch that the fewest people have first.

    A batch goes out whole to the first people; later, as the rest of it that is still open. A task that is in several
    batches wants as many times its answers, and a person who has met it in one of them gets the others without it.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([2, 1, 1], batches=[[0, 1], [0, 2]])
    >>> found = [ledger.seat(Batches(), worker) for worker in ("ann", "ann", "bo")]
    >>> sorted(len(one) for one in found), ledger.given.tolist()
    ([1, 1, 2], [2, 1, 1])
    """

    def choose(self, pool: Pool) -> list[int]:
        return list(pool.batch())
