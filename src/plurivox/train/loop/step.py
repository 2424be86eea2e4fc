"""One training step, in parts where memory does not suffice."""

import logging
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from plurivox.core.errors import PlurivoxError, PlurivoxWarning
from plurivox.train.heads._contract import Attached, Batch
from plurivox.train.loop.worker_table import Rows
from plurivox.train.losses import Loss
from plurivox.train.plan import Plan
from plurivox.train.targets._contract import Lessons

Augment = Callable[[Tensor, torch.Generator], Tensor]
log = logging.getLogger(__name__)


class Step:
    """A plain step; it adds the losses of its batch to `total` and never waits for the device."""

    caching = True  # whether autocast may keep what it has cast; a graph must not

    def __init__(
        self,
        net: nn.Module,
        head: Attached | None,
        x: Tensor,
        lessons: Lessons,
        loss: Loss,
        plan: Plan,
        chance: torch.Generator,
        augment: Augment | None,
    ) -> None:
        self.net, self.head, self.x, self.lessons, self.loss = net, head, x, lessons, loss
        self.chance, self.augment, self.plan = chance, augment, plan
        self.params = [
            p for module in (net, head) if module is not None for p in module.parameters() if p.requires_grad
        ]
        self.tables = [] if head is None else [one for one in head.modules() if isinstance(one, Rows)]
        self.total = torch.zeros((), device=x.device, dtype=torch.float64)
        self.parts = plan.accumulate
        self.seen: Tensor | None = None  # (n_tasks, n_labels) the logits of each task as last visited, where recorded
        self.forward: Callable[[Tensor], Tensor] = torch.compile(net) if plan.engine == "compile" else net
        self.autocast = plan.precision == "bfloat16"

    def __call__(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> None:
        """Learn from the lessons of one batch."""
        while (parts := self.parts) and not self._tried(visits, optimizer):
            self.parts = _more_parts(parts, len(visits))

    def _tried(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> bool:
        """Take the step; False where memory did not suffice and nothing was changed."""
        try:
            self._learn(visits, optimizer)
        except RuntimeError as cause:
            if not lacks_memory(cause):
                raise
            for table in self.tables:
                table.clear()
            if len(visits) <= self.parts:
                raise PlurivoxError(
                    "memory does not suffice for a single lesson; take a smaller net, smaller inputs or another device"
                ) from cause
            return False
        return True

    def _learn(self, visits: Tensor, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad(set_to_none=True)
        added: Tensor | None = None
        for part in (visits,) if self.parts == 1 else visits.chunk(self.parts):
            total = self.losses(part).sum()
            (total / len(visits) if self.plan.reduction == "mean" else total).backward()
            added = total.detach() if added is None else added + total.detach()
        assert added is not None
        if self.plan.clip is not None:
            nn.utils.clip_grad_norm_([*self.params, *(one.with_grad() for one in self.tables)], self.plan.clip)
        optimizer.step()
        for table in self.tables:
            table.step(self.plan, optimizer.param_groups[0]["lr"])
        self.total += added

    def losses(self, visits: Tensor) -> Tensor:
        """(n,) the loss of each lesson."""
        batch, weight = self.batch(visits), self.lessons.weight
        logits = self._logits(batch.x)
        self.remember(batch.rows, logits)
        each = losses_of(logits, batch, self.head, self.loss)
        return each if weight is None else each * weight.index_select(0, visits)

    def batch(self, visits: Tensor) -> Batch:
        """What net and head see of these lessons, and what is said of them."""
        lessons = self.lessons
        rows = visits if lessons.row is None else lessons.row.index_select(0, visits)
        x = self.x.index_select(0, rows)
        if self.augment is not None:
            x = self.augment(x, self.chance)
        drawn = lessons.draw(visits, self.chance)
        if self.head is not None:
            x, drawn = self.head.before_net(x, drawn, self.chance)
        return Batch(x, rows, drawn)

    def remember(self, rows: Tensor, logits: Tensor) -> None:
        """Keep the logits of these tasks, where they are recorded."""
        if self.seen is not None:
            self.seen.index_copy_(0, rows, logits.detach())

    def _logits(self, x: Tensor) -> Tensor:
        if not self.autocast:
            return self.forward(x)
        with torch.autocast(x.device.type, torch.bfloat16, cache_enabled=self.caching):
            return self.forward(x).float()


def losses_of(logits: Tensor, batch: Batch, head: Attached | None, loss: Loss) -> Tensor:
    """(n,) the loss of each lesson by the head, or without one by the loss; not weighed yet."""
    if head is not None:
        each: Tensor = head(logits, batch)
        return each
    assert isinstance(batch.drawn, Tensor)
    return loss(logits, batch.drawn)


def lacks_memory(error: RuntimeError) -> bool:
    """Whether torch found no room; for the memory of a CPU it has no error of its own."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)


def _more_parts(parts: int, batch: int) -> int:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    more = min(2 * parts, batch)
    warnings.warn(
        f"memory did not suffice for {-(-batch // parts)} lessons at once: a batch of {batch} is now computed in {more} "
        "parts whose gradients add up (batch normalisation sees the parts)",
        PlurivoxWarning,
        stacklevel=2,
    )
    return more
