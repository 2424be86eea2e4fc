"""Options that cannot go together, told before anything is drawn."""

from typing import TYPE_CHECKING

import numpy as np

from plurivox.core.errors import OptionError, first_few
from plurivox.core.method import split_list
from plurivox.core.types import Floats
from plurivox.simulate._shared.dimensions import Stage, tail
from plurivox.simulate._shared.population import count_of

if TYPE_CHECKING:
    from plurivox.simulate._contract import Simulator

NOT_PEERANNOT = ("worker_tail", "tire", "drift", "copiers")  # they come before or between its draws


def check_options(of: "Simulator") -> None:
    """Refuse what no sizes can make possible; where matrices may bring other workers, sizes wait for them."""
    if "matrices" not in of.takes:
        check_feedback(of, of.n_workers)
        check_groups(of, of.n_workers)
    clash = [one.replace("_", "-") for one in NOT_PEERANNOT if getattr(of, one)]
    if of.order == "peerannot" and clash:
        raise OptionError(
            f"{of.name()}: order=peerannot draws vote by vote as peerannot does, which knows no {first_few(clash, 4)}; "
            "use order=whole"
        )
    if of.too_fast and not of.times:
        raise OptionError(f"{of.name()}: too-fast needs answer times; set times=yes")
    if of.prior is not None and of.label_tail:
        raise OptionError(f"{of.name()}: prior and label-tail both say how frequent labels are; give one of them")
    read_prior(of, of.n_labels, exact=False)


def check_sizes(of: "Simulator", stage: Stage) -> None:
    """Refuse what the tasks, workers and labels of this crowd do not allow."""
    n_tasks, n_workers = len(stage.tasks), len(stage.workers)
    check_feedback(of, n_workers)
    check_groups(of, n_workers)
    if stage.true is not None and (of.prior is not None or of.label_tail):
        raise OptionError(f"{of.name()}: true labels are given; prior and label-tail are for those that are drawn")
    read_prior(of, len(stage.labels))
    needed = n_tasks * (1 if of.imbalance_votes else of.feedback)
    if of.workload is not None and of.workload * n_workers < needed:
        raise OptionError(
            f"{of.name()}: {n_tasks} tasks need {needed} votes; {n_workers} workers with a workload of "
            f"{of.workload} give {of.workload * n_workers}"
        )


def check_feedback(of: "Simulator", n_workers: int) -> None:
    if of.feedback > n_workers:
        raise OptionError(f"{of.name()}: feedback of {of.feedback} needs as many workers; there are {n_workers}")


def check_groups(of: "Simulator", n_workers: int) -> None:
    if of.copiers and (n := count_of(of.copiers, n_workers)) < of.group_size:
        raise OptionError(
            f"{of.name()}: copiers={of.copiers:g} of {n_workers} workers are {n}, fewer than a group-size of "
            f"{of.group_size}; raise copiers or lower group-size"
        )


def read_prior(of: "Simulator", n_labels: int, *, exact: bool = True) -> Floats | None:
    """(n_labels,) how frequent each label is, None: all the same. Without `exact` their number may still differ."""
    if of.prior is None:
        return tail(n_labels, of.label_tail) if of.label_tail else None
    try:
        prior = np.array([float(word) for word in split_list(of.prior)])
    except ValueError:
        raise OptionError(f"{of.name()}: prior must be numbers with commas between; got {of.prior!r}") from None
    if exact and len(prior) != n_labels:
        raise OptionError(f"{of.name()}: prior has {len(prior)} numbers; {n_labels} labels need one each")
    if not len(prior) or not np.isfinite(prior).all() or (prior <= 0).any():
        raise OptionError(f"{of.name()}: prior must hold numbers above 0; got {of.prior!r}")
    return prior / prior.sum()
