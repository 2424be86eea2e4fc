"""Form of CIFAR-10S: a top label, an optional second label, each with a percent, and the labels that are ruled out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.answers import Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Shares
from plurivox.elicit._shared.cifar10s_released_formula import COMPAT_HELP, Compat, check_spread_is_clamp_or_uniform
from plurivox.elicit._shared.percent_form_base_class import EXPLAIN_NAMED, SPREAD_HELP, PercentForm, Spread


@dataclass(frozen=True)
class TopTwo(PercentForm):
    """Ask for a top label and an optional second label, each with a percent, and the labels that are ruled out.

    With P the sum of the percents and n open labels (clamp: neither named nor ruled out; uniform: not named):

        P < 100:          named p / 100,            open (100 - P) / (100 n)
        P >= 100, clamp:  named (1 - gamma) p / P,  open gamma / n
        nothing open:     named p / P

    use=top ignores the second label. The default is T2 Clamp of the paper; T1 Uniform is use=top, spread=uniform. Also called
    t2-clamp. compat=cifar10s applies the formula of the released code: its count of open labels is wrong if a label is both
    named and ruled out, and a second label that equals the top label overwrites its percent.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> marks = [("named", "cat", "70"), ("named", "dog", "20"), ("never", "ship", "")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["cat", "dog", "bird", "frog", "ship"])
    >>> TopTwo().read(answers).votes.counts()
    array([[0.7 , 0.2 , 0.05, 0.05, 0.  ]])
    """

    aliases: ClassVar[tuple[str, ...]] = ("t2-clamp",)
    asks: ClassVar[Question] = Question(labels=2, percents=True, ticks="never")

    use: Literal["both", "top"] = option("both", "whether to use the top and the second label, or only the top label")
    spread: Spread = option("clamp", SPREAD_HELP)
    compat: Compat = option("none", COMPAT_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat == "cifar10s":
            check_spread_is_clamp_or_uniform(self.name(), self.spread)

    def explain(self) -> str:
        named = EXPLAIN_NAMED if self.use == "both" else "Only the top label is used, with the percent entered."
        return self.explain_first_labels(named, self.spread, self.compat)

    def shares(self, answers: Answers) -> Shares:
        n_first_labels = 2 if self.use == "both" else 1
        return self.label_weights_from_first_labels(answers, self.spread, self.compat, n_first_labels=n_first_labels)
