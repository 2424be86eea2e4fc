"""Form that asks for the labels that are ruled out."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox.core.answers import NEVER, POSSIBLE, Answers
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    ContradictionRule,
    marks_of_kind,
    resolve_contradictions,
)
from plurivox.elicit._shared.percent_form import Split, spread_rest


@dataclass(frozen=True)
class NotThese(Form):
    """Ask for the labels that are ruled out; the other labels get equal weight.

    An answer that rules out no label gives equal weight to all labels; an answer that rules out all labels is unreadable. A
    label that is also named is not ruled out, unless contradiction=never.

    >>> marks = [[("never", "ship", "")]]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=marks, labels=["cat", "dog", "ship"])
    >>> NotThese().read(answers).votes.counts()
    array([[0.5, 0.5, 0. ]])
    """

    asks: ClassVar[Question] = Question(labels=0, ticks="never")

    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def shares(self, answers: Answers) -> Shares:
        named, never, n_labels = marks_of_kind(answers, "named"), marks_of_kind(answers, "never"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        kept = resolve_contradictions(named, never, self.contradiction, flags, n_labels)
        set_flag(flags, "nothing-ruled-out", never.pairs_per_answer == 0)
        if self.contradiction == "named":
            spared = named.contains_pairs(never.answer, never.label, n_labels)
            kinds = answers.mark_kind.copy()
            kinds[np.flatnonzero(kinds == NEVER)[spared]] = POSSIBLE
            answers = replace(answers, mark_kind=kinds)
        nothing = Split(named.select_pairs(np.zeros(len(kept), bool)), np.zeros(0), 0.0)
        found = spread_rest(answers, nothing, "clamp", flags, without_named=True)
        if self.contradiction != "drop":
            return found
        stays = ~np.isin(found.answer, named.answer[~kept])
        return Shares(found.answer[stays], found.label[stays], found.weight[stays], flags)
