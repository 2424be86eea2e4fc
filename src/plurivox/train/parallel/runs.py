"""A series of runs: one training with several seeds, one after another or side by side.

From a series down to a step, each calls the next:

    workflows.train_runs  prepares spec and data once, and makes a `Series` of the measures of all runs
    repeat                trains `at_once` runs at a time, each in a folder of its own, and measures each after its end
    NetFit.finish         trains one run; `finish_all` trains several in turn, `run_stacked` several as one net
    NetFit.handle         after every epoch: evaluates on the dev set, writes a checkpoint, stops early
    Trainer.run           the epochs and steps of one net; `Stack.run_epoch` takes those of several nets together
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import torch

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.core.progress import Progress, no_progress
from plurivox.train.loop.net_fit import NetFit
from plurivox.train.loop.spec import TrainSpec
from plurivox.train.loop.trainer import Event
from plurivox.train.parallel.stack import Stack, own, stack_key
from plurivox.train.result import Trained

CELLS = 2**20  # weights and inputs of a step in one stack: with gradients and moments 16 MB, about what a cache holds
INPUT_CELLS = 2**28  # numbers of all inputs, where every run has its own
RESULT = "result.json"
StartRun = Callable[[int, Path | None, Progress], NetFit]  # (seed, folder, progress callback)
Start = Callable[[], NetFit]
Evaluate = Callable[[Trained], Mapping[str, float]]


def repeat(
    start: StartRun,
    evaluate: Evaluate,
    *,
    runs: int = 1,
    seed: int = 0,
    folder: str | Path | None = None,
    at_once: int = 1,
    stacked: bool = False,
    device: torch.device | None = None,
    progress: Progress = no_progress,
) -> list[dict[str, float]]:
    """Train `runs` times, with the seeds seed, seed + 1, ..., `at_once` of them side by side; the measures of each run.

    `stacked`: dense nets are trained as one net, a slice each, which saves most of the overhead. In a `folder` every run has
    one of its own, run-000 and so on: runs that have ended are not trained again, and one that was killed is resumed.
    """
    if runs < 1:
        raise InputError(f"a series needs at least one run; got {runs}")
    found: list[dict[str, float]] = []
    homes = [None if folder is None else run_folder(folder, i) for i in range(runs)]
    for first in range(0, runs, at_once):
        some = range(first, min(first + at_once, runs))
        tells = _shares_of(progress, some, runs)
        starts = [partial(start, seed + i, homes[i], tell) for i, tell in zip(some, tells, strict=True)]
        if stacked:
            trained = run_stacked(starts)
        else:
            trained = [starts[0]().finish()] if len(starts) == 1 else finish_all(starts, device or torch.device("cpu"))
        found += [_evaluated(one, evaluate, homes[i]) for i, one in zip(some, trained, strict=True)]
    return found


def run_folder(folder: str | Path, run: int) -> Path:
    """The folder of one run; it is created if it does not exist."""
    home = Path(folder) / f"run-{run:03d}"
    home.mkdir(exist_ok=True)
    return home


def _evaluated(trained: Trained, evaluate: Evaluate, home: Path | None) -> dict[str, float]:
    """Measured anew even where a run had ended before: what it is tested on may have changed since."""
    found = {name: float(value) for name, value in evaluate(trained).items()}
    if home is not None:
        with atomic_file(home / RESULT) as part:
            part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def _shares_of(progress: Progress, some: range, runs: int) -> list[Progress]:
    """The progress callback of each of some runs side by side: the epochs of all runs are counted together."""
    done = dict.fromkeys(some, 0)  # epochs

    def tell(run: int, step: int, total: int, value: float | None = None) -> None:
        done[run] = step + 1
        progress(some.start * total + sum(done.values()) - 1, runs * total, value)

    return [partial(tell, run) for run in some]


# ---- side by side


def side_by_side(
    spec: TrainSpec, shape: tuple[int, ...], n_labels: int, runs: int, at_once: int | None
) -> tuple[int, bool]:
    """(how many runs are trained at a time, whether as one stacked net); `at_once` None: as many as pay."""
    best = 1 if runs == 1 or at_once == 1 else stacked_runs(spec, shape, n_labels)
    return min(runs, best if at_once is None else at_once), best > 1


def stacked_runs(spec: TrainSpec, shape: tuple[int, ...], n_labels: int) -> int:
    """How many runs on inputs of the shape (n, ...) are best stacked to one net; 1: they are trained one by one.

    Only nets of dense layers on a CPU are stacked, with no head or one that can be; and only while all that a step touches
    stays in a cache: beyond that the matrices are large enough to keep the cores busy, and a stack is slower.
    """
    plan = spec.plan
    plain = plan.engine in ("auto", "eager") and plan.precision == "float32" and plan.accumulate == 1
    dense = spec.net.dense and (spec.head is None or spec.head.stacks) and spec.augment is None
    if not (plain and dense and spec.device.type == "cpu"):
        return 1
    with torch.device("meta"):
        weights = sum(one.numel() for one in spec.net.build(shape[1:], n_labels).parameters())
    touched, held = weights + plan.batch * math.prod(shape[1:]), math.prod(shape)
    return max(1, min(CELLS // touched, INPUT_CELLS // max(held, 1)))


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


def run_stacked(starts: Sequence[Start]) -> list[Trained]:
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
