"""Checks that the options of a simulation are compatible with each other and with its tasks, workers and labels."""

from typing import TYPE_CHECKING

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import OptionError, first_few
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.simulate._shared.names_truth_and_features import Dimensions, power_law_shares
from plurivox.simulate._shared.worker_pace_drift_copying import floor_count

if TYPE_CHECKING:
    from plurivox.simulate._contract import Simulator

# options that would change peerannot's sequence of draws
NOT_IN_PEERANNOT = (
    "worker_tail",
    "tire",
    "drift",
    "copiers",
)


def check_option_combinations(simulator: "Simulator") -> None:
    """Raise OptionError if options of a simulation are incompatible with each other; sizes only if matrices cannot be given."""
    if "matrices" not in simulator.takes:
        check_enough_workers_per_task(simulator, simulator.n_workers)
        check_copiers_fill_one_group(simulator, simulator.n_workers)
    unsupported = [name.replace("_", "-") for name in NOT_IN_PEERANNOT if getattr(simulator, name)]
    if simulator.order == "peerannot" and unsupported:
        raise OptionError(
            f"{simulator.name()}: order=peerannot draws vote by vote as peerannot does, which does not have "
            f"{first_few(unsupported, 4)}; use order=whole"
        )
    if simulator.too_fast and not simulator.times:
        raise OptionError(f"{simulator.name()}: too-fast needs answer times; set times=yes")
    if simulator.prior is not None and simulator.label_tail:
        raise OptionError(f"{simulator.name()}: prior and label-tail both set the label frequencies; give one of them")
    label_frequencies_of_options(simulator, simulator.n_labels, require_n_labels=False)


def check_options_against_sizes(simulator: "Simulator", dimensions: Dimensions) -> None:
    """Raise OptionError if options of a simulation are incompatible with its number of tasks, workers and labels."""
    n_tasks, n_workers = len(dimensions.tasks), len(dimensions.workers)
    check_enough_workers_per_task(simulator, n_workers)
    check_copiers_fill_one_group(simulator, n_workers)
    if dimensions.true is not None and (simulator.prior is not None or simulator.label_tail):
        raise OptionError(
            f"{simulator.name()}: prior and label-tail apply to drawn true labels, but true labels are given"
        )
    label_frequencies_of_options(simulator, len(dimensions.labels))
    needed = n_tasks * (1 if simulator.imbalance_votes else simulator.feedback)
    if simulator.workload is not None and simulator.workload * n_workers < needed:
        raise OptionError(
            f"{simulator.name()}: {n_tasks} tasks need {needed} votes; {n_workers} workers with a workload of "
            f"{simulator.workload} give {simulator.workload * n_workers}"
        )


def check_enough_workers_per_task(simulator: "Simulator", n_workers: int) -> None:
    """Raise OptionError if a simulation has fewer workers than votes per task (`feedback`)."""
    if simulator.feedback > n_workers:
        raise OptionError(
            f"{simulator.name()}: feedback of {simulator.feedback} needs as many workers; there are {n_workers}"
        )


def check_copiers_fill_one_group(simulator: "Simulator", n_workers: int) -> None:
    """Raise OptionError if a simulation has fewer workers who copy than one copying group needs (`group_size`)."""
    if simulator.copiers and (n := floor_count(simulator.copiers, n_workers)) < simulator.group_size:
        raise OptionError(
            f"{simulator.name()}: copiers={simulator.copiers:g} of {n_workers} workers are {n}, fewer than a group-size of "
            f"{simulator.group_size}; raise copiers or lower group-size"
        )


def label_frequencies_of_options(
    simulator: "Simulator", n_labels: int, *, require_n_labels: bool = True
) -> Floats | None:
    """Return (n_labels,) the label frequencies set by `prior` or `label_tail`, None if uniform; raise OptionError if invalid.

    Without `require_n_labels`, the number of frequencies may differ from `n_labels`.
    """
    if simulator.prior is None:
        return power_law_shares(n_labels, simulator.label_tail) if simulator.label_tail else None
    try:
        prior = np.array([float(text) for text in split_at_commas_outside_brackets(simulator.prior)])
    except ValueError:
        raise OptionError(
            f"{simulator.name()}: prior must be numbers separated by commas; got {simulator.prior!r}"
        ) from None
    if require_n_labels and len(prior) != n_labels:
        raise OptionError(f"{simulator.name()}: prior has {len(prior)} numbers; {n_labels} labels need one each")
    if not len(prior) or not np.isfinite(prior).all() or (prior <= 0).any():
        raise OptionError(f"{simulator.name()}: all numbers of prior must be above 0; got {simulator.prior!r}")
    return prior / prior.sum()
