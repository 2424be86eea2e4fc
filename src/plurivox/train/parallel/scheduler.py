"""Several trainings side by side: on CUDA each on a stream of its own, so that their small kernels run at the same time; on a
CPU as one stacked net."""

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import ParamSpec

import torch

from plurivox.train.loop.trainer import Training
from plurivox.train.parallel.stack import Stack, mould, own
from plurivox.train.result import Trained

P = ParamSpec("P")
# a training that pauses now and then (and tells itself where others may take a step), and gives back what it trained
Fitting = Generator[Training | None, None, Trained]


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
    whole.__signature__ = inspect.signature(begin).replace(return_annotation=Trained)  # type: ignore[attr-defined]
    whole.__annotations__ = begin.__annotations__ | {"return": Trained}
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


def finish_stacked(every: Sequence[Callable[[], Fitting]]) -> list[Trained]:
    """Begin all of them, which pause for a stack, and take every epoch for all that stand at it; in the order given.

    Results are those of one after another but for rounding. Whoever is behind goes first, such as after a kill; whoever ends
    early leaves the others to go on.
    """
    going = dict(enumerate(begin() for begin in every))
    found: dict[int, Trained] = {}
    waiting: dict[int, Training] = {}
    for i, one in going.items():
        _go_on(i, one, waiting, found)
    moulds = {i: mould(one) for i, one in waiting.items()}
    stack: Stack | None = None
    while waiting:
        first = min(waiting, key=lambda i: waiting[i].done)
        mine = [i for i, one in waiting.items() if one.done == waiting[first].done and moulds[i] == moulds[first]]
        members = tuple(waiting[i] for i in mine)
        if stack is None or stack.trainings != members:
            stack = Stack(members)
        stack.run_epoch()
        for i in mine:
            _go_on(i, going[i], waiting, found)
    return [found[i] for i in range(len(every))]


def _go_on(i: int, one: Fitting, waiting: dict[int, Training], found: dict[int, Trained]) -> None:
    """Until it waits for the steps of an epoch, or has ended."""
    try:
        while (training := next(one)) is None:
            pass
        waiting[i] = training
    except StopIteration as end:
        assert isinstance(end.value, Trained)
        found[i] = end.value
        waiting.pop(i, None)
        own(end.value.net)


def _stream(device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """Where one of them works: on CUDA a stream of its own, which begins after what was asked for before."""
    if device.type != "cuda":
        return nullcontext
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    return lambda: torch.cuda.stream(stream)
