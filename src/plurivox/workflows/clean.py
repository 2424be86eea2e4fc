"""Clean a whole data set: its answers or votes by rules and by scores, everything else carried over."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plurivox import clean, io
from plurivox.clean import Cleaned, Rule
from plurivox.core.answers import Answers
from plurivox.core.audit import Audit
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.progress import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Identifier
from plurivox.io.dataset import CROWD_PARTS, Dataset
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.soft_label_files import as_soft_labels
from plurivox.workflows.prune_crowd import prune


def clean_set(
    data: Dataset | str | Path,
    rules: Sequence[str | Rule] = (),
    gold: SoftLabels | str | Path | None = None,
    *,
    part: str | None = None,
    drop: Mapping[str, str | Identifier] | None = None,
    quantile: float | None = None,
    progress: Progress = no_progress,
) -> tuple[Dataset, Audit]:
    """A new data set without what the rules remove, then without the worst by a score; and an audit of what went.

    Rules look at the answers where there are some, else at the votes, or at the `part` named. What else people said is
    left out of the new set, because it would still hold what was removed; gold, items, features and further tables come
    along. `drop` maps "worker" or "task" to the score by which the worst `quantile` of them is dropped, as `prune` does.
    """
    data = as_dataset(data)
    known, audits = as_soft_labels(gold), []
    if rules or not drop:
        data, audit = _by_rules(data, rules, known, part)
        audits.append(audit)
    for of, score in (drop or {}).items():
        if quantile is None:
            raise OptionError("drop needs a quantile, the share of the worst that goes, such as 0.1")
        data, audit = prune(data, score, quantile, of=of, gold=known, progress=progress)
        audits.append(audit)
    return data, Audit.joined(audits)


def _by_rules(
    data: Dataset, rules: Sequence[str | Rule], gold: SoftLabels | None, part: str | None
) -> tuple[Dataset, Audit]:
    chosen = choose_part(data, part)
    said: Answers | Votes = getattr(data, chosen)
    done: Cleaned[Any] = clean.clean(said, rules, data.gold if gold is None else gold)
    lost = [one for one in CROWD_PARTS if data.has(one) and one != chosen]
    if lost:
        words = f"{data.name}: the {chosen} are cleaned; left out: {', '.join(lost)}, which would hold what was removed"
        warnings.warn(words, PlurivoxWarning, stacklevel=3)
    return data.with_crowd({chosen: done.answers}), done.audit


def choose_part(data: Dataset, part: str | None) -> str:
    """Which part the rules look at: the one named, else answers before votes."""
    if part is not None and part not in CROWD_PARTS[:2]:
        raise InputError(f"rules look at answers or votes, not at {part!r}")
    for one in CROWD_PARTS[:2] if part is None else (part,):
        if data.has(one):
            return one
    if part is None and data.has("counts"):
        raise InputError(f"{data.name} has counts without names; rules look at answers or votes of named people")
    raise InputError(f"{data.name} has no {part or 'answers or votes'} to clean; it has {', '.join(data.parts())}")


def counted_part(data: Dataset, part: str | None, *, by_workers: bool) -> str:
    """The part whose sizes tell what a cleaning did: the one that rules and scores of workers look at, else the largest.

    Counts may hold more answers than the votes of named people, and tasks are dropped from both.
    """
    if by_workers:
        return choose_part(data, part)
    said = [one for one in CROWD_PARTS if data.has(one)]
    if not said:
        raise InputError(f"{data.name} holds nothing that people said; it has {', '.join(data.parts())}")
    return max(said, key=lambda one: sizes_of(data, one)["answers"])


def sizes_of(data: Dataset, part: str) -> dict[str, int]:
    """How many answers, workers and tasks one part of what people said holds."""
    said = getattr(data, part)
    n = len(said) if part == "answers" else round(said.n_answers)
    return {"answers": n, "workers": len(said.workers), "tasks": len(said.tasks)}


def write_cleaned(
    data: Dataset, audit: Audit, folder: str | Path, *, command: str = "", replace: bool = False
) -> Dataset:
    """Write a cleaned data set as a folder with `audit.csv` in it."""
    about = {**data.about, **({"command": command} if command else {})}
    parts: dict[str, Any] = {one: partial(getattr, data, one) for one in data.parts()}
    named = Dataset(Path(folder).resolve().name, about=about, tables=data.tables, path=data.path, **parts)
    io.write(named, folder, replace=replace, beside={"audit.csv": audit.columns()})
    return named
