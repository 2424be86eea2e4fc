"""Rows: numbers of every worker that learn only when the worker is in the batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plurivox.core.types import Bools, Floats
from plurivox.engine.kernels import sparse_optim
from plurivox.train.plan import Plan

BETAS, EPS = (0.9, 0.999), 1e-8  # as torch has them


class Arrays(NamedTuple):
    """What `WorkerTable` hold."""

    touched: Bools
    table: Floats
    grad: Floats
    first: Floats
    second: Floats
    steps: Floats


class WorkerTable(nn.Module):
    """A row of numbers for each of many workers. A step changes the rows of workers in its batch and no others.

    An optimizer of torch would go over the whole table at every step, and move workers who are not there by their momentum.
    Here every row is stepped as if it had an optimizer of its own that wakes when the row is used. The table and what the
    optimizer remembers are saved with the head.

    >>> rows = WorkerTable(torch.ones(3, 2))
    >>> rows.take(torch.tensor([0, 2])).sum().backward()
    >>> rows.step(Plan(optimizer="sgd", lr=.5), .5)
    >>> rows.table.data
    tensor([[0.5000, 0.5000],
            [1.0000, 1.0000],
            [0.5000, 0.5000]])
    """

    first: Tensor  # (n_rows, width) what the optimizer remembers: momentum,
    second: Tensor  # squares,
    steps: Tensor  # (n_rows,) and how often a row was stepped
    grad: Tensor  # (n_rows, width) of the step under way
    touched: Tensor  # (n_rows,) who is in it

    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(start.contiguous().clone(), requires_grad=False)  # (n_rows, width)
        for name in ("first", "second"):
            self.register_buffer(name, torch.zeros_like(self.table))
        self.register_buffer("steps", torch.zeros(len(start)))
        self.register_buffer("grad", torch.zeros_like(self.table), persistent=False)
        self.register_buffer("touched", torch.zeros(len(start), dtype=torch.bool), persistent=False)
        self._here: Arrays | None = None
        self._at = 0

    @classmethod
    def stacked(cls, held: "Sequence[WorkerTable]") -> "WorkerTable":
        """The rows of several runs one after another; those that were given become slices of them."""
        whole = cls(torch.cat([one.table.data for one in held]))
        for name in ("first", "second", "steps"):
            getattr(whole, name).copy_(torch.cat([getattr(one, name) for one in held]))
        begin = 0
        for one in held:
            mine = slice(begin, begin := begin + len(one.table))
            one.table.data = whole.table.data[mine]
            for name in ("first", "second", "steps", "grad", "touched"):
                setattr(one, name, getattr(whole, name)[mine])
        return whole

    @property
    def recorded(self) -> bool:
        """Whether a step may be recorded: shapes must not depend on the data then, nor sums on the order of threads."""
        return self.table.device.type != "cpu"

    def take(self, worker: Tensor, weight: Tensor | None = None) -> Tensor:
        """(*worker.shape, width) the rows of these workers; where the weight is 0 nobody is touched."""
        anchor = self.table.new_zeros((), requires_grad=True)  # so that the way back is taken
        taken: Tensor = _Take.apply(anchor, self, worker, weight)
        return taken

    def credit(self, worker: Tensor, weight: Tensor | None, grad: Tensor) -> None:
        """Add a gradient of such rows."""
        there = torch.ones_like(worker, dtype=torch.bool) if weight is None else weight > 0
        flat, mine, grad = worker.flatten(), there.flatten(), grad.reshape(-1, grad.shape[-1])
        if self.recorded:
            self.grad += torch.ops.aten.embedding_dense_backward(grad, flat, len(self.table), -1, False)
            self.touched |= torch.zeros_like(self.steps).index_add_(0, flat, mine.float()) > 0
        else:
            self.grad.index_add_(0, flat[mine], grad[mine])
            self.touched[flat[mine]] = True

    def with_grad(self) -> Tensor:
        """The table as clipping wants it, its gradient beside it."""
        self.table.grad = self.grad
        return self.table

    def here(self) -> "Arrays":
        """The same memory as arrays, for kernels on a CPU."""
        if self._here is None or self._at != self.table.data_ptr():
            held = self.touched, self.table.data, self.grad, self.first, self.second, self.steps
            self._here, self._at = Arrays(*(one.numpy() for one in held)), self.table.data_ptr()
        return self._here

    def clear(self) -> None:
        """Forget a step that was not taken."""
        self.grad.zero_()
        self.touched.zero_()

    def restart(self) -> None:
        """Forget what the optimizer remembers."""
        for held in (self.first, self.second, self.steps):
            held.zero_()

    @torch.no_grad()
    def step(self, plan: Plan, lr: float | Tensor) -> None:
        """Move the rows that were touched as the plan's optimizer would, and wipe their gradients."""
        if not self.recorded:
            self._step_here(plan, float(lr))
            return
        self.steps += self.touched
        who, n = self.touched[:, None], self.steps.clamp(min=1)[:, None]
        move = lr * (self._sgd(plan, who, n) if plan.optimizer == "sgd" else self._adam(plan, who, n))
        self.table.sub_(torch.where(who, move, 0.0))
        self.clear()

    def _sgd(self, plan: Plan, who: Tensor, n: Tensor) -> Tensor:
        grad = self.grad + plan.weight_decay * self.table
        held = torch.where(n > 1, plan.momentum * self.first + grad, grad)
        self.first.copy_(torch.where(who, held, self.first))
        return grad + plan.momentum * held if plan.nesterov and plan.momentum else held

    def _adam(self, plan: Plan, who: Tensor, n: Tensor) -> Tensor:
        decay, (beta1, beta2) = plan.weight_decay * self.table, BETAS
        grad = self.grad + decay if plan.optimizer == "adam" else self.grad
        self.first.copy_(torch.where(who, beta1 * self.first + (1 - beta1) * grad, self.first))
        self.second.copy_(torch.where(who, beta2 * self.second + (1 - beta2) * grad * grad, self.second))
        move = self.first / (1 - beta1**n) / ((self.second / (1 - beta2**n)).sqrt() + EPS)
        return move + decay if plan.optimizer == "adamw" else move

    def _step_here(self, plan: Plan, lr: float) -> None:
        """The same on a CPU, row by row."""
        mine = self.here()
        if plan.optimizer == "sgd":
            nesterov = plan.nesterov and plan.momentum > 0
            held = mine.touched, mine.table, mine.grad, mine.first, mine.steps
            sparse_optim.sgd_step(*held, lr, plan.momentum, nesterov, plan.weight_decay)
        else:
            sparse_optim.adam_step(*mine, lr, *BETAS, EPS, plan.weight_decay, plan.optimizer == "adamw")


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, anchor: Tensor, rows: WorkerTable, worker: Tensor, weight: Tensor | None) -> Tensor:
        del anchor
        ctx.rows, ctx.worker, ctx.weight = rows, worker, weight
        taken: Tensor = rows.table.data.index_select(0, worker.flatten()).view(*worker.shape, -1)
        return taken

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None, None]:
        ctx.rows.credit(ctx.worker, ctx.weight, grad)
        return None, None, None, None
