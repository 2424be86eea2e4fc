"""Turn answers into votes (elicitation), and write the votes as a table or data set folder."""

from functools import partial
from pathlib import Path
from typing import Any

from plurivox import elicit, io
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.elicit import Elicited, Form
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.plurivox_folder_writer import vote_columns_with_rows_for_unvoted
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.io.votes_from_tables import warn_notes


def elicit_votes(answers: Any, form: str | Form = "form-column", **options: Any) -> Elicited:
    """Return the votes that answers are converted to by the elicitation form of this name, with its options.

    `answers` are Answers, a Dataset with answers, the path or the name of one, or a DataFrame. What was dropped or inferred
    when the answers were read is reported as a PlurivoxWarning.

    >>> marks = [("named", "cat", "70"), ("named", "dog", "20")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["bird", "cat", "dog"])
    >>> elicit_votes(answers, "top-two", gamma=0.1).votes.counts()
    array([[0.1, 0.7, 0.2]])
    """
    if not isinstance(answers, Answers):
        answers = as_dataset(answers)
    if isinstance(answers, Dataset):
        answers = _require_answers_of_dataset(answers)
        warn_notes(answers.notes)
    return elicit.methods.make(form, **options).read(answers)


def _require_answers_of_dataset(data: Dataset) -> Answers:
    """Return the answers of a data set; raise InputError if it has none."""
    if (answers := data.answers) is not None:
        return answers
    if data.has("votes"):
        raise InputError(
            f"{data.name} contains votes, which need no elicitation: aggregate them directly. Answers have columns such as "
            "top, top_percent, second, never or possible"
        )
    raise InputError(
        f"{data.name} has no answers; it contains {', '.join(data.parts())}: elicitation needs a table of answers with the "
        "columns task, worker, top, top_percent, ..."
    )


def write_elicited(
    elicited: Elicited,
    out: str | Path,
    source: Dataset | None = None,
    *,
    command: str = "",
    replace: bool = False,
    form: str = "parquet",
) -> Dataset:
    """Write elicited votes to a table if `out` is a file name, else to a data set folder; return the Dataset written.

    The folder also contains gold, items, features and workers of the source. Its table `apart` lists the answers that
    did not become votes, and why; `flags` lists odd answers.
    """
    if file_suffix(out) in TABLE_SUFFIXES and not Path(out).is_dir():
        io.write_table(vote_columns_with_rows_for_unvoted(elicited.votes), out)
        return Dataset(Path(out).name.split(".")[0], votes=elicited.votes)
    tables = {"apart": elicited.table_of_answers_without_vote(), "flags": elicited.table_of_answer_flags()}
    parts = (
        () if source is None else tuple(part for part in ("gold", "items", "features", "workers") if source.has(part))
    )
    data = Dataset(
        Path(out).resolve().name,
        about={"description": f"elicited: {elicited.made_by}", "command": command},
        votes=elicited.votes,
        tables={name: partial(io.frame_of, columns, name) for name, columns in tables.items() if len(columns["task"])},
        **{part: getattr(source, part) for part in parts},
    )
    io.write(data, out, replace=replace, form=form)
    return data
