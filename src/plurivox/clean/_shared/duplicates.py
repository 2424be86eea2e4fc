"""Duplicate answers: further answers of a worker to a task."""

import numpy as np

from plurivox.clean._contract import Findings
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.core.types import Bools


def find_duplicates(answer_rows: AnswerRows, keep: str, mask: Bools) -> Findings:
    """Return, among the answers in `mask`, all but the first (or last) of each worker to each task, as answers to remove."""
    earlier = answer_rows.previous_answers(mask)
    later = np.full(len(answer_rows), -1)
    later[earlier[earlier >= 0]] = np.flatnonzero(earlier >= 0)
    other = earlier if keep == "first" else later

    def reason(i: int) -> str:
        label = answer_rows.top[other[i]]
        name = repr(str(answer_rows.labels[label])) if label >= 0 else "no label"
        return f"answered {'before' if keep == 'first' else 'again later'}: {name}"

    return Findings.from_mask("answer", other >= 0, np.full(len(answer_rows), np.nan), reason)
