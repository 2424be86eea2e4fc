"""Find the columns with the tasks, workers, labels and gold labels of a table by their usual names.

Case, accents, spaces, `_` and `-` do not matter. A column with plurivox's own name (`task`, `worker`, `label`) is used first;
then the names of each line of USUAL_NAMES, the most specific first. Two columns of one line are ambiguous: an error names them.
"""

import re
import shlex
from collections.abc import Collection, Mapping

from plurivox.core.errors import InputError
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import CONTENTS, ROW_IDS, USUAL_NAMES, bare_name

IDENTIFIER_END = re.compile(r"(id|no|number)$")


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
        # image_id rather than image, question number rather than question
        stems = {IDENTIFIER_END.sub("", bare_name(name)) for name in found if IDENTIFIER_END.search(bare_name(name))}
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

    `y` counts only if there is no other column: x and y may be labels with a column of probabilities each. `reference` may be
    the source of a task: `class` and the like are preferred.
    """
    if "label" in table.names and task != "label":
        return "label"
    if [bare_name(name) for name in table.names if name != task] == ["y"]:
        return next(name for name in table.names if name != task)
    gold = find_column(table, "gold", [task])
    if gold is not None and bare_name(gold) in USUAL_NAMES["gold"][0]:
        return gold
    return find_column(table, "label", [task]) or gold


def note_on_columns_found(column_by_role: Mapping[str, str | None], *, options: bool = True) -> list[str]:
    """Return a note on the columns found by other names than plurivox's own, with the options for others; else no note.

    >>> note_on_columns_found({"task": "image", "worker": "Worker", "label": "choice"}, options=False)
    ["read 'image' as the task, 'Worker' as the worker, 'choice' as the label"]
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
    roles = {"gold": "label", "when": "when", "seconds": "seconds"}
    option = roles.get(role, role)
    how = f"{option}={found[0]!r}"
    if table.is_in_memory:
        how = f"pv.votes(table, {how})"
    elif option in ("task", "worker", "label"):
        how += f" (--{option} {shlex.quote(found[0])})"
    return InputError(
        f"{table.where}: the columns {columns} may each be the {role if role != 'gold' else 'gold label'}; "
        f"select one, for example {how}"
    )
