"""Values of a sheet that was typed by hand: the same word with other capitals or blanks is one value."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import polars as pl

MIN_LETTERS = 2  # "A" and "a" may be two labels
MAX_DISTINCT_SHARE = 2 / 3  # of the rows: a column with more distinct values has texts or ids


def with_one_spelling_per_value(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a table whose texts have no blanks around them and one spelling per value, and notes on the spellings replaced.

    Of texts that differ only by capitals and blanks, the most frequent spelling in the table stays. Columns whose values hardly
    repeat (texts, comments, ids) only lose the blanks around them.

    >>> typed = pl.DataFrame({"worker": ["ann"] * 3, "label": ["Cat ", "cat", "cat"]})
    >>> with_one_spelling_per_value(typed)[0]["label"].to_list(), with_one_spelling_per_value(typed)[1]
    (['cat', 'cat', 'cat'], ["the same word with other capitals or blanks is read as one: 'Cat ' as 'cat'"])
    """
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    trimmed = frame.with_columns(pl.col(texts).str.strip_chars()) if texts else frame
    repeating = [name for name in texts if _folded(trimmed[name]).n_unique() <= MAX_DISTINCT_SHARE * len(trimmed)]
    kept = _spelling_to_keep(value for name in repeating for value in trimmed[name].drop_nulls().to_list())
    replaced = trimmed.with_columns(pl.col(repeating).replace(kept)) if kept else trimmed
    before = {value for name in repeating for value in frame[name].drop_nulls().unique(maintain_order=True).to_list()}
    changed = {old: kept.get(old.strip(), old.strip()) for old in sorted(before)}
    notes = [f"{old!r} as {new!r}" for old, new in changed.items() if old != new]
    if not notes:
        return replaced, []
    shown = ", ".join(notes[:3]) + (f" and {len(notes) - 3} more" if len(notes) > 3 else "")
    return replaced, [f"the same word with other capitals or blanks is read as one: {shown}"]


def _folded(column: pl.Series) -> pl.Series:
    """Return texts without capitals and doubled blanks."""
    return column.str.to_lowercase().str.replace_all(r"\s+", " ")


def _spelling_to_keep(values: Iterable[str]) -> dict[str, str]:
    """Return {spelling: the most frequent spelling} of the texts that differ only by capitals and blanks."""
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for value in values:
        groups[" ".join(value.split()).casefold()][value] += 1
    kept: dict[str, str] = {}
    for folded, spellings in groups.items():
        if len(spellings) > 1 and len(folded) >= MIN_LETTERS:
            most = max(sorted(spellings), key=lambda one: spellings[one])
            kept |= {one: most for one in spellings if one != most}
    return kept
