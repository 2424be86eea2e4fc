"""Form that asks for one label with a percent."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.answers import Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Shares
from plurivox.elicit._shared.cifar10s_released_formula import COMPAT_HELP, Compat, check_spread_is_clamp_or_uniform
from plurivox.elicit._shared.percent_form_base_class import SPREAD_HELP, PercentForm, Spread


@dataclass(frozen=True)
class TopOne(PercentForm):
    """Ask for a label with a percent, and optionally the labels that are ruled out.

    The label gets p / 100 and each of the n open labels (neither named nor ruled out) gets (100 - p) / (100 n). With p = 100
    and spread=clamp the label gets 1 - gamma and each open label gamma / n. If no label is open, the label gets weight 1.

    "T1" in Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[[("named", "cat", "70")]], labels=["cat", "dog", "bird"])
    >>> TopOne().read(answers).votes.counts()
    array([[0.7 , 0.15, 0.15]])
    """

    asks: ClassVar[Question] = Question(labels=1, percents=True, ticks="never")

    spread: Spread = option("clamp", SPREAD_HELP)
    compat: Compat = option("none", COMPAT_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat == "cifar10s":
            check_spread_is_clamp_or_uniform(self.name(), self.spread)

    def explain(self) -> str:
        return self.explain_first_labels(
            "The label named gets the percent entered, or 100% if none was entered.", self.spread, self.compat
        )

    def shares(self, answers: Answers) -> Shares:
        return self.label_weights_from_first_labels(answers, self.spread, self.compat, n_first_labels=1)
