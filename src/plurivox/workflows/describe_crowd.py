"""Describe what a crowd looks like: its votes, or what people entered and what is odd about it."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurivox import elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, PlurivoxWarning, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.elicit import FLAGS
from plurivox.evaluate import AnswersDescription, Description
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels

NOTHING = ("na", "n/a", "nan", "null", "none", "?", "-")
UNSAID = "top-two"  # how answers are looked at that do not say how they were asked: it knows every kind of mark


@dataclass(frozen=True)
class EnteredDescription:
    """What people entered in figures, and how many entries are odd by kind; `read_by` is None where none were looked for."""

    figures: AnswersDescription
    odd: dict[str, int]
    read_by: str | None  # the form that read the answers to find what is odd

    def info(self) -> dict[str, Any]:
        """Every figure by name, for machines."""
        return {**self.figures.info(), "odd": self.odd}

    def rows(self) -> list[tuple[str, str]]:
        """What to show a person: (figure, value), without those that cannot be told."""
        return self.figures.rows()

    def odd_rows(self) -> list[tuple[str, str, str]]:
        """(kind, number, how it is read) of what is odd."""
        return [(name, f"{n:,}", FLAGS[name][1]) for name, n in self.odd.items()]


def describe(
    given: Any, gold: SoftLabels | str | Path | None = None, *, part: str | None = None
) -> Description | EnteredDescription:
    """The figures of votes or counts: sizes, agreement, with known labels accuracy; of answers where there are no others.

    `given` are Votes, Answers, a Dataset, the path or the name of one, or a DataFrame of votes. `gold` are known labels or
    their file, those of the data set where none are given. `part` names what to look at: votes, counts or answers. Warns
    about labels that look like one and the same, or like a missing one.

    >>> table = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": ["cat", "dog", "dog"]}
    >>> about = describe(table)
    >>> about.n_tasks, about.n_workers
    (2, 2)
    """
    data = as_dataset(given)
    known = data.gold if gold is None else as_soft_labels(gold)
    if part == "answers" or (part is None and data.has("answers") and not (data.has("votes") or data.has("counts"))):
        if (answers := data.answers) is None:
            raise InputError(f"{data.name} has no answers, what people entered; it holds {', '.join(data.parts())}")
        return _of_answers(answers, known)
    crowd = as_votes(data, part)
    _warn_of_labels(crowd.labels)
    return evaluate.describe(crowd, known)


def _of_answers(answers: Answers, gold: SoftLabels | None) -> EnteredDescription:
    """The answers in figures, and read by their forms to see what is odd about them where the forms are known."""
    figures = evaluate.describe_answers(answers, gold)
    if not len(answers.labels):
        return EnteredDescription(figures, {}, None)
    form = UNSAID if answers.form is None else "as-asked"
    strange = (
        [] if answers.form is None else sorted({str(name) for name in answers.form.tolist()} - set(elicit.methods))
    )
    if strange:
        words = f"odd entries are not looked for: there is no form {strange[0]!r}"
        warnings.warn(words, PlurivoxWarning, stacklevel=3)
        return EnteredDescription(figures, {}, None)
    found = elicit.methods.make(form).read(answers)
    return EnteredDescription(figures, found.odd, found.made_by)


def _warn_of_labels(labels: Names) -> None:
    """Warn where labels look like one and the same, or like no label at all."""
    names = [str(label) for label in labels.tolist()]
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    notes = []
    if alike := [name for group in folded.values() if len(group) > 1 for name in group]:
        notes.append(f"labels that differ by case or blanks alone count as different ones: {first_few(alike, 6)}")
    if none := [name for name in names if name.strip().casefold() in NOTHING]:
        notes.append(f"the label {none[0]!r} looks like a missing one; if it is, say --missing {none[0].strip()}")
    for note in notes:
        warnings.warn(note, PlurivoxWarning, stacklevel=3)
