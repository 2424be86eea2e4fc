"""HITs of Mechanical Turk with several items: Input.image_url_1, Input.image_url_2, ... and one question about each of them.

Question k is about input k. Both have the same numbers: `label_1` and `image_url_1`, or `label1` and `img1`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import shell_word
from plurivox.io.formats._table_columns import number_or_nan

NUMBER = re.compile(r"(.*?)(\d+)(\D*)")  # the last number in a name
INPUT_PREFIX = "Input."

Family = dict[int, str]  # number -> name of the question or column


@dataclass(frozen=True)
class ItemsPerHit:
    """Numbered questions and the numbered inputs they are about, both by the name without number."""

    questions: Mapping[str, Family]
    inputs: Mapping[str, Family]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the items."""
        return sorted({number for family in self.questions.values() for number in family})


def numbered_families(names: Iterable[str]) -> dict[str, Family]:
    """Return the names that differ only in their last number, two or more, by the name without the number.

    >>> numbered_families(["image_url_1", "image_url_2", "page", "q1"])
    {'image_url': {1: 'image_url_1', 2: 'image_url_2'}}
    """
    found: dict[str, Family] = {}
    for name in names:
        if match := NUMBER.fullmatch(name):
            found.setdefault(match[1].rstrip("_-. ") + match[3] or "item", {})[int(match[2])] = name
    return {stem: family for stem, family in found.items() if len(family) > 1}


def find_items_per_hit(
    questions: Mapping[str, Sequence[Sequence[Any]]],
    inputs: Iterable[str],
    label: str | None,
    task: str | None,
    where: str,
) -> ItemsPerHit | None:
    """Return the questions that are about one numbered input each; None if a HIT is one task.

    `questions` has the labels of each question; `label` and `task` are the question and the column that the caller named: a
    column of all items makes the HIT the task. Raise InputError if questions and inputs are numbered, but not alike.
    """
    asked, shown = numbered_families(questions), numbered_families(inputs)
    if label is not None:
        asked = {
            stem: family if label == stem else {no: one for no, one in family.items() if one == label}
            for stem, family in asked.items()
            if label == stem or label in family.values()
        }
    if task is not None:
        bare = task.removeprefix(INPUT_PREFIX)
        shown = {
            stem: family
            for stem, family in shown.items()
            if bare in (stem.removeprefix(INPUT_PREFIX), *(one.removeprefix(INPUT_PREFIX) for one in family.values()))
        }
    if not asked or not shown:
        return None
    paired = {stem: family for stem, family in asked.items() if _ask_the_same(family, questions)}
    paired = {stem: family for stem, family in paired.items() if any(set(family) <= set(one) for one in shown.values())}
    if not paired:
        question, column = next(iter(next(iter(asked.values())).values())), next(iter(shown.values()))
        columns = first_few(list(column.values()))
        raise InputError(
            f"{where} has several numbered inputs per HIT, {columns}, and numbered questions that do not pair with them: "
            f"{first_few([one for family in asked.values() for one in family.values()])}; read one question with the HIT as "
            f"the task: label={question!r}, task='HITId' (--label {shell_word(question)} --task HITId)"
        )
    numbers = {no for family in paired.values() for no in family}
    return ItemsPerHit(paired, {stem: family for stem, family in shown.items() if numbers <= set(family)})


def _ask_the_same(family: Family, questions: Mapping[str, Sequence[Sequence[Any]]]) -> bool:
    """Return whether questions are one question about several items: two of them have a label in common."""
    labels = [{label for row in questions[name] for label in row} for name in family.values()]
    return len(labels) == 1 or any(one & other for one, other in combinations(labels, 2))


def shown_items(columns: Mapping[str, Sequence[Any]], items: ItemsPerHit, rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return (position in `rows`, number) of each item that a HIT shows: the last HIT of a batch may show fewer."""
    return [
        (place, number)
        for place, row in enumerate(rows)
        for number in items.numbers
        if any(columns[family[number]][row] is not None for family in items.inputs.values())
    ]


def one_row_per_item(
    columns: Mapping[str, Sequence[Any]],
    items: ItemsPerHit,
    rows: Sequence[int],
    shown: Sequence[tuple[int, int]],
    hit: str,
    seconds: str,
) -> dict[str, list[Any]]:
    """Return a table of assignments as one of the items `shown`: numbered inputs are one column; equal shares of the time.

    An item is named by its HIT and number in the column `hit`.
    """
    n_items = Counter(place for place, _ in shown)
    of_items = {name for family in items.inputs.values() for name in family.values()}
    found = {
        name: [values[rows[place]] for place, _ in shown] for name, values in columns.items() if name not in of_items
    }
    found |= {
        stem: [columns[family[number]][rows[place]] for place, number in shown] for stem, family in items.inputs.items()
    }
    found[hit] = [f"{columns[hit][rows[place]]}/{number}" for place, number in shown]
    if seconds in columns:
        found[seconds] = [number_or_nan(columns[seconds][rows[place]]) / n_items[place] for place, _ in shown]
    return found


def answers_per_item(
    questions: Mapping[str, Sequence[Sequence[Any]]], items: ItemsPerHit, shown: Sequence[tuple[int, int]]
) -> dict[str, list[Any]]:
    """Return the labels of each item in `shown`, by question without its number."""
    return {
        (stem if len(family) > 1 else next(iter(family.values()))): [
            questions[family[number]][place] if number in family else [] for place, number in shown
        ]
        for stem, family in items.questions.items()
    }
