"""A training step recorded as a CUDA graph."""

import logging
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from plurivox.train.loop.optim import NetOptimizer
from plurivox.train.plan import Plan

WARM_STEPS = 3  # plain steps before a CUDA graph is recorded: what is set up once must not be in it
log = logging.getLogger(__name__)


class GraphStep:
    """A step recorded once as a CUDA graph and replayed: no Python and no launches between kernels.

    `plain` takes a step and copes with a lack of memory; `learn`, the part of it that is recorded, does not.
    """

    def __init__(
        self,
        plain: Callable[[Tensor], None],
        learn: Callable[[Tensor], None],
        optimizer: NetOptimizer,
        plan: Plan,
        rng: torch.Generator,
    ) -> None:
        self.plain, self.learn, self.optimizer, self.plan, self.rng = plain, learn, optimizer, plan, rng
        self.graph: torch.cuda.CUDAGraph | None = None
        self.indices: Tensor  # what the graph reads its examples from
        self.n_plain, self.refused = 0, False  # refused: the step cannot be recorded

    def __call__(self, indices: Tensor) -> None:
        """Take a step on these examples."""
        if len(indices) != self.plan.batch or self.refused:  # the last batch of an epoch may be shorter
            return self.plain(indices)
        if self.n_plain < WARM_STEPS:
            self.n_plain += 1
            return self._aside(indices)
        if self.graph is None:
            self._record(indices)
        if self.graph is None:
            return self.plain(indices)
        self.indices.copy_(indices)
        return self.graph.replay()

    @cached_property
    def stream(self) -> torch.cuda.Stream:
        """The stream on which the step is recorded. One of its own: cuBLAS gives every stream a workspace, and graphs
        recorded on one stream would share it, which breaks them when several trainings replay theirs at the same time."""
        return torch.cuda.Stream(self.rng.device)

    def _aside(self, indices: Tensor) -> None:
        """Take a plain step on that stream, as recording requires."""
        current = torch.cuda.current_stream(self.rng.device)
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            self.plain(indices)
        current.wait_stream(self.stream)

    def _record(self, indices: Tensor) -> None:
        self.indices = indices.clone()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.rng)
        self.optimizer.zero_grad()
        try:
            with torch.cuda.graph(graph, stream=self.stream):
                self.learn(self.indices)
        except RuntimeError as cause:  # something in net or head waits for the device, or out of memory
            if self.plan.engine == "graphs" and not isinstance(cause, torch.OutOfMemoryError):
                raise
            self.refused = True
            log.warning("the step cannot be recorded as a CUDA graph and runs plain (%s)", cause)
            return
        self.graph = graph
