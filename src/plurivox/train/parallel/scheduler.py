"""Several trainings side by side: on CUDA each on a stream of its own, so that their small kernels run at the same time; on a
CPU as one stacked net."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch

from plurivox.train.fit_net import NetFit
from plurivox.train.loop.trainer import Event
from plurivox.train.parallel.stack import Stack, own, stack_key
from plurivox.train.result import Trained

Start = Callable[[], NetFit]


def finish(one: NetFit) -> Trained:
    """Train to the end."""
    for _ in one.events():
        pass
    return one.result()


def finish_all(starts: Sequence[Start], device: torch.device) -> list[Trained]:
    """Start all trainings and let each take a step in turn, until the last has ended; results in the order given.

    The results are those of one after another: each training has its own random generators, net and optimiser, and waits
    only for its own stream.
    """
    streams = [_stream(device) for _ in starts]
    fits: list[NetFit] = []
    going: dict[int, Iterator[Event]] = {}
    for i, start in enumerate(starts):
        with streams[i]():
            fits.append(start())
        going[i] = fits[i].events(every_step=True)
    while going:
        for i in list(going):
            with streams[i]():
                if next(going[i], None) is None:
                    del going[i]
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return [one.result() for one in fits]


def finish_stacked(starts: Sequence[Start]) -> list[Trained]:
    """Start all trainings, of dense nets on a CPU, and take the steps of those at the same epoch together.

    Results, in the order given, are those of one after another but for rounding. Trainings that are behind go first, such as
    after a kill; when one ends early the others go on.
    """
    fits = [start() for start in starts]
    keys = {i: stack_key(one.trainer) for i, one in enumerate(fits) if one.trained is None}
    stack: Stack | None = None
    while going := [i for i in keys if fits[i].trained is None]:
        first = min(going, key=lambda i: fits[i].trainer.epoch)
        at = fits[first].trainer.epoch, keys[first]
        members = [fits[i] for i in going if (fits[i].trainer.epoch, keys[i]) == at]
        trainers = tuple(one.trainer for one in members)
        if stack is None or stack.trainers != trainers:
            stack = Stack(trainers)
        for one, event in zip(members, stack.run_epoch(), strict=True):
            one.handle(event)
            if one.trained is not None:
                own(one.trained.net)
    return [one.result() for one in fits]


def _stream(device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """A context in which one training works: on CUDA a stream of its own, which begins after what was queued before."""
    if device.type != "cuda":
        return nullcontext
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    return lambda: torch.cuda.stream(stream)
