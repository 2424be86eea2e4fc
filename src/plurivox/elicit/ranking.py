"""Form that asks for a ranking of labels, the most probable first."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    ContradictionRule,
    answer_label_pairs_of_mark_kind,
    flag_contradictions_and_mask_kept_labels,
    sort_by_answer_and_label,
)


@dataclass(frozen=True)
class Ranking(Form):
    """Ask for a ranking of labels, the most probable first; labels that are not ranked get no weight.

    Of n ranked labels, the one at position i = 1..n has a weight proportional to

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

    weights: Literal["geometric", "borda", "centroid", "plackett"] = option(
        "geometric", "formula of the weight of a label from its position in the ranking"
    )
    ratio: float = option(
        0.5, "for weights=geometric: weight of a position divided by that of the position before", low=0, high=1
    )
    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def explain(self) -> str:
        rule = {
            "geometric": f"each position gets {self.ratio:g} times the weight of the one before (ratio = {self.ratio:g})",
            "borda": "the last position gets 1 point, each one above it a point more",
            "centroid": "each position gets its mean share in all distributions that have this order (centroid)",
            "plackett": "each position gets its strength in a Plackett-Luce model of this order",
        }[self.weights]
        return f"The labels ranked get weights by position: {rule}. Labels that were not ranked get nothing."

    def shares(self, answers: Answers) -> Shares:
        named, n_labels = answer_label_pairs_of_mark_kind(answers, "named"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        repeated = named.is_repeat_of_earlier_label(n_labels)
        set_flag(flags, "named-twice", np.bincount(named.answer, repeated, len(answers)) > 0)
        named = named.select_answer_label_pairs(~repeated)
        named = named.select_answer_label_pairs(
            flag_contradictions_and_mask_kept_labels(
                named, answer_label_pairs_of_mark_kind(answers, "never"), self.contradiction, flags, n_labels
            )
        )
        weights = np.concatenate(
            [
                [0.0],
                *(
                    self.weights_by_ranking_position(n)
                    for n in range(1, int(named.n_labels_per_answer.max(initial=0)) + 1)
                ),
            ]
        )
        n = named.n_labels_per_answer[named.answer]
        # those of rankings of 1 label, then of 2, of 3, ...
        points = weights[1 + n * (n - 1) // 2 + named.position_of_label_in_answer]
        return Shares.from_points_normalised_per_answer(
            *sort_by_answer_and_label(named.answer, named.label, points, n_labels), flags
        )

    def weights_by_ranking_position(self, n_ranked: int) -> Floats:
        """(n_ranked,) the weight of each position in a ranking of `n_ranked` labels, best first; they sum to one."""
        position = np.arange(n_ranked)
        if self.weights == "geometric":
            weights: Floats = np.float64(self.ratio) ** position
        elif self.weights == "borda":
            weights = n_ranked - position.astype(float)
        elif self.weights == "centroid":
            weights = np.cumsum(1 / (n_ranked - position))[::-1]
        else:
            weights = _plackett_luce_strength_by_position(n_ranked)
        return weights / weights.sum()


def _plackett_luce_strength_by_position(n_ranked: int) -> Floats:
    """(n_ranked,) posterior mode of Plackett-Luce strengths after one ranking: MM algorithm, Gamma(2, 1) prior."""
    wins = np.append(np.ones(n_ranked - 1), 0)
    strength = np.full(n_ranked, 1.0)
    for _ in range(1000):
        # total strength of the labels not drawn yet, before each draw
        left = np.cumsum(strength[::-1])[::-1][: n_ranked - 1]
        drawn = np.append(np.cumsum(1 / left), 0) if n_ranked > 1 else np.zeros(1)
        drawn[-1] = drawn[-2] if n_ranked > 1 else 0  # the last label took part in every draw
        after = (wins + 1) / (drawn + 1)
        if np.abs(after - strength).max() < 1e-13:
            break
        strength = after
    return strength
