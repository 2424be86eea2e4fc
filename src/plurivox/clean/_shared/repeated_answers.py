"""Duplicate answers: further answers of the same worker to the same task."""

import numpy as np

from plurivox.clean._contract import Findings
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.core.array_types import Bools


def find_repeated_answers_to_same_task(
    answer_rows: AnswerRows, keep_first_or_last: str, answer_mask: Bools
) -> Findings:
    """Return findings that remove, among the answers in `answer_mask`, all but the first (or last) per worker and task."""
    earlier = answer_rows.previous_answers_to_same_task(answer_mask)
    later = np.full(len(answer_rows), -1)
    later[earlier[earlier >= 0]] = np.flatnonzero(earlier >= 0)
    other = earlier if keep_first_or_last == "first" else later

    def duplicate_reason(answer_index: int) -> str:
        label = answer_rows.top[other[answer_index]]
        name = repr(str(answer_rows.labels[label])) if label >= 0 else "no label"
        return f"answered {'before' if keep_first_or_last == 'first' else 'again later'}: {name}"

    return Findings.from_mask("answer", other >= 0, np.full(len(answer_rows), np.nan), duplicate_reason)
