"""Too few right answers on known tasks, of people who made errors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_errors import contradictory, outside, percentless
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import percent, several
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option
from plurivox.core.types import Ints


@dataclass(frozen=True)
class KnownAccuracy(Rule):
    """People with errors in their answers, and too few right ones among those to known tasks.

    Errors are percents out of range, labels named and also ruled out, top labels without a percent. By default nobody
    goes for accuracy alone: whoever disagrees with the known labels may see what others do not. `--fewest 0` looks at
    everybody. People without an answer to a known task stay.

    Collins et al. (2022), section 4.1, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> marks = [[("named", "cat", "")], [("named", "cat", "90")], [("named", "cat", "90")]]
    >>> answers = Answers.of(["a", "b", "b"], ["ann", "ann", "bo"], marks)
    >>> clean(answers, ["known-accuracy"], SoftLabels.gold(["b"], ["dog"])).audit.reason.tolist()
    ['1 error, and 0% of 1 known task right, less than 75%']
    """

    needs: ClassVar[tuple[str, ...]] = ("gold",)

    least: float = option(0.75, "people below this share of right answers go", low=0, high=1)
    fewest: int = option(1, "only people with at least so many errors", low=0)
    most: int | None = option(None, "only people with at most so many errors; none: any number", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most is not None and self.most < self.fewest:
            raise OptionError(f"{self.name()}: most must be at least {self.fewest}, which is fewest; got {self.most}")

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        errors = self._errors(seen)
        share, n = seen.accuracy()
        looked_at = (errors >= self.fewest) & (errors <= (np.inf if self.most is None else self.most))
        low = looked_at & (share < self.least)

        def why(who: int) -> str:
            made = f"{several(int(errors[who]), 'error')}, and " if errors[who] else ""
            known = several(int(n[who]), "known task")
            return f"{made}{percent(share[who])} of {known} right, less than {percent(self.least)}"

        return (Found.where("worker", low, share, why),)

    def _errors(self, seen: AnswerRows) -> Ints:
        """(n_workers,) errors of all kinds."""
        if seen.answers is None:
            if self.fewest == 0 and self.most is None:
                return np.zeros(seen.n_workers, np.int64)
            raise InputError(
                f"{self.name()} looks at people with errors in what they entered, and votes show none: give the answers "
                "table, or look at everybody (fewest=0)"
            )
        return np.sum([seen.tally(kind(seen)) for kind in (outside, contradictory, percentless)], axis=0)
