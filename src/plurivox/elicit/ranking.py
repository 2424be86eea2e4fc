"""Labels in order, the most probable first."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.core.types import Floats
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.marks import SETTLED, Settled, marked, settle, sorted_pairs


@dataclass(frozen=True)
class Ranking(Form):
    """Labels in order, the most probable first; those not ranked get nothing.

    Of n ranked labels, the one at place i = 1..n has a weight proportional to

        geometric  ratio ** (i - 1)
        borda      n + 1 - i
        centroid   1/i + ... + 1/n: the mean of all distributions over the n labels that have this order
        plackett   the mode of Plackett-Luce strengths that may have drawn this order, with a Gamma(2, 1) prior

    Centroid: Barron and Barrett (1996), https://doi.org/10.1287/mnsc.42.11.1515. Plackett-Luce by minorisation:
    Hunter (2004), https://doi.org/10.1214/aos/1079120141; its prior: Caron and Doucet (2012),
    https://doi.org/10.1080/10618600.2012.638220.

    >>> marks = [[("named", "cat", ""), ("named", "dog", ""), ("named", "ship", "")]]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=marks)
    >>> Ranking().read(answers).votes.counts().round(3)
    array([[0.571, 0.286, 0.143]])
    >>> Ranking(weights="centroid").read(answers).votes.counts().round(3)
    array([[0.611, 0.278, 0.111]])
    """

    asks: ClassVar[Question] = Question(labels=None)

    weights: Literal["geometric", "borda", "centroid", "plackett"] = option("geometric", "what a place is worth")
    ratio: float = option(0.5, "geometric: how much less each place is worth than the one before", low=0, high=1)
    contradiction: Settled = option("named", SETTLED)

    def shares(self, answers: Answers) -> Shares:
        named, n_labels = marked(answers, "named"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        again = named.again(n_labels)
        set_flag(flags, "named-twice", np.bincount(named.answer, again, len(answers)) > 0)
        named = named.where(~again)
        named = named.where(settle(named, marked(answers, "never"), self.contradiction, flags, n_labels))
        worth = np.concatenate([[0.0], *(self.worth(n) for n in range(1, int(named.counts.max(initial=0)) + 1))])
        n = named.counts[named.answer]
        points = worth[1 + n * (n - 1) // 2 + named.place]  # the worths of 1 label, then of 2, of 3, ...
        return Shares.of_points(*sorted_pairs(named.answer, named.label, points, n_labels), flags)

    def worth(self, n: int) -> Floats:
        """(n,) what the places of a ranking of n labels are worth, adding up to one."""
        place = np.arange(n)
        if self.weights == "geometric":
            worth: Floats = np.float64(self.ratio) ** place
        elif self.weights == "borda":
            worth = n - place.astype(float)
        elif self.weights == "centroid":
            worth = np.cumsum(1 / (n - place))[::-1]
        else:
            worth = _strengths(n)
        return worth / worth.sum()


def _strengths(n: int) -> Floats:
    """(n,) the most probable Plackett-Luce strengths after one ranking: Hunter's steps with a Gamma(2, 1) prior."""
    wins = np.append(np.ones(n - 1), 0)
    strength = np.full(n, 1.0)
    for _ in range(1000):
        left = np.cumsum(strength[::-1])[::-1][: n - 1]  # what is still to be drawn from at each draw
        drawn = np.append(np.cumsum(1 / left), 0) if n > 1 else np.zeros(1)
        drawn[-1] = drawn[-2] if n > 1 else 0  # the last label took part in every draw
        after = (wins + 1) / (drawn + 1)
        if np.abs(after - strength).max() < 1e-13:
            break
        strength = after
    return strength
