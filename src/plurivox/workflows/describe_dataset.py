"""Describe a data set: statistics of its votes or answers, and the number of odd entries among answers."""

from dataclasses import dataclass
from typing import Any

from plurivox import elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.elicit import FLAGS
from plurivox.evaluate import AnswersDescription, Description
from plurivox.evaluate.tied_true_labels import without_tied_true_labels
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes_and_notes, notes_on_gold_tasks

DEFAULT_FORM = "top-two"  # the form that reads answers whose form is not recorded: it accepts every kind of mark


@dataclass(frozen=True)
class EnteredDescription:
    """Statistics of answers as entered, and the number of odd entries (such as unreadable percentages) by kind."""

    figures: AnswersDescription
    odd: dict[str, int]  # kind of odd entry (see elicit.FLAGS) -> number of answers
    read_by: str | None  # the form used to find odd entries; None if they were not searched for

    def summary_values(self) -> dict[str, Any]:
        """Return {name: value} of all statistics of the answers."""
        return {**self.figures.summary_values(), "odd": self.odd}

    def rows(self) -> list[tuple[str, str]]:
        """Return (name, value) texts of the statistics of answers for display, without those that cannot be computed."""
        return self.figures.rows()

    def odd_entry_kinds_and_counts(self) -> list[tuple[str, str, str]]:
        """Return (kind, number, how such an entry is read) as texts, for each kind of odd entry among the answers."""
        return [(name, f"{n:,}", FLAGS[name][1]) for name, n in self.odd.items()]


def describe(given: Any, gold: Any = None, *, part: str | None = None) -> Description | EnteredDescription:
    """Return statistics of votes or counts (sizes, agreement, accuracy with gold), or of answers if there are no votes.

    `given` are Votes, Answers, a Dataset, the path or the name of one, or a DataFrame of votes. `gold` are known labels or
    their file; default: those of the data set. `part` selects votes, counts or answers. Warn about labels that differ only
    by case or blanks, or look like a missing value.

    >>> table = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": ["cat", "dog", "dog"]}
    >>> about = describe(table)
    >>> about.n_tasks, about.n_workers
    (2, 2)
    """
    data = as_dataset(given)
    known = data.gold if gold is None else as_soft_labels(gold, data)
    if part == "answers" or (part is None and data.has("answers") and not (data.has("votes") or data.has("counts"))):
        if (answers := data.answers) is None:
            raise InputError(f"{data.name} has no answers; it contains {', '.join(data.parts())}")
        for note in () if gold is None or known is None else notes_on_gold_tasks(known, answers.tasks):
            warn_user(note)
        return _answer_statistics_and_input_fault_counts(answers, known)
    crowd = as_votes(data, part)
    _warn_about_case_variants_of_labels(crowd.labels)
    if known is not None:
        _warn_about_gold_labels(crowd, known, is_given=gold is not None)
    return evaluate.describe(crowd, known)


def _answer_statistics_and_input_fault_counts(answers: Answers, gold: SoftLabels | None) -> EnteredDescription:
    """Return statistics of answers, and their odd entries as found by their forms; warn if a form is unknown."""
    figures = evaluate.describe_answers(answers, gold)
    if not len(answers.labels):
        return EnteredDescription(figures, {}, None)
    form = DEFAULT_FORM if answers.form is None else "form-column"
    strange = (
        [] if answers.form is None else sorted({str(name) for name in answers.form.tolist()} - set(elicit.methods))
    )
    if strange:
        message = f"odd entries are not counted: there is no form {strange[0]!r}"
        warn_user(message)
        return EnteredDescription(figures, {}, None)
    found = elicit.methods.make(form).read(answers)
    return EnteredDescription(figures, found.flag_counts, found.made_by)


def _warn_about_gold_labels(crowd: Votes, gold: SoftLabels, *, is_given: bool) -> None:
    """Warn about tasks with several equally probable gold labels, and about gold labels that do not belong to the votes.

    If the caller gave gold labels that have no task or no label in common with the votes, raise InputError.
    """
    for note in without_tied_true_labels(gold, crowd.tasks_with_votes)[1]:
        warn_user(note)
    if is_given:
        for note in gold_of_tasks_with_votes_and_notes(crowd, gold, counts_others=True)[1]:
            warn_user(note)
    elif crowd.n_labels and not (positions(crowd.labels, gold.labels) >= 0).any():
        warn_user(
            f"the votes and the gold labels have no label in common: {first_few(crowd.labels)} in the votes, "
            f"{first_few(gold.labels)} in the gold labels; use the same names in both"
        )


def _warn_about_case_variants_of_labels(labels: Names) -> None:
    """Warn about labels that differ only by case or blanks."""
    names = [str(label) for label in labels.tolist()]
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    if alike := [name for group in folded.values() if len(group) > 1 for name in group]:
        message = f"labels that differ only by case or blanks count as different labels: {first_few(alike, 6)}"
        warn_user(message)
