"""Only the labels it is not."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.elicit._contract import Form
from plurivox.elicit._flags import raised
from plurivox.elicit._marks import SETTLED, Settled, marked, settle
from plurivox.elicit._shares import Shares, shared
from plurivox.elicit._spread import open_labels


@dataclass(frozen=True)
class NotThese(Form):
    """The labels that are ruled out; the others share the vote evenly.

    An answer that rules nothing out says that every label may be; one that rules everything out cannot be read. A label
    that is also named is not ruled out, unless contradiction=never.

    >>> marks = [[("never", "ship", "")]]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=marks, labels=["cat", "dog", "ship"])
    >>> NotThese().read(answers).votes.counts()
    array([[0.5, 0.5, 0. ]])
    """

    contradiction: Settled = option("named", SETTLED)

    def shares(self, answers: Answers) -> Shares:
        named, never, n_labels = marked(answers, "named"), marked(answers, "never"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        kept = settle(named, never, self.contradiction, flags, n_labels)
        if self.contradiction == "named":
            never = never.where(~named.has(never.answer, never.label, n_labels))
        wanted = np.ones(len(answers), bool)
        if self.contradiction == "drop":
            wanted[named.answer[~kept]] = False
        raised(flags, "nothing-ruled-out", never.counts == 0)
        others = open_labels(wanted, (never,), n_labels)
        return shared(others.answer, others.label, np.ones(len(others.answer)), flags)
