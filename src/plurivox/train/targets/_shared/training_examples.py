"""The training examples of each kind of target, as tensors on the device."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Examples, PaddedVotes

MAX_CELLS = 2**28  # largest size of a table of examples: a gigabyte of float32


class FixedExamples(Examples):
    """One training example per task, whose label is the same distribution in every epoch."""

    def __init__(self, prob: Tensor) -> None:
        self.prob, self.n_examples = prob, len(prob)

    @classmethod
    def from_soft_labels(cls, soft: SoftLabels, tasks: Names, labels: Names, device: torch.device) -> "FixedExamples":
        """Return one training example per task, its soft label over the list `labels`; InputError if the table is too large."""
        if len(tasks) * len(labels) > MAX_CELLS:
            raise InputError(f"{len(tasks):,} tasks x {len(labels):,} labels are too many for one table of targets")
        return cls(copy_to_device(soft.on(tasks).on_labels(labels).prob, device, torch.float32))

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> Tensor:
        del rng
        return self.prob.index_select(0, example_indices)


class AnswerTable:
    """Every answer as a row of probabilities, sorted by task, with the number of workers who gave it."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        task, times, table = answer_tasks_counts_and_distributions(votes)
        self.task, self.times, self.table = task, times, copy_to_device(table, device, torch.float32)
        cumulative = np.cumsum(times)  # (n_answers,) number of workers up to and including each answer
        bounds = np.concatenate([[0.0], cumulative])[np.searchsorted(task, np.arange(votes.n_tasks + 1))]
        self.cumulative = copy_to_device(cumulative, device, torch.float64)
        # (n_tasks,) each
        self.first, self.n_workers = (
            copy_to_device(one, device, torch.float64) for one in (bounds[:-1], np.diff(bounds))
        )

    def draw_answer_of_random_worker_per_task(self, task_codes: Tensor, rng: torch.Generator) -> Tensor:
        """(n, n_labels) the answer of one random worker to each of the tasks `task_codes` (n,)."""
        share = torch.rand(len(task_codes), generator=rng, device=task_codes.device, dtype=torch.float64)
        position = self.first.index_select(0, task_codes) + share * self.n_workers.index_select(0, task_codes)
        answer = torch.searchsorted(self.cumulative, position, right=True).clamp_(max=len(self.cumulative) - 1)
        return self.table.index_select(0, answer)


class OneVoteExamples(Examples):
    """One training example per task: the answer of one random worker, drawn again in every epoch."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        self.answers, self.n_examples = AnswerTable(votes, device), votes.n_tasks

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> Tensor:
        return self.answers.draw_answer_of_random_worker_per_task(example_indices, rng)


class EveryVoteExamples(Examples):
    """One training example per answer of a worker to a task; its label is the answer as a distribution."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        answers = AnswerTable(votes, device)
        whole = bool((answers.times == np.round(answers.times)).all()) and answers.times.sum() <= MAX_CELLS
        answer = np.repeat(np.arange(len(answers.task)), answers.times.astype(np.int64) if whole else 1)
        self.table, self.n_examples = answers.table, len(answer)
        self.answer = copy_to_device(answer, device, torch.int64)  # (n_examples,) row of the table
        self.row = copy_to_device(answers.task[answer], device, torch.int64)
        self.weight = None if whole else copy_to_device(answers.times, device, torch.float32)

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> Tensor:
        del rng
        return self.table.index_select(0, self.answer.index_select(0, example_indices))


class AllVotesExamples(Examples):
    """One training example per task: all its votes with their workers, padded to the same number per task."""

    def __init__(self, votes: Votes, device: torch.device) -> None:
        size = np.diff(votes.row_offsets_by_task)
        max_votes = max(int(size.max(initial=0)), 1)
        if votes.n_tasks * max_votes > MAX_CELLS:
            raise InputError(
                f"one task has {max_votes:,} votes; {votes.n_tasks:,} tasks padded to that number need too much memory; "
                "limit the votes per task: all-votes[most=50]"
            )
        cell = (
            votes.task.astype(np.int64) * max_votes
            + np.arange(len(votes))
            - np.repeat(votes.row_offsets_by_task[:-1], size)
        )
        codes = np.zeros((2, votes.n_tasks * max_votes), np.int64)  # worker, label
        weight = np.zeros(votes.n_tasks * max_votes, np.float32)
        codes[0, cell], codes[1, cell], weight[cell] = votes.worker, votes.label, votes.weights
        shape = votes.n_tasks, max_votes
        self.n_examples, self.max_votes = shape
        self.worker, self.label = (copy_to_device(one.reshape(shape), device, torch.int64) for one in codes)
        self.vote_weight = copy_to_device(weight.reshape(shape), device, torch.float32)

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> PaddedVotes:
        del rng
        return PaddedVotes(
            *(one.index_select(0, example_indices) for one in (self.worker, self.label, self.vote_weight))
        )


class MixedExamples(Examples):
    """One training example per task, taken from the examples of one of two targets.

    Task i is example `index[i]` of `first` if `is_first[i]`, else of `rest`.
    """

    def __init__(self, is_first: Tensor, index: Tensor, first: Examples, rest: Examples) -> None:
        self.is_first, self.index, self.first, self.rest = is_first, index, first, rest
        self.n_examples = len(is_first)

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> Tensor:
        index = self.index.index_select(0, example_indices)
        is_first = self.is_first.index_select(0, example_indices)
        first = self.first.get_or_draw_labels(torch.where(is_first, index, 0), rng)
        rest = self.rest.get_or_draw_labels(torch.where(is_first, 0, index), rng)
        assert isinstance(first, Tensor) and isinstance(rest, Tensor)
        return torch.where(is_first[:, None], first, rest)


class PairExamples(Examples):
    """One training example per task: its main label and its soft label, as two distributions."""

    def __init__(self, main: Examples, soft: Examples) -> None:
        self.main, self.soft, self.n_examples = main, soft, main.n_examples

    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        main, soft = (
            self.main.get_or_draw_labels(example_indices, rng),
            self.soft.get_or_draw_labels(example_indices, rng),
        )
        assert isinstance(main, Tensor) and isinstance(soft, Tensor)
        return main, soft


def answer_tasks_counts_and_distributions(votes: Votes) -> tuple[Ints, Floats, Floats]:
    """Return (task of each answer, number of workers who gave it, distribution over labels of each answer), sorted by task."""
    if votes.answer is None:
        row, task = np.arange(len(votes)), votes.task.astype(np.int64)
        times, share = votes.weights, np.ones(len(votes))
    else:
        _, first, row = np.unique(votes.answer, return_index=True, return_inverse=True)
        order = np.argsort(votes.task[first], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        row, task = rank[row], votes.task[first][order].astype(np.int64)
        times = np.bincount(row, votes.weights).astype(np.float64)  # 1, or the count of answers without a worker
        share = votes.weights / times[row]
    if len(task) * votes.n_labels > MAX_CELLS:
        raise InputError(f"{len(task):,} answers x {votes.n_labels:,} labels are too many for one table of targets")
    table: Floats = np.zeros((len(task), votes.n_labels), np.float32)
    table[row, votes.label] = share
    return task, times, table


def copy_to_device(values: Any, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return a copy of an array as a new tensor of type `dtype` on the device."""
    return torch.tensor(np.ascontiguousarray(values), dtype=dtype, device=device)
