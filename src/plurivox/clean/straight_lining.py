"""Rule that removes workers who always give the same label, or always choose the same position on the list."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.percent_text import format_percent
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class StraightLining(Rule):
    """Remove workers who always give the same label, or always choose the same position of the list.

    share(worker) = answers with the worker's most frequent label / the worker's answers. A worker is not removed for a label
    that other workers give to the same tasks almost as often. List positions are checked if there is a column `slot`, the
    position of the chosen label on the list.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> tasks = list("abcd") * 2
    >>> votes = Votes.of(tasks, ["ann"] * 4 + ["bo"] * 4, ["x", "x", "x", "x", "x", "y", "z", "y"])
    >>> clean(votes, ["straight-lining[fewest=4]"]).audit.reason.tolist()
    ["'x' in 100% of 4 answers; others gave it to the same tasks in 25%"]
    """

    idempotent: ClassVar[bool] = False  # workers who are removed no longer count among the others

    share: float = option(
        1.0,
        "remove workers whose most frequent label, or list position, has at least this share of their answers",
        low=0,
        high=1,
    )
    fewest: int = option(10, "check only workers with at least this many answers", low=2)
    others: float = option(
        0.8,
        "keep workers whose most frequent label has at least this share of the others' answers to the same tasks",
        low=0,
        high=1,
    )

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        label, share, n = _most_frequent_choice_and_share_per_worker(answer_rows, answer_rows.top)
        same = (n >= self.fewest) & (share >= self.share)
        by_others = _label_share_among_others_per_worker(answer_rows, label, same)
        out = same & ~(by_others >= self.others)

        def same_label_reason(worker: int) -> str:
            others = f"others gave it to the same tasks in {format_percent(by_others[worker])}"
            if np.isnan(by_others[worker]):
                others = "nobody else answered these tasks"
            name = str(answer_rows.labels[label[worker]])
            return f"{name!r} in {format_percent(share[worker])} of {count_text(int(n[worker]), 'answer')}; {others}"

        findings = [Findings.from_mask("worker", out, share, same_label_reason)]
        if answer_rows.answers is not None and answer_rows.answers.slot is not None:
            slot, slot_share, n_slots = _most_frequent_choice_and_share_per_worker(
                answer_rows, answer_rows.answers.slot
            )
            same_slot = ~same & (n_slots >= self.fewest) & (slot_share >= self.share)

            def same_position_reason(worker: int) -> str:
                answers = count_text(int(n_slots[worker]), "answer")
                return f"position {slot[worker]} of the list in {format_percent(slot_share[worker])} of {answers}"

            findings.append(Findings.from_mask("worker", same_slot, slot_share, same_position_reason))
        return tuple(findings)


def _most_frequent_choice_and_share_per_worker(
    answer_rows: AnswerRows, chosen_codes: Ints
) -> tuple[Ints, Floats, Ints]:
    """Return each worker's (most frequent code, its share, number of codes), each (n_workers,); negative codes are skipped."""
    mine = (chosen_codes >= 0) & (answer_rows.worker >= 0)
    width = int(chosen_codes.max(initial=0)) + 1
    key, count = np.unique(answer_rows.worker[mine].astype(np.int64) * width + chosen_codes[mine], return_counts=True)
    order = np.lexsort((key, -count, key // width))
    who, first = np.unique((key // width)[order], return_index=True)
    best, most = np.full(answer_rows.n_workers, -1), np.zeros(answer_rows.n_workers)
    best[who], most[who] = (key % width)[order][first], count[order][first]
    n = answer_rows.count_answers_by_worker(mine)
    return best, most / np.maximum(n, 1), n


def _label_share_among_others_per_worker(
    answer_rows: AnswerRows, label_of_each_worker: Ints, worker_mask: Bools
) -> Floats:
    """(n_workers,) share of the others' answers to the worker's tasks that give the worker's label; nan if there are none.

    Computed only for the workers in `worker_mask` (n_workers,), since it is slow; nan for the rest.
    """
    if not worker_mask.any():
        return np.full(answer_rows.n_workers, np.nan)
    named = np.flatnonzero(np.append(worker_mask, False)[answer_rows.worker] & (answer_rows.top >= 0))
    task, who = answer_rows.task[named].astype(np.int64), answer_rows.worker[named]
    k, w = len(answer_rows.labels), max(answer_rows.n_workers, 1)
    every = answer_rows.top >= 0
    in_all = np.bincount(answer_rows.task[every], minlength=len(answer_rows.tasks))[task]
    in_label = _count_occurrences_of_each(
        task * k + label_of_each_worker[who], answer_rows.task[every].astype(np.int64) * k + answer_rows.top[every]
    )
    own = _count_occurrences_of_each(task * w + who, task * w + who)
    same = answer_rows.top[named] == label_of_each_worker[who]
    own_label = _count_occurrences_of_each(task * w + who, (task * w + who)[same])
    # each of the worker's answers counts the others' once; repeats count them again, in both sums
    n_others, n_same = np.bincount(who, in_all - own, minlength=w), np.bincount(who, in_label - own_label, minlength=w)
    return np.where(n_others > 0, n_same / np.maximum(n_others, 1), np.nan)[: answer_rows.n_workers]


def _count_occurrences_of_each(wanted: Ints, keys: Ints) -> Ints:
    """(n_wanted,) the number of times that each element of `wanted` occurs in `keys`."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")
