"""Clean a whole data set: its answers or votes by rules, everything else carried over."""

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plurivox import clean, io
from plurivox.clean import Cleaned, Rule
from plurivox.core.answers import Answers
from plurivox.core.audit import Audit
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset

SPEAKING = ("answers", "votes", "counts")  # the parts that hold what people said
AS_READ = ("answers", "votes", "counts", "votes_as_read")  # tables with what was said before it was cleaned


def clean_set(
    data: Dataset, rules: Sequence[str | Rule], gold: SoftLabels | None = None, *, part: str | None = None
) -> tuple[Dataset, Audit]:
    """A new data set without what the rules remove, and their audit; `data` stays as it is.

    Rules look at the answers where there are some, else at the votes, or at the `part` named. What else people said is
    left out of the new set, because it would still hold what was removed; gold, items, features and further tables come
    along.
    """
    chosen = choose_part(data, part)
    said: Answers | Votes = getattr(data, chosen)
    known = data.gold if gold is None else gold
    done: Cleaned[Any] = clean.clean(said, rules, known)
    lost = [one for one in SPEAKING if data.has(one) and one != chosen]
    if lost:
        words = f"{data.name}: the {chosen} are cleaned; left out: {', '.join(lost)}, which would hold what was removed"
        warnings.warn(words, PlurivoxWarning, stacklevel=2)
    return with_parts(data, {chosen: done.answers}), done.audit


def choose_part(data: Dataset, part: str | None) -> str:
    """Which part the rules look at: the one named, else answers before votes."""
    if part is not None and part not in SPEAKING[:2]:
        raise InputError(f"rules look at answers or votes, not at {part!r}")
    for one in SPEAKING[:2] if part is None else (part,):
        if data.has(one):
            return one
    if part is None and data.has("counts"):
        raise InputError(f"{data.name} has counts without names; rules look at answers or votes of named people")
    raise InputError(f"{data.name} has no {part or 'answers or votes'} to clean; it has {', '.join(data.parts())}")


def with_parts(data: Dataset, said: dict[str, Answers | Votes]) -> Dataset:
    """The data set with these answers, votes or counts in the place of all it had; the rest is read when it is needed."""
    rest = {one: partial(getattr, data, one) for one in data.parts() if one not in SPEAKING}
    tables = {name: table for name, table in data.tables.items() if name not in AS_READ}
    if "audit" in tables:  # of an earlier cleaning: kept beside the new one
        number = next(n for n in range(1, 10**6) if f"audit_{n}" not in tables)
        tables[f"audit_{number}"] = tables.pop("audit")
    return Dataset(data.name, about=data.about, tables=tables, path=data.path, **said, **rest)


def write_cleaned(
    data: Dataset, audit: Audit, folder: str | Path, *, command: str = "", replace: bool = False
) -> Dataset:
    """Write a cleaned data set as a folder with `audit.csv` in it."""
    about = {**data.about, **({"command": command} if command else {})}
    parts: dict[str, Any] = {one: partial(getattr, data, one) for one in data.parts()}
    named = Dataset(Path(folder).resolve().name, about=about, tables=data.tables, path=data.path, **parts)
    io.write(named, folder, replace=replace, beside={"audit.csv": audit.columns()})
    return named
