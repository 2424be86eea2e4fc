"""Ask about so many tasks of each stratum."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from plurivox.assign._contract import Assigner, Pool
from plurivox.core.errors import OptionError
from plurivox.core.method import option


@dataclass(frozen=True)
class Strata(Assigner):
    """Ask about so many tasks of each stratum, those with the fewest answers first, until each has its quota.

    Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986) asked everybody about 22 hard images and 3 easy ones:
    `hard=22,easy=3`. Where a stratum is used up, the others go on without it.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([1] * 6, stratum=["hard"] * 4 + ["easy"] * 2)
    >>> found = [ledger.seat(Strata(counts="hard=2,easy=1"), worker) for worker in ("ann", "bo")]
    >>> [sorted(ledger.stratum[place.task] for place in one) for one in found]
    [['easy', 'hard', 'hard'], ['easy', 'hard', 'hard']]
    """

    counts: str = option("hard=22,easy=3", "tasks of each stratum in a sitting; as JSON where a name holds a comma")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.wanted()

    def wanted(self) -> dict[str, int]:
        """stratum -> tasks of it in a sitting."""
        return _counts(self.counts)

    def choose(self, pool: Pool) -> list[int]:
        return [task for stratum, n in self.wanted().items() for task in pool.fewest(stratum, n)]


def _counts(words: str) -> dict[str, int]:
    wrong = OptionError(f"{words!r} says no strata; write how many tasks of each a sitting has: hard=22,easy=3")
    if words.lstrip().startswith("{"):
        try:
            said = json.loads(words)
        except json.JSONDecodeError:
            raise wrong from None
    else:
        pairs = [word.rpartition("=") for word in words.split(",")]
        said = {name.strip(): int(n) if n.strip().isdecimal() else 0 for name, _, n in pairs}
        if len(said) < len(pairs):
            raise wrong
    if not isinstance(said, Mapping) or not said or not all(type(n) is int and n > 0 for n in said.values()):
        raise wrong
    return dict(said)
