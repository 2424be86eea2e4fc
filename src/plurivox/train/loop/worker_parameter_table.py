"""WorkerTable: parameters per worker with a sparse optimiser, which updates only the workers in the batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plurivox.core.array_types import Bools, Floats
from plurivox.engine.kernels import sparse_optim
from plurivox.train.training_hyperparameters import Plan

BETAS, EPS = (0.9, 0.999), 1e-8  # of Adam, as in torch


class TableArrays(NamedTuple):
    """The tensors of a `WorkerTable` as numpy arrays that share their memory."""

    touched: Bools
    table: Floats
    grad: Floats
    first: Floats
    second: Floats
    steps: Floats


class WorkerTable(nn.Module):
    """A table of parameters, one row per worker; a step updates only the rows of workers in its batch.

    An optimiser of torch would update the whole table at every step, and move absent workers by their momentum. Here every
    row has its own optimiser state, which changes only if the row is used. Table and optimiser state are saved with the head.

    >>> rows = WorkerTable(torch.ones(3, 2))
    >>> rows.take_rows_ignoring_padding_gradient(torch.tensor([0, 2])).sum().backward()
    >>> rows.step(Plan(optimizer="sgd", lr=.5), .5)
    >>> rows.table.data
    tensor([[0.5000, 0.5000],
            [1.0000, 1.0000],
            [0.5000, 0.5000]])
    """

    first: Tensor  # (n_rows, width) optimiser state: momentum, or first moment of Adam
    second: Tensor  # (n_rows, width) optimiser state: second moment of Adam
    steps: Tensor  # (n_rows,) number of updates of each row
    grad: Tensor  # (n_rows, width) gradient of the current step
    touched: Tensor  # (n_rows,) whether the worker is in the current batch

    def __init__(self, initial_rows: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(initial_rows.contiguous().clone(), requires_grad=False)  # (n_rows, width)
        for name in ("first", "second"):
            self.register_buffer(name, torch.zeros_like(self.table))
        self.register_buffer("steps", torch.zeros(len(initial_rows)))
        self.register_buffer("grad", torch.zeros_like(self.table), persistent=False)
        self.register_buffer("touched", torch.zeros(len(initial_rows), dtype=torch.bool), persistent=False)
        self._arrays: TableArrays | None = None
        self._data_ptr = 0

    @classmethod
    def concat_tables_sharing_memory(cls, tables: "Sequence[WorkerTable]") -> "WorkerTable":
        """Return one table with the rows of `tables` one after another; the given tables become slices of it."""
        joined = cls(torch.cat([one.table.data for one in tables]))
        for name in ("first", "second", "steps"):
            getattr(joined, name).copy_(torch.cat([getattr(one, name) for one in tables]))
        begin = 0
        for one in tables:
            rows = slice(begin, begin := begin + len(one.table))
            one.table.data = joined.table.data[rows]
            for name in ("first", "second", "steps", "grad", "touched"):
                setattr(one, name, getattr(joined, name)[rows])
        return joined

    @property
    def are_updates_graph_capturable(self) -> bool:
        """Whether updates of the table may be recorded as a CUDA graph: true unless it is on the CPU."""
        return self.table.device.type != "cpu"

    def take_rows_ignoring_padding_gradient(self, worker: Tensor, vote_weight: Tensor | None = None) -> Tensor:
        """(*worker.shape, width) the rows of the workers, with gradients; votes of weight 0 (padding) get no gradient."""
        anchor = self.table.new_zeros((), requires_grad=True)  # makes autograd call `_TakeRows.backward`
        taken: Tensor = _TakeRows.apply(anchor, self, worker, vote_weight)
        return taken

    def add_gradient_and_mark_batch_workers(self, worker: Tensor, vote_weight: Tensor | None, grad: Tensor) -> None:
        """Add the gradient of rows taken by `take_rows_ignoring_padding_gradient` to that of the table; mark their workers."""
        real = torch.ones_like(worker, dtype=torch.bool) if vote_weight is None else vote_weight > 0
        flat, real, grad = worker.flatten(), real.flatten(), grad.reshape(-1, grad.shape[-1])
        if self.are_updates_graph_capturable:
            self.grad += torch.ops.aten.embedding_dense_backward(grad, flat, len(self.table), -1, False)
            self.touched |= torch.zeros_like(self.steps).index_add_(0, flat, real.float()) > 0
        else:
            self.grad.index_add_(0, flat[real], grad[real])
            self.touched[flat[real]] = True

    def attach_grad_and_return_parameter(self) -> Tensor:
        """Return the table as parameter with its gradient as `.grad`, for torch's gradient clipping."""
        self.table.grad = self.grad
        return self.table

    def as_memory_sharing_numpy_arrays(self) -> TableArrays:
        """Return table, gradient and optimiser state as numpy arrays that share memory with the tensors, for CPU kernels."""
        if self._arrays is None or self._data_ptr != self.table.data_ptr():
            tensors = self.touched, self.table.data, self.grad, self.first, self.second, self.steps
            self._arrays, self._data_ptr = TableArrays(*(one.numpy() for one in tensors)), self.table.data_ptr()
        return self._arrays

    def clear_gradient_and_batch_workers(self) -> None:
        """Set the gradient of the table to zero, and mark no worker as being in the batch."""
        self.grad.zero_()
        self.touched.zero_()

    def zero_optimizer_state_of_all_workers(self) -> None:
        """Set the optimiser state of all rows to zero in place."""
        for state in (self.first, self.second, self.steps):
            state.zero_()

    @torch.no_grad()
    def step(self, plan: Plan, lr: float | Tensor) -> None:
        """Update the rows of the workers in the batch by the plan's optimiser, in place, and clear the gradients."""
        if not self.are_updates_graph_capturable:
            self._update_rows_of_batch_workers_on_cpu(plan, float(lr))
            return
        self.steps += self.touched
        touched, n = self.touched[:, None], self.steps.clamp(min=1)[:, None]
        update = lr * (
            self._update_momentum_return_unscaled_sgd_step(plan, touched, n)
            if plan.optimizer == "sgd"
            else self._update_moments_return_unscaled_adam_step(plan, touched, n)
        )
        self.table.sub_(torch.where(touched, update, 0.0))
        self.clear_gradient_and_batch_workers()

    def _update_momentum_return_unscaled_sgd_step(
        self, plan: Plan, is_row_in_batch: Tensor, n_updates: Tensor
    ) -> Tensor:
        """(n_rows, width) the SGD step of each row, without learning rate; updates the momentum of touched rows in place."""
        grad = self.grad + plan.weight_decay * self.table
        momentum = torch.where(n_updates > 1, plan.momentum * self.first + grad, grad)
        self.first.copy_(torch.where(is_row_in_batch, momentum, self.first))
        return grad + plan.momentum * momentum if plan.nesterov and plan.momentum else momentum

    def _update_moments_return_unscaled_adam_step(
        self, plan: Plan, is_row_in_batch: Tensor, n_updates: Tensor
    ) -> Tensor:
        """(n_rows, width) the Adam step of each row, without learning rate; updates the moments of touched rows in place."""
        decay, (beta1, beta2) = plan.weight_decay * self.table, BETAS
        grad = self.grad + decay if plan.optimizer == "adam" else self.grad
        self.first.copy_(torch.where(is_row_in_batch, beta1 * self.first + (1 - beta1) * grad, self.first))
        self.second.copy_(torch.where(is_row_in_batch, beta2 * self.second + (1 - beta2) * grad * grad, self.second))
        update = self.first / (1 - beta1**n_updates) / ((self.second / (1 - beta2**n_updates)).sqrt() + EPS)
        return update + decay if plan.optimizer == "adamw" else update

    def _update_rows_of_batch_workers_on_cpu(self, plan: Plan, lr: float) -> None:
        """Update the rows of the workers in the batch in place by compiled CPU kernels, and clear the gradients."""
        arrays = self.as_memory_sharing_numpy_arrays()
        if plan.optimizer == "sgd":
            nesterov = plan.nesterov and plan.momentum > 0
            state = arrays.touched, arrays.table, arrays.grad, arrays.first, arrays.steps
            sparse_optim.sparse_sgd_step(*state, lr, plan.momentum, nesterov, plan.weight_decay)
        else:
            sparse_optim.sparse_adam_step(*arrays, lr, *BETAS, EPS, plan.weight_decay, plan.optimizer == "adamw")


class _TakeRows(torch.autograd.Function):
    """Autograd function of `take_rows_ignoring_padding_gradient`; backward calls `add_gradient_and_mark_batch_workers`."""

    @staticmethod
    def forward(
        ctx: Any, anchor: Tensor, worker_table: WorkerTable, worker: Tensor, vote_weight_for_backward: Tensor | None
    ) -> Tensor:
        del anchor
        ctx.rows, ctx.worker, ctx.weight = worker_table, worker, vote_weight_for_backward
        taken: Tensor = worker_table.table.data.index_select(0, worker.flatten()).view(*worker.shape, -1)
        return taken

    @staticmethod
    def backward(ctx: Any, grad_of_taken_rows: Tensor) -> tuple[None, None, None, None]:
        ctx.rows.add_gradient_and_mark_batch_workers(ctx.worker, ctx.weight, grad_of_taken_rows)
        return None, None, None, None
