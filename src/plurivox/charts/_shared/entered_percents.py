"""What answers say about certainty: the percent of the most probable label, and how many labels are possible."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.answers import MARK_KINDS, Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.name_encoding import encode
from plurivox.core.parse_typed_percents import parse_percents


@dataclass(frozen=True)
class EnteredCertainty:
    """Answers that name or mark a label, without those that abstain."""

    answer: Ints  # (n,) row of each in the answers
    n_possible: Ints  # (n,) number of labels that the answer leaves possible
    top: Floats  # (n,) probability of the most probable label, 0 to 1; nan: without a usable percent
    counts: str  # what counts as possible, in words


def entered_certainty(answers: Answers) -> EnteredCertainty:
    """Return the certainty of every answer, as entered.

    The probability of the most probable label is its percent, divided by the sum of the percents of the answer if that is
    above 100. An answer with a percent below 0, above 100 or unreadable has no usable percent, nor has one without a percent
    above 0. Where labels can be ruled out, all others are possible; else those named or marked as possible are.
    """
    n, labels = len(answers), len(answers.labels)
    named, never, possible = (_pairs(answers, kind) for kind in ("named", "never", "possible"))
    n_ruled_out = _count_per_answer(np.setdiff1d(never, named), n, labels)
    n_marked = _count_per_answer(np.union1d(named, possible), n, labels)
    form = np.zeros(n, np.int64) if answers.form is None else encode(answers.form)[0]
    rules_out = np.zeros(int(form.max(initial=0)) + 1, bool)  # per form: whether an answer rules out a label
    rules_out[form[n_ruled_out > 0]] = True
    n_possible = np.where(rules_out[form], labels - n_ruled_out, n_marked)
    used = n_marked > 0
    for column in (answers.abstain, answers.none_of_these):
        if column is not None:
            used &= ~column
    rows = np.flatnonzero(used)
    words = "labels not ruled out" if rules_out.any() else "labels named or marked as possible"
    return EnteredCertainty(rows, n_possible[rows], _top_probabilities(answers)[rows], words)


def _pairs(answers: Answers, kind: str) -> Ints:
    """Return answer * n_labels + label of the marks of one kind, each once."""
    here = (answers.mark_kind == MARK_KINDS[kind]) & (answers.mark_label >= 0)
    return np.unique(answers.answer_of_mark[here] * max(len(answers.labels), 1) + answers.mark_label[here])


def _count_per_answer(pairs: Ints, n_answers: int, n_labels: int) -> Ints:
    """(n_answers,) the number of labels of each answer among pairs of answer and label."""
    return np.bincount(pairs // max(n_labels, 1), minlength=n_answers)


def _top_probabilities(answers: Answers) -> Floats:
    """(n_answers,) the largest percent of each answer as a probability; nan without a usable one."""
    named: Bools = answers.mark_kind == MARK_KINDS["named"]
    percent = parse_percents(answers.mark_typed[named]).value
    usable = (percent >= 0) & (percent <= 100)
    of = answers.answer_of_mark[named]
    largest, total = np.zeros(len(answers)), np.zeros(len(answers))
    np.maximum.at(largest, of[usable], percent[usable])
    np.add.at(total, of[usable], percent[usable])
    out = largest / np.maximum(total, 100)
    out[(largest == 0) | np.isin(np.arange(len(answers)), of[~usable & ~np.isnan(percent)])] = np.nan
    return np.asarray(out)
