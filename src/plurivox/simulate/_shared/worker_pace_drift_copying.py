"""Random traits of simulated workers: pace, drift target, copying groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.simulate._shared.fatigue_drift_copying import AnswerEffects
from plurivox.simulate._shared.response_times import draw_relative_answer_time_per_worker

if TYPE_CHECKING:
    from plurivox.simulate._contract import Simulator


@dataclass(frozen=True)
class WorkerTraits:
    """The traits of simulated workers (pace, drift target, copied leader and so on); None if not simulated."""

    names: Names
    too_fast: Bools | None = None  # (n_workers,) who answers at random and too fast
    pace: Floats | None = None  # (n_workers,) time per answer relative to the median worker
    drift_target: Ints | None = None  # (n_workers,) the worker whose matrix each drifts towards
    leader: Ints | None = None  # (n_workers,) the worker that each copies, a leader's own code; -1: none
    by_strategy: Mapping[str, Floats] = field(default_factory=dict)  # traits drawn by the strategy, each (n_workers,)

    def traits_by_name(self) -> dict[str, NDArray[Any]]:
        """Return trait -> (n_workers,) values; traits that refer to another worker (drift target, leader) contain its name."""
        table: dict[str, NDArray[Any]] = dict(self.by_strategy)
        if self.too_fast is not None and self.too_fast.any():
            table["too_fast"] = self.too_fast
        if self.pace is not None:
            table["pace"] = self.pace
        if self.drift_target is not None:
            table["drifts_to"] = self.names[self.drift_target]
        if self.leader is not None:
            copied = np.full(len(self.names), "", TEXT)
            grouped = self.leader >= 0
            copied[grouped] = [str(name) for name in self.names[self.leader[grouped]].tolist()]
            table["copies"] = copied
        return table


def draw_worker_traits(
    simulator: "Simulator", worker_names: Names, strategy_traits: Mapping[str, Floats], rng: np.random.Generator
) -> WorkerTraits:
    """Return random traits of the workers (pace, drift target, copied leader), as the options of the simulator define."""
    n = len(worker_names)
    too_fast = np.zeros(n, bool)
    too_fast[rng.permutation(n)[: floor_count(simulator.too_fast, n)]] = True
    pace = draw_relative_answer_time_per_worker(n, too_fast, rng) if simulator.times else None
    drift_target = rng.permutation(n) if simulator.drift else None
    leader = (
        _draw_leader_copied_by_worker(n, simulator.copiers, simulator.group_size, rng) if simulator.copiers else None
    )
    return WorkerTraits(worker_names, too_fast, pace, drift_target, leader, strategy_traits)


def _draw_leader_copied_by_worker(
    n_workers: int, share_of_copiers: float, group_size: int, rng: np.random.Generator
) -> Ints:
    """Return (n_workers,) the worker that each worker copies, the leader of a random group of `group_size`; -1 for none."""
    n_groups = floor_count(share_of_copiers, n_workers) // group_size
    groups = rng.permutation(n_workers)[: n_groups * group_size].reshape(n_groups, group_size)
    leader = np.full(n_workers, -1)
    leader[groups] = groups[:, :1]
    return leader


def fatigue_drift_copying_rates_and_targets(simulator: "Simulator", traits: WorkerTraits) -> AnswerEffects:
    """Return the rates and targets of fatigue, drift and copying, from the simulator's options and the workers' traits."""
    return AnswerEffects(
        simulator.tire,
        simulator.drift,
        traits.drift_target,
        simulator.copy_rate,
        traits.leader,
        needs_order=simulator.times,
    )


def floor_count(share: float, total: int) -> int:
    """Return share * total as a whole number, rounded down, tolerant of floating-point error.

    >>> floor_count(0.29, 100)
    29
    """
    return int(share * total + 1e-9)
