"""Several answers of one person to one task."""

import numpy as np

from plurivox.clean._contract import Found
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.core.types import Bools


def superfluous(seen: AnswerRows, keep: str, which: Bools) -> Found:
    """The answers among `which` beside the first (or the last) of the same person to the same task."""
    earlier = seen.earlier(which)
    later = np.full(len(seen), -1)
    later[earlier[earlier >= 0]] = np.flatnonzero(earlier >= 0)
    other = earlier if keep == "first" else later

    def why(i: int) -> str:
        said = seen.top[other[i]]
        name = repr(str(seen.labels[said])) if said >= 0 else "no label"
        return f"answered {'before' if keep == 'first' else 'again later'}: {name}"

    return Found.where("answer", other >= 0, np.full(len(seen), np.nan), why)
