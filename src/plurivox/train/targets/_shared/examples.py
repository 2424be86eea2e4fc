"""Examples: targets on their data, as tensors on the device."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Examples, PaddedVotes

CELLS = 2**28  # numbers that a table of examples may hold: a gigabyte of float32


class Table(Examples):
    """A distribution a task, always the same."""

    def __init__(self, prob: Tensor) -> None:
        self.prob, self.n_examples = prob, len(prob)

    @classmethod
    def of(cls, soft: SoftLabels, tasks: Names, labels: Names, device: torch.device) -> "Table":
        """The soft labels of these tasks over this list of labels."""
        if len(tasks) * len(labels) > CELLS:
            raise InputError(f"{len(tasks):,} tasks x {len(labels):,} labels are too many for one table of targets")
        return cls(on_device(soft.on(tasks).on_labels(labels).prob, device, torch.float32))

    def draw(self, indices: Tensor, rng: torch.Generator) -> Tensor:
        del rng
        return self.prob.index_select(0, indices)


class Answers:
    """Every answer of votes as a row of probabilities, in CSR order: those of task t are `start[t]:start[t + 1]`."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        task, times, table = answer_table(votes)
        self.task, self.times, self.table = task, times, on_device(table, device, torch.float32)
        last = np.cumsum(times)  # (n_answers,) how many people answered up to here
        bounds = np.concatenate([[0.0], last])[np.searchsorted(task, np.arange(votes.n_tasks + 1))]
        self.last = on_device(last, device, torch.float64)
        self.low, self.many = (
            on_device(one, device, torch.float64) for one in (bounds[:-1], np.diff(bounds))
        )  # (n_tasks,) each

    def one_of(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        """(n, n_labels) the answer of one person to each of these tasks, all equally likely."""
        share = torch.rand(len(rows), generator=rng, device=rows.device, dtype=torch.float64)
        place = self.low.index_select(0, rows) + share * self.many.index_select(0, rows)
        pick = torch.searchsorted(self.last, place, right=True).clamp_(max=len(self.last) - 1)
        return self.table.index_select(0, pick)


class OneVoteExamples(Examples):
    """One person's answer, drawn anew in every epoch."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        self.answers, self.n_examples = Answers(votes, device), votes.n_tasks

    def draw(self, indices: Tensor, rng: torch.Generator) -> Tensor:
        return self.answers.one_of(indices, rng)


class EveryVoteExamples(Examples):
    """One example per answer: an epoch goes over all of them."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        answers = Answers(votes, device)
        whole = bool((answers.times == np.round(answers.times)).all()) and answers.times.sum() <= CELLS
        pick = np.repeat(np.arange(len(answers.task)), answers.times.astype(np.int64) if whole else 1)
        self.table, self.n_examples = answers.table, len(pick)
        self.pick = on_device(pick, device, torch.int64)
        self.row = on_device(answers.task[pick], device, torch.int64)
        self.weight = None if whole else on_device(answers.times, device, torch.float32)

    def draw(self, indices: Tensor, rng: torch.Generator) -> Tensor:
        del rng
        return self.table.index_select(0, self.pick.index_select(0, indices))


class AllVotesExamples(Examples):
    """All answers to a task with their workers, padded to one length."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        size = np.diff(votes.start)
        most = max(int(size.max(initial=0)), 1)
        if votes.n_tasks * most > CELLS:
            raise InputError(
                f"one task has {most:,} answers; {votes.n_tasks:,} tasks padded to that are too many; take all-votes[most=50]"
            )
        cell = votes.task.astype(np.int64) * most + np.arange(len(votes)) - np.repeat(votes.start[:-1], size)
        told = np.zeros((2, votes.n_tasks * most), np.int64)
        weight = np.zeros(votes.n_tasks * most, np.float32)
        told[0, cell], told[1, cell], weight[cell] = votes.worker, votes.label, votes.weights
        shape = votes.n_tasks, most
        self.n_examples, self.most = shape
        self.worker, self.label = (on_device(one.reshape(shape), device, torch.int64) for one in told)
        self.weight_of = on_device(weight.reshape(shape), device, torch.float32)

    def draw(self, indices: Tensor, rng: torch.Generator) -> PaddedVotes:
        del rng
        return PaddedVotes(*(one.index_select(0, indices) for one in (self.worker, self.label, self.weight_of)))


class MixedExamples(Examples):
    """Some tasks from one target, the rest from another."""

    def __init__(self, is_first: Tensor, place: Tensor, first: Examples, rest: Examples) -> None:
        self.is_first, self.place, self.first, self.rest = is_first, place, first, rest
        self.n_examples = len(is_first)

    def draw(self, indices: Tensor, rng: torch.Generator) -> Tensor:
        place = self.place.index_select(0, indices)
        mine = self.is_first.index_select(0, indices)
        one = self.first.draw(torch.where(mine, place, 0), rng)
        two = self.rest.draw(torch.where(mine, 0, place), rng)
        assert isinstance(one, Tensor) and isinstance(two, Tensor)
        return torch.where(mine[:, None], one, two)


class PairExamples(Examples):
    """Two distributions at once: (main, soft)."""

    def __init__(self, main: Examples, soft: Examples) -> None:
        self.main, self.soft, self.n_examples = main, soft, main.n_examples

    def draw(self, indices: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        main, soft = self.main.draw(indices, rng), self.soft.draw(indices, rng)
        assert isinstance(main, Tensor) and isinstance(soft, Tensor)
        return main, soft


def answer_table(votes: Votes) -> tuple[Ints, Floats, Floats]:
    """(n_answers,) the task of each answer, how many people gave it, and (n_answers, n_labels) what it says."""
    if votes.answer is None:
        row, task = np.arange(len(votes)), votes.task.astype(np.int64)
        times, share = votes.weights, np.ones(len(votes))
    else:
        _, first, row = np.unique(votes.answer, return_index=True, return_inverse=True)
        order = np.argsort(votes.task[first], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        row, task = rank[row], votes.task[first][order].astype(np.int64)
        times = np.bincount(row, votes.weights).astype(np.float64)  # 1, or the count of an answer without a name
        share = votes.weights / times[row]
    if len(task) * votes.n_labels > CELLS:
        raise InputError(f"{len(task):,} answers x {votes.n_labels:,} labels are too many for one table of targets")
    table: Floats = np.zeros((len(task), votes.n_labels), np.float32)
    table[row, votes.label] = share
    return task, times, table


def on_device(values: Any, device: torch.device, kind: torch.dtype) -> Tensor:
    """A tensor of its own on the device."""
    return torch.tensor(np.ascontiguousarray(values), dtype=kind, device=device)
