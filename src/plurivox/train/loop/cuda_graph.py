"""A training step recorded as a CUDA graph."""

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

import torch
from torch import Tensor

from plurivox.train.loop.optim import NetOptimizer
from plurivox.train.training_hyperparameters import Plan

WARM_STEPS = 3  # eager steps before a CUDA graph is recorded: one-time initialisation must not be in it
log = logging.getLogger(__name__)


class GraphStep:
    """A training step that is recorded once as a CUDA graph and then replayed, without Python between the kernels.

    `eager_step` takes a step without a graph and handles a lack of memory; `update_weights`, the recorded part, does not.
    """

    def __init__(
        self,
        eager_step: Callable[[Tensor], None],
        update_weights: Callable[[Tensor], None],
        optimizer: NetOptimizer,
        plan: Plan,
        rng: torch.Generator,
    ) -> None:
        self.eager_step, self.update_weights, self.optimizer, self.plan, self.rng = (
            eager_step,
            update_weights,
            optimizer,
            plan,
            rng,
        )
        self.graph: torch.cuda.CUDAGraph | None = None
        self.indices: Tensor  # the memory from which the graph reads the indices of its examples
        self.n_warm_steps, self.failed = 0, False  # failed: the step could not be recorded

    def __call__(self, example_indices: Tensor) -> None:
        """Take a step on these examples by replaying the graph, or eagerly without a graph or for a shorter batch."""
        if len(example_indices) != self.plan.batch or self.failed:  # the last batch of an epoch may be shorter
            return self.eager_step(example_indices)
        if self.n_warm_steps < WARM_STEPS:
            self.n_warm_steps += 1
            return self._take_warm_up_step_without_graph(example_indices)
        if self.graph is None:
            self._record_step_as_cuda_graph(example_indices)
        if self.graph is None:
            return self.eager_step(example_indices)
        self.indices.copy_(example_indices)
        return self.graph.replay()

    @cached_property
    def graph_recording_stream(self) -> torch.cuda.Stream:
        """The CUDA stream on which the training step is recorded, created at first use.

        Every training needs another one: cuBLAS has a workspace per stream, and graphs recorded on the same stream would share
        it, which corrupts results if several trainings replay their graphs at the same time.
        """
        return torch.cuda.Stream(self.rng.device)

    def _take_warm_up_step_without_graph(self, example_indices: Tensor) -> None:
        """Take a training step without a graph on the recording stream, as CUDA graphs require before recording."""
        current = torch.cuda.current_stream(self.rng.device)
        self.graph_recording_stream.wait_stream(current)
        with torch.cuda.stream(self.graph_recording_stream):
            self.eager_step(example_indices)
        current.wait_stream(self.graph_recording_stream)

    def _record_step_as_cuda_graph(self, example_indices: Tensor) -> None:
        """Record the training step as a CUDA graph in `self.graph`; if that fails, log a warning (engine=graphs: raise)."""
        self.indices = example_indices.clone()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.rng)
        self.optimizer.zero_grad()
        try:
            with pause_garbage_collection(), torch.cuda.graph(graph, stream=self.graph_recording_stream):
                self.update_weights(self.indices)
        except RuntimeError as cause:  # out of memory, or net or head wait for the device
            if self.plan.engine == "graphs" and not isinstance(cause, torch.OutOfMemoryError):
                raise
            self.failed = True
            log.warning("the training step cannot be recorded as a CUDA graph; training continues without (%s)", cause)
            return
        self.graph = graph


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Do not run Python's garbage collector: CUDA forbids to free the graph of an earlier training during a recording."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
