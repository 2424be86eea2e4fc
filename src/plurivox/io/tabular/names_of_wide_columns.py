"""Tell the worker columns of a wide table from a reference column with the same labels by how the columns are named."""

import re
from collections import defaultdict

import polars as pl

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import TITLE_OR_ROLE
from plurivox.io.tabular.wide_worker_columns import worker_option_text

WORDS = re.compile(r"[^\W_]+")
MIN_GROUP = 3  # columns whose common first word may be any word


def names_with_common_first_word(names: list[str]) -> list[str]:
    """Return the names that begin with the same word, as people of one kind, if the others do not; [] if there are none.

    Two names are enough if the word is a title or a role, else three, so that `ann lee` and `ann ray` beside `bob`
    are not separated.

    >>> names_with_common_first_word(["Dr. Haddad", "Dr. Lim", "biopsy"])
    ['Dr. Haddad', 'Dr. Lim']
    >>> names_with_common_first_word(["ann lee", "ann ray", "bob"])
    []
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        words = WORDS.findall(name.casefold())
        if len(words) > 1:
            groups[words[0]].append(name)
    found = [
        group for word, group in groups.items() if len(group) >= (2 if TITLE_OR_ROLE.fullmatch(word) else MIN_GROUP)
    ]
    return found[0] if len(found) == 1 else []


def check_no_full_column_with_other_name(table: Columns, workers: list[str]) -> None:
    """Raise InputError if only one of the worker columns has no empty cells, and its name is of another form than the others.

    It may be a reference, such as `biopsy` beside `Haddad`, `Lim` and `Nowak`.
    """
    full = [name for name in workers if not _has_empty_cells(table[name])]
    rest = [name for name in workers if name not in full]
    forms = {_form(name) for name in rest}
    if len(full) == 1 and len(rest) > 1 and len(forms) == 1 and _form(full[0]) not in forms:
        raise InputError(
            f"column {full[0]!r} of {table.where} has a value in every row, unlike {first_few(rest)}: it may be a worker "
            f"or the true label; name the worker columns: {worker_option_text(rest)}, or with it {worker_option_text(workers)}"
        )


def _has_empty_cells(column: pl.Series) -> bool:
    """Return whether a column lacks values: missing, empty, or NA as text."""
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    return bool((text.is_null() | text.is_in(["", "na", "n/a", "nan"])).any())


def _form(name: str) -> str:
    """Return the form of a name: A for words with a capital, a for others, 0 for digits, and the marks between them.

    >>> _form("Haddad"), _form("AK"), _form("r1"), _form("biopsy result")
    ('A', 'A', 'a0', 'a a')
    """
    letters = re.sub(r"[^\W\d_]+", lambda word: "A" if word[0][0].isupper() else "a", name.strip())
    return re.sub(r"\d+", "0", letters)
