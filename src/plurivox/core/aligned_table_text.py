"""Rows of text as one text with aligned columns."""

from collections.abc import Sequence


def aligned_table_text(rows: Sequence[Sequence[str]], indent: str = "", gap: str = "  ") -> str:
    """Return rows of text as one text with aligned columns, for a terminal.

    >>> print(aligned_table_text([("tasks", "7"), ("votes per task", "3.00")]))
    tasks           7
    votes per task  3.00
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        indent + gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
