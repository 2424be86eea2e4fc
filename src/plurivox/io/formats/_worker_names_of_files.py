"""Names of workers from the names of their files, without what all file names have in common."""

import re
from collections.abc import Sequence

SEPARATOR = re.compile(r"[ _.\-()\[\]]+")


def worker_names_of_files(stems: Sequence[str]) -> list[str]:
    """Return the part of each file name that differs, cut at spaces, `_`, `-` and the like; `stems` are without extension.

    Names stay whole if nothing, or a bare number, would be left of one.

    >>> worker_names_of_files(["clickbait_Tom", "clickbait_Xiao-Ling"]), worker_names_of_files(["rater_1", "rater_2"])
    (['Tom', 'Xiao-Ling'], ['rater_1', 'rater_2'])
    >>> worker_names_of_files(["ann labels (final)", "bo labels (final)"])
    ['ann', 'bo']
    """
    before = _length_to_last_separator(_common_start(stems))
    cut = [stem[before:] for stem in stems]
    after = _length_to_last_separator(_common_start([stem[::-1] for stem in cut]))
    names = [stem[: len(stem) - after] for stem in cut]
    is_distinct = all(re.search(r"[^\W\d_]", name) for name in names) and len(set(names)) == len(names)
    return names if is_distinct else list(stems)


def _common_start(texts: Sequence[str]) -> str:
    """Return the text with which all texts begin."""
    columns = zip(*texts, strict=False)
    n = next((place for place, letters in enumerate(columns) if len(set(letters)) > 1), min(map(len, texts)))
    return texts[0][:n]


def _length_to_last_separator(text: str) -> int:
    """Return the length of a text up to the end of its last separator, 0 if it has none."""
    return max((found.end() for found in SEPARATOR.finditer(text)), default=0)
