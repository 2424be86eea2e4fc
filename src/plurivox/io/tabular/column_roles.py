"""Find the columns with the tasks, workers, labels and gold labels of a table by their usual names.

Case, spaces, `_` and `-` do not matter. A column with plurivox's own name (`task`, `worker`, `label`) is used first; then the
names of each line below, the most specific first. Two columns of one line are ambiguous: an error names them.
"""

import re
from collections.abc import Collection, Mapping

from plurivox.core.errors import InputError
from plurivox.io.tabular.table_files import Columns

NAMED_BY_ID = (
    *(
        "image",
        "img",
        "picture",
        "photo",
        "file",
        "audio",
        "video",
        "clip",
        "text",
        "doc",
        "document",
        "sentence",
        "tweet",
    ),
    *("post", "comment", "review", "article", "page", "product", "pair"),
)
CONTENTS = (
    "text",
    "sentence",
    "tweet",
    "url",
    "document",
    "prompt",
    "post",
    "passage",
    "snippet",
    "utterance",
    "headline",
)
ROW_IDS = ("id", "idx")
USUAL_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "task": (
        ("task", "taskid", "taskname"),
        tuple(
            name + end
            for name in ("item", "unit", "question", "example", "sample", "instance", "object", "case", "stimulus")
            for end in ("", "id")
        ),
        (
            *("image", "img", "imagename", "imagefile", "imagepath", "imageurl", "picture", "photo", "audio", "video"),
            *(
                "file",
                "filename",
                "filepath",
                "path",
                "datapoint",
                "recordid",
                "messageid",
                "utteranceid",
                "urlid",
                "hitid",
            ),
            *(f"{name}id" for name in NAMED_BY_ID),
        ),
        CONTENTS,
        ROW_IDS,
    ),
    "worker": (
        ("worker", "workerid", "workername"),
        (
            *(
                name + end
                for name in (
                    *("annotator", "rater", "coder", "labeler", "labeller", "judge", "turker", "participant"),
                    *("respondent", "crowdworker", "performer", "grader", "assessor", "prolific"),
                )
                for end in ("", "id", "name")
            ),
            *("annotatedby", "labeledby", "labelledby", "completedby"),
        ),
        ("user", "userid", "username", "email", "useremail", "person", "personid", "createdby"),
    ),
    "label": (
        ("label", "labels", "labelname"),
        (
            *("class", "classname", "category", "choice", "vote", "rating", "answer", "response", "annotation"),
            *("judgment", "judgement", "workerlabel", "crowdlabel", "chosenlabel", "selectedlabel", "grade"),
        ),
        ("value", "score", "target", "tag", "result"),
    ),
    "gold": (
        (
            *("gold", "goldlabel", "goldstandard", "truth", "truelabel", "groundtruth", "groundtruthlabel", "gt"),
            *("correctlabel", "ytrue"),
        ),
    ),
    "when": (("when",), ("timestamp", "createdat", "submittedat", "annotatedat", "answeredat")),
    "seconds": (("seconds",), ("leadtime", "timespent", "worktimeinseconds", "durationseconds", "elapsedseconds")),
}
WORKER_NUMBER = re.compile(
    r"(worker|annotator|annot|anno|ann|rater|coder|judge|labell?er|participant|user|expert|turker|reader|[arw])"
    r"[ _.-]*(\d+|[a-z])",
    re.IGNORECASE,
)


def bare_name(column: str) -> str:
    """Return a column name in lower case without spaces, `_`, `-` and other marks.

    >>> bare_name("Worker ID"), bare_name("WorkerId"), bare_name("worker-id")
    ('workerid', 'workerid', 'workerid')
    """
    return re.sub(r"[\W_]+", "", column).lower()


def find_column(table: Columns, role: str, taken: Collection[str | None] = ()) -> str | None:
    """Return the column of a table that has this role by its name, not one of those `taken`; None if there is none.

    `role` is task, worker, label, gold, when or seconds. Raise InputError if two columns fit equally well.
    """
    if role in table.names and role not in taken:
        return role
    free = [name for name in table.names if name not in taken]
    lines = USUAL_NAMES[role]
    for line in lines:
        found = [name for name in free if bare_name(name) in line and table.may_hold_names(name)]
        # image_id rather than image, question_id rather than question
        stems = {bare_name(name).removesuffix("id") for name in found if bare_name(name).endswith("id")}
        found = [name for name in found if bare_name(name) not in stems] or found
        if line is CONTENTS and found and (ids := [name for name in free if bare_name(name) in ROW_IDS]):
            found = found if _names_tasks_better(table, found[0], ids[0]) else ids
        if len(found) > 1:
            raise _ambiguous_error(table, role, found)
        if found:
            return found[0]
    return None


def find_gold_label_column(table: Columns, task: str | None) -> str | None:
    """Return the column with the labels of a table of gold labels: `label`, gold, truth, ..., class, ...; None: it has none.

    `y` counts only if there is no other column: x and y may be labels with a column of probabilities each.
    """
    if "label" in table.names and task != "label":
        return "label"
    if [bare_name(name) for name in table.names if name != task] == ["y"]:
        return next(name for name in table.names if name != task)
    return find_column(table, "gold", [task]) or find_column(table, "label", [task])


def has_name_of_numbered_worker(column: str) -> bool:
    """Return whether a column is named as one of several workers.

    >>> [has_name_of_numbered_worker(name) for name in ("annotator_1", "Rater B", "w03", "ann", "answer1")]
    [True, True, True, False, False]
    """
    return WORKER_NUMBER.fullmatch(column.strip()) is not None


def note_on_columns_found(column_by_role: Mapping[str, str | None], *, options: bool = True) -> list[str]:
    """Return a note on the columns found by other names than plurivox's own, with the options for others; else no note.

    >>> note_on_columns_found({"task": "image", "worker": "Worker", "label": "rating"}, options=False)
    ["read 'image' as the task, 'Worker' as the worker, 'rating' as the label"]
    """
    if all(column is None or bare_name(column) == role for role, column in column_by_role.items()):
        return []
    found = ", ".join(f"{name!r} as the {role}" for role, name in column_by_role.items() if name is not None)
    roles = [role for role, name in column_by_role.items() if name is not None]
    if not options:
        return [f"read {found}"]
    python, flags = ", ".join(f"{role}=..." for role in roles), ", ".join(f"--{role}" for role in roles)
    return [f"read {found}; other columns: {python} ({flags})"]


def _names_tasks_better(table: Columns, contents: str, row_id: str) -> bool:
    """Return whether the contents (a text, a URL) name the tasks better than an id: it numbers rows, and contents repeat."""
    return table[row_id].n_unique() == len(table[row_id]) and table[contents].n_unique() < len(table[contents])


def _ambiguous_error(table: Columns, role: str, found: list[str]) -> InputError:
    """Return the error for several columns that may have a role, with how to select one."""
    columns = " and ".join(repr(name) for name in found[:3])
    word = found[0] if " " not in found[0] else f'"{found[0]}"'
    roles = {"gold": "label", "when": "when", "seconds": "seconds"}
    option = roles.get(role, role)
    flag = f" (--{option} {word})" if option in ("task", "worker", "label") else ""
    return InputError(
        f"{table.where}: the columns {columns} may each be the {role if role != 'gold' else 'gold label'}; "
        f"select one, for example {option}={found[0]!r}{flag}"
    )
