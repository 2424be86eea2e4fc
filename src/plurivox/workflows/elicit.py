"""From what people entered to votes, and the folder or table they are written to."""

from functools import partial
from pathlib import Path
from typing import Any

from plurivox import elicit, io
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.elicit import Elicited, Form
from plurivox.io import Dataset
from plurivox.io.folder_writer import vote_columns
from plurivox.io.tabular.file_names import TABLE_SUFFIXES, suffix_of
from plurivox.io.vote_frames import warn_notes


def elicit_votes(answers: Answers | Dataset | str | Path, form: str | Form = "as-asked", **options: Any) -> Elicited:
    """Votes of what people entered, by a form of that name with its options.

    `answers` are Answers, a Dataset that holds some, or the path or the name of one. What was dropped or guessed when the
    answers were read is told as a PlurivoxWarning.

    >>> marks = [("named", "cat", "70"), ("named", "dog", "20")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["bird", "cat", "dog"])
    >>> elicit_votes(answers, "top-two", gamma=0.1).votes.counts()
    array([[0.1, 0.7, 0.2]])
    """
    if isinstance(answers, str | Path):
        answers = io.read(answers)
    if isinstance(answers, Dataset):
        answers = _answers_in(answers)
        warn_notes(answers.notes)
    return elicit.methods.make(form, **options).read(answers)


def _answers_in(data: Dataset) -> Answers:
    """What people entered, or an error that says what a data set holds instead."""
    if (answers := data.answers) is not None:
        return answers
    if data.has("votes"):
        raise InputError(
            f"{data.name} holds votes, which need no form: aggregate them as they are. What people entered has columns "
            "such as top, top_percent, second, never or possible"
        )
    raise InputError(
        f"{data.name} holds no answers; it holds {', '.join(data.parts())}: elicit reads what people entered, with the "
        "columns task, worker, top, top_percent and so on"
    )


def write_elicited(
    found: Elicited,
    out: str | Path,
    source: Dataset | None = None,
    *,
    command: str = "",
    replace: bool = False,
    form: str = "parquet",
) -> Dataset:
    """Write elicited votes, and return what was written: as a table where `out` is a file's name, else as a data-set folder.

    The folder has what the source knows of tasks and workers beside the votes. Its table `apart` lists the answers that
    became no vote, and why; `flags` what was odd about answers.
    """
    if suffix_of(out) in TABLE_SUFFIXES and not Path(out).is_dir():
        io.write_table(vote_columns(found.votes), out)
        return Dataset(Path(out).name.split(".")[0], votes=found.votes)
    tables = {"apart": found.apart(), "flags": found.flagged()}
    parts = (
        () if source is None else tuple(part for part in ("gold", "items", "features", "workers") if source.has(part))
    )
    data = Dataset(
        Path(out).resolve().name,
        about={"description": f"elicited: {found.made_by}", "command": command},
        votes=found.votes,
        tables={name: partial(io.frame_of, columns, name) for name, columns in tables.items() if len(columns["task"])},
        **{part: getattr(source, part) for part in parts},
    )
    io.write(data, out, replace=replace, form=form)
    return data
