"""The workers of a crowd, and what sets each apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.types import TEXT, Bools, Floats, Ints, Names
from plurivox.simulate._shared.response_times import draw_pace
from plurivox.simulate._shared.worker_sequences import Habits

if TYPE_CHECKING:
    from plurivox.simulate._contract import Simulator


@dataclass(frozen=True)
class People:
    """Workers by name; what does not occur in a crowd is None."""

    names: Names
    too_fast: Bools | None = None  # (n_workers,) who clicks without looking
    pace: Floats | None = None  # (n_workers,) time beside that of the median person
    becomes: Ints | None = None  # (n_workers,) whose matrix each drifts towards
    leader: Ints | None = None  # (n_workers,) whom each copies, oneself where one leads; -1: nobody
    own: Mapping[str, Floats] = field(default_factory=dict)  # what the strategy knows of them, each (n_workers,)

    def columns(self) -> dict[str, NDArray[Any]]:
        """name -> (n_workers,) every trait, other workers by their names."""
        table: dict[str, NDArray[Any]] = dict(self.own)
        if self.too_fast is not None and self.too_fast.any():
            table["too_fast"] = self.too_fast
        if self.pace is not None:
            table["pace"] = self.pace
        if self.becomes is not None:
            table["drifts_to"] = self.names[self.becomes]
        if self.leader is not None:
            whom = np.full(len(self.names), "", TEXT)
            grouped = self.leader >= 0
            whom[grouped] = [str(name) for name in self.names[self.leader[grouped]].tolist()]
            table["copies"] = whom
        return table


def draw_people(of: "Simulator", names: Names, own: Mapping[str, Floats], rng: np.random.Generator) -> People:
    """The people that a simulation's options ask for."""
    n = len(names)
    too_fast = np.zeros(n, bool)
    too_fast[rng.permutation(n)[: count_of(of.too_fast, n)]] = True
    pace = draw_pace(n, too_fast, rng) if of.times else None
    becomes = rng.permutation(n) if of.drift else None
    leader = _draw_leaders(n, of.copiers, of.group_size, rng) if of.copiers else None
    return People(names, too_fast, pace, becomes, leader, own)


def _draw_leaders(n: int, share: float, size: int, rng: np.random.Generator) -> Ints:
    """(n_workers,) whom each copies: whole groups of `size`, their members and leaders at random."""
    n_groups = count_of(share, n) // size
    groups = rng.permutation(n)[: n_groups * size].reshape(n_groups, size)
    leader = np.full(n, -1)
    leader[groups] = groups[:, :1]
    return leader


def habits_of(of: "Simulator", people: People) -> Habits:
    """What happens to these people as they go on."""
    return Habits(of.tire, of.drift, people.becomes, of.copy_rate, people.leader, in_sequence=of.times)


def count_of(share: float, n: int) -> int:
    """How many of n a share of them is, rounded down; what is whole but for rounding counts as whole.

    >>> count_of(0.29, 100)
    29
    """
    return int(share * n + 1e-9)
