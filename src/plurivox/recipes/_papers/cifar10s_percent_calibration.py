"""Typed percents of CIFAR-10S beside the share of CIFAR-10H votes for the same label, and the share of correct labels."""

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.name_encoding import positions
from plurivox.core.parse_typed_percents import parse_percents
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels

EDGES = (0, 50, 60, 70, 80, 90, 100)  # lower edges of the bins of percents


def percent_calibration_table(answers: Answers, human: SoftLabels, gold: SoftLabels) -> Table:
    """Return a table by percent typed for the top label: mean percent, share of CIFAR-10H votes, share correct."""
    top, percent = answers.label_codes_at_rank(0), parse_percents(answers.typed_texts_at_rank(0)).value
    column = positions(human.labels, answers.labels)[top]
    share = human.on(answers.tasks).prob[answers.task, column]
    correct = positions(answers.labels, gold.on(answers.tasks).hard())[answers.task] == top
    used = (top >= 0) & (percent > 0)
    rows = []
    names = ["below 50", *(f"{low} to {low + 9}" for low in EDGES[1:-1]), "100", "all"]
    for name, low, high in zip(names, (*EDGES, 0), (*EDGES[1:], np.inf, np.inf), strict=True):
        inside = used & (percent >= low) & (percent < high)
        if inside.any():
            rows.append(
                {
                    "percent typed": name,
                    "answers": int(inside.sum()),
                    "mean percent": float(percent[inside].mean()),
                    "CIFAR-10H votes, percent": 100 * float(share[inside].mean()),
                    "correct, percent": 100 * float(correct[inside].mean()),
                }
            )
    note = f"{int((~used).sum()):,} answers without a percent above 0 are left out"
    return Table(
        "Percent of the top label, against CIFAR-10H and gold", Table.of_rows("", rows).cells, (note,), digits=1
    )
