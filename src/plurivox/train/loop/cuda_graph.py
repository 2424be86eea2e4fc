"""A training step recorded as a CUDA graph."""

import logging
from functools import cached_property

import torch
from torch import Tensor

from plurivox.train.loop.step import Step

WARM_STEPS = 3  # plain steps before a CUDA graph is recorded: what is set up once must not be in it
log = logging.getLogger(__name__)


class GraphStep(Step):
    """The same step recorded once as a CUDA graph and played again: no Python and no launches between kernels."""

    caching = False
    graph: torch.cuda.CUDAGraph | None = None
    visits: Tensor
    n_plain = 0
    refused = False  # the step cannot be recorded

    def __call__(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> None:
        if len(visits) != self.plan.batch or self.refused:  # the last batch of an epoch may be shorter
            return super().__call__(visits, optimizer)
        if self.n_plain < WARM_STEPS:
            self.n_plain += 1
            return self._aside(visits, optimizer)
        if self.graph is None:
            self._record(visits, optimizer)
        if self.graph is None:
            return super().__call__(visits, optimizer)
        self.visits.copy_(visits)
        return self.graph.replay()

    @cached_property
    def stream(self) -> torch.cuda.Stream:
        """Where the step is recorded. One of its own: cuBLAS gives every stream a workspace, and graphs recorded on
        one stream would share it, which breaks them when several trainings play theirs at the same time."""
        return torch.cuda.Stream(self.x.device)

    def _aside(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> None:
        """A plain step on that stream, as recording wants it."""
        self.stream.wait_stream(torch.cuda.current_stream(self.x.device))
        with torch.cuda.stream(self.stream):
            super().__call__(visits, optimizer)
        torch.cuda.current_stream(self.x.device).wait_stream(self.stream)

    def _record(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> None:
        self.visits = visits.clone()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.chance)
        optimizer.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(graph, stream=self.stream):
                self._learn(self.visits, optimizer)
        except RuntimeError as cause:  # something in net or head waits for the device, or memory does not suffice
            if self.plan.engine == "graphs" and not isinstance(cause, torch.OutOfMemoryError):
                raise
            self.refused = True
            log.warning("the step cannot be recorded as a CUDA graph and runs plain (%s)", cause)
            return
        self.graph = graph
