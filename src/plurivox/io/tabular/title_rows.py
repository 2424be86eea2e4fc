"""Rows above the column names of a CSV that a spreadsheet program wrote: a title, a date, empty rows."""

import csv

MAX_ROWS = 20  # in which the column names are searched


def rows_above_column_names(head: str, separator: str) -> list[str]:
    """Return the first lines of a CSV that are not yet its column names, with their line ends.

    Such a line has as many fields as the column names, at least three, all empty but perhaps the first, as spreadsheet
    programs write it.

    >>> rows_above_column_names("Study 2,,\\n,,\\nimage,rater,label\\n1,ann,cat\\n", ",")
    ['Study 2,,\\n', ',,\\n']
    """
    lines = head.split("\n", MAX_ROWS)[:MAX_ROWS]
    rows = [next(csv.reader([line.rstrip("\r")], delimiter=separator), []) for line in lines]
    n_above = next((place for place, row in enumerate(rows) if any(one.strip() for one in row[1:])), 0)
    width = len(rows[n_above])
    is_spreadsheet = width > 2 and all(len(row) == width for row in rows[:n_above]) and bool(rows[n_above][0].strip())
    return [line + "\n" for line in lines[:n_above]] if is_spreadsheet else []
