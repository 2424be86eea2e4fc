"""Kernels that a workflow of several methods calls: announced at its start, two processes compile them at first use."""

from collections.abc import Iterable, Sequence

from plurivox.aggregate import Aggregator
from plurivox.aggregate import methods as aggregators
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.second_compiler import KernelCall

METHOD_OF_MOST_KERNELS = "average"  # its parts call the kernels of most methods


def kernels_of_methods(methods: Iterable[Aggregator], all_votes: Iterable[Votes]) -> list[KernelCall]:
    """Return the kernels that fits of the methods to each of `all_votes` call, with example arguments."""
    methods = list(methods)
    return [call for votes in all_votes for method in methods for call in method.kernel_calls(votes)]


def kernels_of_report(votes: Votes) -> Sequence[KernelCall]:
    """Return most of the kernels that a report on the votes calls, in about that order, with example arguments."""
    from plurivox.engine.worker_accuracy_intervals import interval_kernel_calls
    from plurivox.engine.worker_pair_agreement import worker_pair_kernel_calls

    if bool((votes.worker < 0).any()):
        return ()
    return [
        *aggregators.make(METHOD_OF_MOST_KERNELS).kernel_calls(votes),
        *worker_pair_kernel_calls(votes),
        *interval_kernel_calls(KeyedVotes.without_rows(votes)),
    ]
