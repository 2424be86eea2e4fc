"""The short way from answers to votes, and the folder they are written to."""

from functools import partial
from pathlib import Path
from typing import Any

from plurivox import elicit, io
from plurivox.core.answers import Answers
from plurivox.elicit import Elicited, Form
from plurivox.io import Dataset
from plurivox.io.folder_check import may_replace


def elicit_votes(answers: Answers, form: str | Form = "as-asked", **options: Any) -> Elicited:
    """Answers as votes, by a form of that name with its options.

    >>> marks = [("named", "cat", "70"), ("named", "dog", "20")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["bird", "cat", "dog"])
    >>> elicit_votes(answers, "top-two", gamma=0.1).votes.counts()
    array([[0.1, 0.7, 0.2]])
    """
    return elicit.methods.make(form, **options).read(answers)


def write_elicited(
    found: Elicited,
    folder: str | Path,
    source: Dataset | None = None,
    *,
    command: str = "",
    replace: bool = False,
    form: str = "parquet",
) -> Dataset:
    """Write elicited votes as a data-set folder, with what the source knows of tasks and workers beside them.

    The table `apart` lists the answers that became no vote, and why; `flags` what was odd about answers.
    """
    if replace:
        may_replace(folder)
    tables = {"apart": found.apart(), "flags": found.flagged()}
    parts = (
        () if source is None else tuple(part for part in ("gold", "items", "features", "workers") if source.has(part))
    )
    data = Dataset(
        Path(folder).resolve().name,
        about={"description": f"elicited: {found.made_by}", "command": command},
        votes=found.votes,
        tables={name: partial(io.frame_of, columns, name) for name, columns in tables.items() if len(columns["task"])},
        **{part: getattr(source, part) for part in parts},
    )
    io.write(data, Path(folder), replace=replace, form=form)
    return data
