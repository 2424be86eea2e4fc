"""Several trainings side by side: on CUDA each has a stream of its own, so that their small kernels run at the same time."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import ParamSpec

import torch

from plurivox.train.trained import Trained

P = ParamSpec("P")
Fitting = Generator[None, None, Trained]  # a training that pauses now and then, and gives back what it trained


def finish(one: Fitting) -> Trained:
    """Train without letting anybody in between."""
    try:
        while True:
            next(one)
    except StopIteration as end:
        assert isinstance(end.value, Trained)
        return end.value


def finished(begin: Callable[P, Fitting]) -> Callable[P, Trained]:
    """The same function, going on to the end."""

    @wraps(begin)
    def whole(*args: P.args, **options: P.kwargs) -> Trained:
        return finish(begin(*args, **options))

    whole.__name__ = whole.__qualname__ = "fit"
    return whole


def finish_all(every: Sequence[Callable[[], Fitting]], device: torch.device) -> list[Trained]:
    """Begin all of them and let each take a step in turn, until the last has ended; in the order given.

    The results are those of one after another: each training has its own chance, net and optimizer, and only waits for
    its own stream.
    """
    found: dict[int, Trained] = {}
    places = [_stream(device) for _ in every]
    going: dict[int, Fitting] = {}
    for i, begin in enumerate(every):
        with places[i]():
            going[i] = begin()
    while going:
        for i in list(going):
            try:
                with places[i]():
                    next(going[i])
            except StopIteration as end:
                found[i] = end.value
                del going[i]
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return [found[i] for i in range(len(every))]


def _stream(device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """Where one of them works: on CUDA a stream of its own, which begins after what was asked for before."""
    if device.type != "cuda":
        return nullcontext
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    return lambda: torch.cuda.stream(stream)
