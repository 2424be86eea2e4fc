"""Rows above the column names of a CSV that a spreadsheet program wrote: a title, a date, empty rows."""

import csv

MAX_ROWS = 20  # in which the column names are searched


def rows_above_column_names(head: str, separator: str) -> list[str]:
    """Return the first lines of a CSV that are not yet its column names, with their line ends.

    Such a line has as many fields as the column names, at least three, all empty but perhaps the first, as spreadsheet
    programs write it.

    >>> rows_above_column_names("Study 2,,\\n,,\\nimage,worker,label\\n1,ann,cat\\n", ",")
    ['Study 2,,\\n', ',,\\n']
    """
    above: list[str] = []
    widths = set()
    for line in head.split("\n", MAX_ROWS)[:MAX_ROWS]:
        row = _fields(line, separator)
        widths.add(len(row))
        if any(field.strip() for field in row[1:]):  # the column names
            return above if len(widths) == 1 and len(row) > 2 and row[0].strip() else []
        above.append(line + "\n")
    return []


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields in one line of CSV; none if it cannot be parsed, such as a text that is too long."""
    try:
        return next(csv.reader([line.rstrip("\r")], delimiter=separator), [])
    except csv.Error:
        return []
