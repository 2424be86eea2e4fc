"""A series of runs: the same training with several seeds, one after another or in parallel.

From a series down to a step, each calls the next:

    workflows.train_runs
        prepares spec and data once, and makes a `Series` of the measures of all runs
    run_series
        trains `at_once` runs at a time, each in its own folder, and evaluates each after its end
    TrainingRun.train_to_end
        trains one run; `train_runs_interleaved` trains several in turn, `train_runs_stacked` several as one net
    TrainingRun.evaluate_save_log_if_epoch_done
        after every epoch: evaluates on the dev set, writes a checkpoint, stops early
    Trainer.train_and_yield_events
        epochs and steps of one net; `StackedTrainers.train_one_epoch_return_event_per_run` takes steps of several together
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
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.trainer import Event
from plurivox.train.loop.training_run import TrainingRun
from plurivox.train.parallel.stacked_trainers import StackedTrainers, copy_weights_out_of_stack, trainer_stack_key
from plurivox.train.trained_net import Trained

MAX_STACK_CELLS = 2**20  # weights and inputs of a step in one stack: with gradients and moments 16 MB, about a cache
MAX_INPUT_CELLS = 2**28  # numbers in the inputs of all stacked runs, each of which has its own copy
RESULT = "result.json"
StartRun = Callable[[int, Path | None, Progress], TrainingRun]  # (seed, folder, progress callback)
Start = Callable[[], TrainingRun]
Evaluate = Callable[[Trained], Mapping[str, float]]


def run_series(
    start_run: StartRun,
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
    """Train `runs` nets with the seeds seed, seed + 1, ..., `at_once` in parallel; return the measures of each run by name.

    `stacked`: dense nets are trained as one net, a slice each, which saves most of the overhead. In `folder` every run has a
    folder run-000, run-001, ...: finished runs are not trained again, and an interrupted one is resumed.
    """
    if runs < 1:
        raise InputError(f"a series needs at least one run; got {runs}")
    found: list[dict[str, float]] = []
    folders = [None if folder is None else make_run_folder(folder, i) for i in range(runs)]
    for first in range(0, runs, at_once):
        group = range(first, min(first + at_once, runs))
        callbacks = _progress_callback_per_run(progress, group, runs)
        starts = [
            partial(start_run, seed + i, folders[i], callback) for i, callback in zip(group, callbacks, strict=True)
        ]
        if stacked:
            trained = train_runs_stacked(starts)
        else:
            trained = (
                [starts[0]().train_to_end()]
                if len(starts) == 1
                else train_runs_interleaved(starts, device or torch.device("cpu"))
            )
        found += [
            _write_result_and_return_measures(one, evaluate, folders[i]) for i, one in zip(group, trained, strict=True)
        ]
    return found


def make_run_folder(parent_folder: str | Path, run_number: int) -> Path:
    """Create the folder run-000, run-001, ... of run number `run_number`, if it does not exist, and return its path."""
    home = Path(parent_folder) / f"run-{run_number:03d}"
    home.mkdir(exist_ok=True)
    return home


def _write_result_and_return_measures(trained: Trained, evaluate: Evaluate, folder: Path | None) -> dict[str, float]:
    """Evaluate a trained net, return its measures by name and write them to result.json in its folder, if any."""
    found = {name: float(value) for name, value in evaluate(trained).items()}
    if folder is not None:
        with atomic_file(folder / RESULT) as part:
            part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def _progress_callback_per_run(progress: Progress, parallel_runs: range, n_runs: int) -> list[Progress]:
    """Return a progress callback for each of `parallel_runs`; they call `progress` with the epochs of all runs."""
    done = dict.fromkeys(parallel_runs, 0)  # epochs

    def report_epochs_of_all_runs(run: int, epoch: int, n_epochs: int, value: float | None = None) -> None:
        done[run] = epoch + 1
        progress(parallel_runs.start * n_epochs + sum(done.values()) - 1, n_runs * n_epochs, value)

    return [partial(report_epochs_of_all_runs, run) for run in parallel_runs]


# ---- parallel runs


def choose_parallel_runs_and_stacking(
    spec: TrainSpec, shape_of_all_inputs: tuple[int, ...], n_labels: int, runs: int, at_once: int | None
) -> tuple[int, bool]:
    """Return (number of runs to train at a time, whether as one stacked net); `at_once` sets the number, None: the fastest."""
    best = 1 if runs == 1 or at_once == 1 else best_number_of_stacked_runs(spec, shape_of_all_inputs, n_labels)
    return min(runs, best if at_once is None else at_once), best > 1


def best_number_of_stacked_runs(spec: TrainSpec, shape_of_all_inputs: tuple[int, ...], n_labels: int) -> int:
    """Return how many runs on inputs of the shape (n, ...) are best stacked to one net; 1: stacking does not help.

    Only nets of dense layers on a CPU are stacked, without a head or with one that can be stacked; and only while the memory
    used by a step fits into a cache: beyond that the matrices are large enough to keep the cores busy without stacking.
    """
    plan = spec.plan
    eager = plan.engine in ("auto", "eager") and plan.precision == "float32" and plan.accumulate == 1
    dense = spec.net.dense and (spec.head is None or spec.head.can_stack) and spec.augment is None
    if not (eager and dense and spec.device.type == "cpu"):
        return 1
    with torch.device("meta"):
        weights = sum(one.numel() for one in spec.net.build(shape_of_all_inputs[1:], n_labels).parameters())
    per_step, inputs = weights + plan.batch * math.prod(shape_of_all_inputs[1:]), math.prod(shape_of_all_inputs)
    return max(1, min(MAX_STACK_CELLS // per_step, MAX_INPUT_CELLS // max(inputs, 1)))


def train_runs_interleaved(start_functions: Sequence[Start], device: torch.device) -> list[Trained]:
    """Start all trainings and let each take a step in turn until all have ended; return the nets in the same order.

    The results are the same as one after another: each training has its own random generators, net and optimiser, and waits
    only for its own CUDA stream.
    """
    streams = [_cuda_stream_context_factory(device) for _ in start_functions]
    started: list[TrainingRun] = []
    going: dict[int, Iterator[Event]] = {}
    for i, start in enumerate(start_functions):
        with streams[i]():
            started.append(start())
        going[i] = started[i].train_evaluate_and_yield_events(yield_steps=True)
    while going:
        for i in list(going):
            with streams[i]():
                if next(going[i], None) is None:
                    del going[i]
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return [one.get_trained_net_or_raise() for one in started]


def train_runs_stacked(start_functions: Sequence[Start]) -> list[Trained]:
    """Train dense nets on a CPU, those at the same epoch as one stacked net; return the nets in the given order.

    They are the same as if trained one after another, but for rounding. Trainings at an earlier
    epoch (resumed ones) go first; if one ends early the others continue.
    """
    started = [start() for start in start_functions]
    keys = {i: trainer_stack_key(one.trainer) for i, one in enumerate(started) if one.trained is None}
    stack: StackedTrainers | None = None
    while going := [i for i in keys if started[i].trained is None]:
        first = min(going, key=lambda i: started[i].trainer.epoch)
        group = started[first].trainer.epoch, keys[first]
        members = [started[i] for i in going if (started[i].trainer.epoch, keys[i]) == group]
        trainers = tuple(one.trainer for one in members)
        if stack is None or stack.trainers != trainers:
            stack = StackedTrainers(trainers)
        for one, event in zip(members, stack.train_one_epoch_return_event_per_run(), strict=True):
            one.evaluate_save_log_if_epoch_done(event)
            if one.trained is not None:
                copy_weights_out_of_stack(one.trained.net)
    return [one.get_trained_net_or_raise() for one in started]


def _cuda_stream_context_factory(device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """Return a function that makes the context of one training: on CUDA a new stream that waits for work queued before."""
    if device.type != "cuda":
        return nullcontext
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    return lambda: torch.cuda.stream(stream)
