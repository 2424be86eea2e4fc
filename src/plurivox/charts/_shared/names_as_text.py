"""Names of tasks, workers and labels as text in a chart: shortened, on one line, without characters that files cannot hold."""

import re
from collections.abc import Iterable

# control characters, and what XML does not allow
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")


def shown_name(name: object, length: int = 24) -> str:
    """Return a name as text on one line with at most `length` characters; a longer one loses its middle.

    >>> shown_name("a-very-long-task-name-0001.jpg", 16), shown_name("two\\nlines"), shown_name("")
    ('a-very-l…001.jpg', 'two lines', '(empty)')
    """
    text = UNPRINTABLE.sub(" ", str(name)).strip()
    if not text:
        return "(empty)"
    if len(text) <= length:
        return text
    head = length // 2
    return f"{text[:head]}…{text[-(length - head - 1) :]}"


def shown_names(names: Iterable[object], length: int = 24) -> list[str]:
    """Return names as text, each by `shown_name`."""
    return [shown_name(name, length) for name in names]
