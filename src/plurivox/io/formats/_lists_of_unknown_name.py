"""Find lists of labels, and of their workers, whose column names do not say so: by the values in the lists."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from plurivox.io.tabular.usual_column_names import bare_name

OTHER_LISTS = {  # names of lists that are not votes
    *(
        "tokens",
        "words",
        "subwords",
        "inputids",
        "attentionmask",
        "tokentypeids",
        "specialtokensmask",
        "offsets",
        "spans",
    ),
    *(
        "embedding",
        "embeddings",
        "vector",
        "features",
        "bbox",
        "box",
        "boxes",
        "bboxes",
        "shape",
        "size",
        "tags",
        "keywords",
    ),
    *("options", "choices", "candidates", "indices", "index", "history", "messages", "nertags", "postags", "chunktags"),
}
MAX_LENGTH, MAX_TEXT = 200, 60  # votes on one task; characters of a label
REPEATED = 0.5  # labels that differ are at most this share of all in the lists

Lists = Mapping[str, Sequence[Sequence[Any]]]


def lists_with_values_of_labels(lists: Lists) -> list[str]:
    """Return the names of columns whose lists are short and have few different short values.

    >>> lists_with_values_of_labels({"toxicity": [[0, 1, 1], [0, 0, 1]], "bbox": [[1, 1, 2, 2]], "near": [[4, 9], [1, 3]]})
    ['toxicity']
    """
    return [
        name
        for name, rows in lists.items()
        if bare_name(name.split(".")[-1]) not in OTHER_LISTS and _are_short_and_repeated(rows)
    ]


def lists_of_labels_and_workers(lists: Lists) -> tuple[str, str] | None:
    """Return (labels, workers) of two columns of lists: no worker is twice in a row, but in several rows. None: unclear.

    >>> lists_of_labels_and_workers({"toxicity": [[0, 1, 1], [0, 0, 1]], "by": [["a", "b", "c"], ["a", "c", "d"]]})
    ('toxicity', 'by')
    """
    fit = [
        (labels, workers)
        for labels, workers in permutations(lists, 2)
        if all(len(one) == len(other) for one, other in zip(lists[labels], lists[workers], strict=True))
        and _are_workers(lists[workers])
        and not _are_workers(lists[labels])
    ]
    return fit[0] if len(fit) == 1 else None


def _are_short_and_repeated(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether lists have few different values, short ones."""
    values = [value for row in rows for value in row if value is not None]
    if not 1 < max(map(len, rows), default=0) <= MAX_LENGTH or any(len(str(value)) > MAX_TEXT for value in values):
        return False
    return len(set(values)) <= max(2, REPEATED * len(values))


def _are_workers(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether no list has a value twice, and values are in several lists."""
    if any(len(set(row)) < len(row) or None in row for row in rows) or max(map(len, rows), default=0) < 2:
        return False
    values = [value for row in rows for value in row]
    return 1 < len(set(values)) < len(values)
