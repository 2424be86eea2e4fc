"""Build Votes from a DataFrame, a mapping of columns or arrays: long and wide tables of votes, and tables of counts."""

from collections.abc import Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from plurivox.core.array_types import Bools, Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError, first_few, warn_user
from plurivox.core.name_encoding import (
    as_names,
    as_text,
    label_positions_on_scale_or_none,
    positions,
    sort_distinct_names_by_value,
    sorted_names,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.gold_in_votes_table import gold_in_votes_table
from plurivox.io.optional_vote_columns import OPTIONAL_COLUMNS, read_optional_columns
from plurivox.io.proposed_vote_columns import check_has_vote_columns, with_column_found_by_values
from plurivox.io.repeated_answers import drop_repeats_and_return_notes
from plurivox.io.tabular.column_conversion import (
    codes_names_and_notes_of_column,
    whole_numbers_without_decimals_or_none,
)
from plurivox.io.tabular.table_files import Columns
from plurivox.io.votes_table_layout import VotesLayout, is_wide, layout_of_votes

__all__ = ["is_wide", "votes", "votes_and_gold", "warn_notes"]

# texts that pandas reads as missing, in the label column of a CSV or TSV
PANDAS_MISSING = (
    *(
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
    ),
    *("NaN", "None", "n/a", "nan", "null"),
)
MAYBE_LABELS = (
    "None",
    "N/A",
    "n/a",
)  # of these, texts that long tables of votes also have as labels: none of the others
MAYBE_MISSING = ("?", "-", *PANDAS_MISSING)  # labels that get a hint

Repeats = Literal["keep", "first", "last", "error"]


def votes(
    data: Any = None,
    *,
    task: Any = "task",
    worker: Any = "worker",
    label: Any = "label",
    weight: Any = "weight",
    answer: Any = None,
    when: Any = "when",
    seconds: Any = "seconds",
    wide: bool | None = None,
    missing: object = None,
    repeats: Repeats = "keep",
    labels: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    workers: Iterable[object] | None = None,
    ordered: bool | Iterable[float] | None = None,
    where: str = "the table",
) -> Votes:
    """Return the Votes in a pandas, polars or Arrow table, a list of records, a numpy matrix, a mapping of columns, or arrays.

    Long tables have one row per vote; `task`, `worker` and `label` name their columns, which are otherwise found by their
    usual names (`item_id`, `image`, ...; `annotator`, `user`, ...; `class`, `choice`, ...), with a note. A named index of a
    pandas frame may be the task or the worker. Wide tables have one row per task and one column per worker. They are
    recognised if that is clear, with a note; else `wide=True`: `worker` is the list of these columns, by default all but the
    task column, and a column whose values are nearly all different (text, ids, dates) is then an error. A numpy matrix is
    wide; its tasks and workers are numbered, and NaN, None and, among whole numbers, -1 mean "no answer". `worker=None`:
    the votes are unnamed.

    `missing` is the value, or list of values, that means "no answer"; by default, in CSV and TSV, the texts that pandas reads
    as missing, such as NA (`[]`: none). `repeats` selects among several answers of a worker to one task. `labels` and `tasks`
    set the lists of labels and tasks and their order, with those that have no vote; without a list they are sorted. An
    ordered categorical column of labels keeps its order, and its labels are `ordered`.

    The columns `weight`, `when` and `seconds` are used if present; if another name is given, that column is required. `answer`
    is the column with the number of the answer to which a soft vote belongs; by default `answer` if there is a column `weight`.
    With plain arrays they are arrays too. `where` names the table in errors.

    What is dropped, merged or inferred stands in the votes' `notes` and is reported as a `PlurivoxWarning`.

    >>> votes(task=["a", "a", "b"], worker=[1, 2, 1], label=["x", "y", "x"])
    <Votes: 3 votes, 2 tasks, 2 workers, 2 labels>
    >>> votes(np.array([[1, 0], [1, 1], [np.nan, 1]])).counts().tolist()
    [[1.0, 1.0], [0.0, 2.0], [0.0, 1.0]]
    >>> wide = {"site": ["a", "b"], "ann": ["x", None], "bo": ["y", "y"], "comment": ["dark", "fine"]}
    >>> votes(wide, task="site", worker=["ann", "bo"]).counts()
    array([[1., 1.],
           [0., 1.]])
    """
    columns: dict[str, Any] = {"task": task, "worker": worker, "label": label, "wide": wide}
    extras = {"weight": weight, "answer": answer, "when": when, "seconds": seconds}
    rules: dict[str, Any] = {
        "missing": missing,
        "repeats": repeats,
        "labels": labels,
        "tasks": tasks,
        "workers": workers,
    }
    if data is not None and not isinstance(data, Columns | np.ndarray):
        from plurivox.io.dataset_of_export import votes_of_export_or_none  # it makes Votes by this function

        exported = votes_of_export_or_none(data, where, **columns, **extras, **rules, ordered=ordered)
        if exported is not None:
            return exported
    made, _ = _votes_and_layout(data, columns, extras, rules, ordered, where)
    warn_notes(made.notes)
    return made


def votes_and_gold(data: Any, *, where: str = "the table", **options: Any) -> tuple[Votes, SoftLabels | None]:
    """Return the Votes in a table, and the gold labels in its column `gold`, `truth`, `ground_truth`, ..., if it has one.

    `options` are those of `votes`. A column is gold if each task has one value there, and the votes know some of the values.

    >>> table = {"task": ["a", "a"], "worker": [1, 2], "label": ["x", "y"], "truth": ["x", "x"]}
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     votes_and_gold(table)[1].hard().tolist()
    ['x']
    """
    columns = {role: options.pop(role, role) for role in ("task", "worker", "label")} | {
        "wide": options.pop("wide", None)
    }
    extras = {role: options.pop(role, None if role == "answer" else role) for role in OPTIONAL_COLUMNS}
    ordered = options.pop("ordered", None)
    rules = dict.fromkeys(("missing", "labels", "tasks", "workers")) | {"repeats": "keep"} | options
    made, layout = _votes_and_layout(data, columns, extras, rules, ordered, where)
    gold, notes = gold_in_votes_table(layout, made)
    warn_notes([*made.notes, *notes])
    return made, gold


def _votes_and_layout(
    data: Any,
    columns: dict[str, Any],
    extras: dict[str, Any],
    rules: dict[str, Any],
    ordered: bool | Iterable[float] | None,
    where: str,
) -> tuple[Votes, VotesLayout]:
    """Return votes, with notes but without warnings, and the layout of their table."""
    repeats, labels = rules["repeats"], rules["labels"]
    if repeats not in get_args(Repeats):
        raise OptionError(f"repeats must be one of {', '.join(get_args(Repeats))}; got {repeats!r}")
    if isinstance(labels, str):
        raise InputError(f"labels must be a list; got the text {labels!r}")
    labels = labels if labels is None or isinstance(labels, Set) else list(labels)
    layout = layout_of_votes(data, **columns, extras=extras, where=where, is_minus_one_missing=rules["missing"] is None)
    if not layout.has_all_columns:
        layout = with_column_found_by_values(layout)
        check_has_vote_columns(layout)
    table = layout.table
    scale_in_table = table.ordered_categories_or_none(layout.label)
    if labels is None and scale_in_table is not None:
        labels, ordered = scale_in_table, True if ordered is None else ordered
    reader = _VoteReader(table, rules["missing"], labels, layout.is_wide, layout.notes)
    coded = reader.encode_task_worker_label_columns(layout.task, layout.worker, layout.label)
    optional, notes = read_optional_columns(extras, layout, has_table=data is not None)
    reader.notes += notes
    coded |= optional
    coded = reader.drop_rows_without_task_or_label(coded)
    if repeats != "keep":
        coded, notes = drop_repeats_and_return_notes(coded, reader.names, repeats)
        reader.notes += notes
    names = reader.final_name_lists_and_recode_columns(
        coded, tasks=rules["tasks"], workers=rules["workers"], labels=labels
    )
    made = Votes.coded(
        **coded,
        **names,
        scale=label_positions_on_scale_or_none(names["labels"], False if ordered is None else ordered),
        notes=tuple(reader.notes),
        missing=reader.n_missing,
    )
    if repeats == "keep" and made.n_repeats:
        note = (
            f"{count_text(made.n_repeats, 'answer is', 'answers are')} a worker's second or later answer to the same task: "
            "aggregation uses all answers, measures of agreement and assign only the first"
        )
        made = replace(made, notes=(*made.notes, note))
    return made, layout


class _VoteReader:
    """Reader of one table of votes: encodes its columns, drops rows without a vote, and collects notes on what it dropped."""

    def __init__(
        self, table: Columns, missing: object, labels: Iterable[object] | None, wide: bool, notes: Sequence[str] = ()
    ) -> None:
        self.table, self.wide = table, wide
        self.is_missing_given, self.are_labels_given = missing is not None, labels is not None
        self.missing = _labels_meaning_no_answer(missing, labels, is_untyped=table.is_untyped)
        self.notes: list[str] = list(notes)
        self.n_missing = 0  # rows without a label
        self.names: dict[str, Names] = {}

    def encode_task_worker_label_columns(self, task: str, worker: str | None, label: str) -> dict[str, Any]:
        """Return {"task", "worker", "label"} as integer codes, -1 if missing; set `self.names` to the sorted names of each."""
        wanted = {
            role: name for role, name in (("task", task), ("worker", worker), ("label", label)) if name is not None
        }
        with ThreadPoolExecutor(2) as pool:  # encode the task column and the others in parallel
            coded = dict(
                zip(
                    wanted,
                    pool.map(lambda role: codes_names_and_notes_of_column(self.table[wanted[role]], role), wanted),
                    strict=True,
                )
            )
        columns: dict[str, Any] = {role: codes for role, (codes, _, _) in coded.items()}
        self.names = {role: names for role, (_, names, _) in coded.items()}
        self.notes += [note for _, _, notes in coded.values() for note in notes]
        for role in wanted if self.table.is_untyped else ():
            self._name_whole_numbers_without_decimals(role)
        if worker is None:
            columns["worker"], self.names["worker"] = np.full(len(columns["task"]), UNNAMED), as_names([])
        if not len(columns["task"]):
            raise InputError(f"{self.table.where} has no rows; a table of votes needs at least one")
        return columns

    def _name_whole_numbers_without_decimals(self, role: str) -> None:
        """Rename 1.0, 2.0, ... in `self.names` to 1, 2, ... if all names of a role are such texts, with a note."""
        names = self.names[role]
        whole = whole_numbers_without_decimals_or_none(names, PANDAS_MISSING)
        if whole is not None:
            self.names[role] = whole
            first = next(name for name in names.tolist() if name not in PANDAS_MISSING)
            self.notes.append(f"{role}s are whole numbers written as decimals: {first} is read as {first[:-2]}")

    def drop_rows_without_task_or_label(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns without rows that have no task or label, and note them; raise InputError if no vote is left."""
        no_label = columns["label"] < 0
        # lists a task or a worker that has no vote
        name_only = no_label & ((columns["task"] < 0) ^ (columns["worker"] < 0))
        abstained = self._unset_no_answer_labels_and_return_mask(columns) & ~no_label
        no_label, no_task = no_label & ~name_only, (columns["task"] < 0) & ~name_only
        unnamed = (columns["worker"] < 0) & ~(no_task | no_label | abstained | name_only)
        if no_task.any():
            self.notes.append(f"{count_text(no_task.sum(), 'row has', 'rows have')} no task; dropped")
        if no_label.any() and not self.wide:  # an empty cell of a wide table: the worker was not asked
            self.notes.append(
                f"{count_text(no_label.sum(), 'row has', 'rows have')} no label; dropped, their tasks stay"
            )
        if unnamed.any() and len(self.names["worker"]):
            self.notes.append(f"{count_text(unnamed.sum(), 'vote has', 'votes have')} no worker; kept as unnamed votes")
        keep = ~(no_task | no_label | abstained | name_only)
        if not keep.any() and not name_only.all():
            raise InputError(
                f"{self.table.where} has {count_text(len(keep), 'row')} but no votes: the label is missing in every row"
            )
        self._note_if_a_label_may_mean_no_answer()
        self.n_missing = int(abstained.sum()) + (0 if self.wide else int(no_label.sum()))
        return columns if keep.all() else {name: column[keep] for name, column in columns.items()}

    def _unset_no_answer_labels_and_return_mask(self, columns: dict[str, Any]) -> Bools:
        """Return (n_rows,) whether the label means "no answer"; remove these labels from `columns` and `names` in place."""
        if not self.is_missing_given and not self.wide and _are_not_numbers(self.names["label"]):
            self.missing = as_names([text for text in self.missing.tolist() if text not in MAYBE_LABELS])
        if not len(self.missing):
            return np.zeros(len(columns["label"]), bool)
        is_missing = positions(self.missing, self.names["label"]) >= 0
        if not is_missing.any() and self.is_missing_given:
            self.notes.append(f"no row has the label {first_few(self.missing)}, which was given as missing")
        abstained = np.append(is_missing, False)[columns["label"]]
        if abstained.any():
            labels = first_few(self.names["label"][is_missing])
            why = (
                "means no answer"
                if self.is_missing_given
                else "is read as no answer, as pandas does (if it is a label: missing=[], --missing '')"
            )
            what = "cell" if self.wide else "row"
            some = count_text(abstained.sum(), f"{what} has", f"{what}s have")
            self.notes.append(f"{some} the label {labels}, which {why}; not votes")
        columns["label"] = np.append(np.where(is_missing, -1, np.cumsum(~is_missing) - 1), -1)[columns["label"]]
        self.names["label"] = self.names["label"][~is_missing]
        return abstained

    def _note_if_a_label_may_mean_no_answer(self) -> None:
        """Add a note to `self.notes` if -1 is the only negative label, or ? or NA is one: it may mean "no answer"."""
        found = positions(self.names["label"], as_names(MAYBE_MISSING))
        unsure = not self.is_missing_given and not self.are_labels_given
        if unsure and self.names["label"].dtype.kind == "T" and (found >= 0).any():
            name = self.names["label"][found[found >= 0][0]]
            self.notes.append(
                f"{name!r} is read as a label; if it means no answer, set missing={name!r} (--missing {name!r})"
            )
        if (
            not self.is_missing_given
            and "-1" in as_text(self.names["label"][:2]).tolist()
            and len(self.names["label"]) > 1
        ):
            others = as_text(self.names["label"])
            if not any(name.startswith("-") for name in others.tolist() if name != "-1"):
                self.notes.append("-1 is read as a label; if it means no answer, set missing=-1 (--missing -1)")

    def final_name_lists_and_recode_columns(
        self, columns: dict[str, Any], **given_names: Iterable[object] | None
    ) -> dict[str, Any]:
        """Return the lists of task, worker and label names, as given or found; recode `columns` in place if they differ."""
        out: dict[str, Any] = {}
        for role in ("task", "worker", "label"):
            names, wanted = self.names[role], given_names[f"{role}s"]
            if wanted is None:
                out[f"{role}s"] = names if role != "label" else sort_distinct_names_by_value(names)
            else:
                fixed = as_names(list(wanted), f"{role}s")
                out[f"{role}s"] = sorted_names(fixed) if role == "worker" or isinstance(wanted, Set) else fixed
            if not np.array_equal(out[f"{role}s"], names):
                self._recode_as_positions_in_names(columns, role, out[f"{role}s"])
        return out

    def _recode_as_positions_in_names(self, columns: dict[str, Any], role: str, names: Names) -> None:
        """Change the codes of one role in `columns` in place to positions in `names`; raise InputError for other names."""
        place = positions(names, self.names[role])
        used = np.zeros(len(place), bool)
        used[columns[role][columns[role] >= 0]] = True
        if len(unlisted := self.names[role][(place < 0) & used]):
            raise InputError(
                f"{self.table.where} has {role}s that are not in the list given: {first_few(unlisted)}; "
                f"the list is {first_few(names, 6)}"
            )
        columns[role] = np.append(place, -1)[columns[role]]


def _labels_meaning_no_answer(missing: object, labels: Iterable[object] | None, *, is_untyped: bool) -> Names:
    """Return the labels that mean "no answer" as a list, from the option `missing` (one value or several).

    Without it they are, in a table without types, the texts that pandas reads as missing and that are not among the `labels`.
    """
    if missing is None:
        known = set() if labels is None else {str(label) for label in labels}
        return as_names([text for text in PANDAS_MISSING if text not in known] if is_untyped else [])
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        return as_names([missing] if missing != "" else [], "missing")
    return as_names(list(missing), "missing")


def _are_not_numbers(label_names: Names) -> bool:
    """Return whether labels, beside the texts that pandas reads as missing, are texts that are not numbers."""
    texts = [text for text in as_text(label_names).tolist() if text not in PANDAS_MISSING]
    return pl.Series(texts, dtype=pl.String).cast(pl.Float64, strict=False).is_null().any()


def warn_notes(notes: Sequence[str]) -> None:
    """Issue one PlurivoxWarning per note on what was dropped, merged or inferred when reading votes."""
    for note in notes:
        warn_user(note)
