"""Clean a data set: remove answers or votes by rules, and the worst workers or tasks by a score; keep everything else."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plurivox import clean, io
from plurivox.clean import Cleaned, Rule
from plurivox.core.answers import Answers
from plurivox.core.cleaning_audit import Audit
from plurivox.core.errors import InputError, OptionError, warn_user
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Identifier
from plurivox.io.dataset import CROWD_PARTS, Dataset
from plurivox.io.dataset_conversion import write_main_part
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.workflows.prune_by_score import prune


def clean_set(
    data: Any,
    rules: str | Rule | Sequence[str | Rule] = (),
    gold: Any = None,
    *,
    part: str | None = None,
    drop: Mapping[str, str | Identifier] | None = None,
    quantile: float | None = None,
    progress: Progress = no_progress,
) -> tuple[Dataset, Audit]:
    """Return a data set without the answers removed by rules and the worst by a score, and an audit of what was removed.

    Rules are applied to the answers if there are any, else to the votes, or to the `part` named. The other two of answers,
    votes and counts are left out of the new data set, because they would still contain what was removed; gold, items,
    features and further tables are kept. `data` and `gold` are given as to `pv.fit`. `drop` maps "worker" or "task" to the
    score by which the worst `quantile` is dropped, as `prune` does.
    """
    data = as_dataset(data)
    rules = [rules] if isinstance(rules, str | Rule) else rules
    known, audits = as_soft_labels(gold, data), []
    if rules or not drop:
        data, audit = _clean_by_rules_and_audit(data, rules, known, part)
        audits.append(audit)
    for of, score in (drop or {}).items():
        if quantile is None:
            raise OptionError("drop needs a quantile, the share of the worst to drop, such as 0.1")
        data, audit = prune(data, score, quantile, of=of, gold=known, progress=progress)
        audits.append(audit)
    return data, Audit.joined(audits)


def _clean_by_rules_and_audit(
    data: Dataset, rules: Sequence[str | Rule], gold: SoftLabels | None, part: str | None
) -> tuple[Dataset, Audit]:
    """Return the data set cleaned by rules, and the audit of removed answers; warn about parts that are left out."""
    chosen = name_of_part_to_clean(data, part)
    crowd: Answers | Votes = getattr(data, chosen)
    done: Cleaned[Any] = clean.clean(crowd, rules, data.gold if gold is None else gold)
    lost = [one for one in CROWD_PARTS if data.has(one) and one != chosen]
    if lost:
        message = (
            f"{data.name}: the {chosen} are cleaned; left out: {', '.join(lost)}, which would contain what was removed"
        )
        warn_user(message)
    return data.with_crowd({chosen: done.answers}), done.audit


def name_of_part_to_clean(data: Dataset, requested_part: str | None) -> str:
    """Return the part that rules apply to: the requested one, else "answers", else "votes"; raise InputError if absent."""
    if requested_part is not None and requested_part not in CROWD_PARTS[:2]:
        raise InputError(f"unknown part {requested_part!r}; rules apply to answers or votes")
    for one in CROWD_PARTS[:2] if requested_part is None else (requested_part,):
        if data.has(one):
            return one
    if requested_part is None and data.has("counts"):
        raise InputError(f"{data.name} has counts without worker names; rules need answers or votes with worker names")
    raise InputError(
        f"{data.name} has no {requested_part or 'answers or votes'} to clean; it has {', '.join(data.parts())}"
    )


def name_of_cleaned_or_largest_part(data: Dataset, requested_part: str | None, *, by_rules_or_workers: bool) -> str:
    """Return the part (answers, votes, counts) to report sizes of: the one cleaned by rules or workers, else the largest.

    Counts may have more answers than the votes with names, and tasks are dropped from both.
    """
    if by_rules_or_workers:
        return name_of_part_to_clean(data, requested_part)
    present = [one for one in CROWD_PARTS if data.has(one)]
    if not present:
        raise InputError(f"{data.name} has no answers, votes or counts; it has {', '.join(data.parts())}")
    return max(present, key=lambda one: count_answers_workers_and_tasks(data, one)["answers"])


def count_answers_workers_and_tasks(data: Dataset, part: str) -> dict[str, int]:
    """Return the number of answers, workers and tasks in one part (answers, votes or counts)."""
    crowd = getattr(data, part)
    n = len(crowd) if part == "answers" else round(crowd.n_answers)
    return {"answers": n, "workers": len(crowd.workers), "tasks": len(crowd.tasks)}


def write_cleaned(
    data: Dataset, audit: Audit, folder: str | Path, *, command: str = "", replace: bool = False
) -> Dataset:
    """Write a cleaned data set as a folder that also contains `audit.csv`; return the data set with the folder's name.

    If `folder` is the name of a table (.csv, ...) or .npz, only the answers or votes that are kept are written.
    """
    if file_suffix(folder) in (*TABLE_SUFFIXES, ".npz") and not Path(folder).is_dir():
        write_main_part(data, folder)
        return data
    about = {**data.about, **({"command": command} if command else {})}
    parts: dict[str, Any] = {one: partial(getattr, data, one) for one in data.parts()}
    named = Dataset(Path(folder).resolve().name, about=about, tables=data.tables, path=data.path, **parts)
    io.write(named, folder, replace=replace, beside={"audit.csv": audit.columns()})
    return named
