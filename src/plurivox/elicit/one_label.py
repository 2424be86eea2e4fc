"""The plain question: one label."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.marks import SETTLED, Pairs, Settled, marked, settle


@dataclass(frozen=True)
class OneLabel(Form):
    """The label named first, and nothing else: a plain vote.

    >>> answers = Answers.of(task=["a", "a"], worker=["v", "w"], marks=[[("named", "cat", "70")], [("named", "dog", "")]])
    >>> OneLabel().read(answers).votes.counts()
    array([[1., 1.]])
    """

    asks: ClassVar[Question] = Question(labels=1)

    contradiction: Settled = option("named", SETTLED)

    def shares(self, answers: Answers) -> Shares:
        flags, top = np.zeros(len(answers), np.uint32), answers.named(0)
        set_flag(flags, "further-labels", marked(answers, "named").counts > (top >= 0))
        said = np.flatnonzero(top >= 0)
        first = Pairs(said, top[said], len(answers))
        first = first.where(settle(first, marked(answers, "never"), self.contradiction, flags, len(answers.labels)))
        return Shares(first.answer, first.label, np.ones(len(first.answer)), flags)
