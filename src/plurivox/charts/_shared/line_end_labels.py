"""Names at the right end of lines, in place of a legend: moved apart so that they do not overlap."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.charts._shared.names_as_text import shown_name
from plurivox.core.array_types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT_SIZE = 8
LINE_HEIGHT = 1.35 * FONT_SIZE / 72  # inches


def label_line_ends(
    ax: "Axes",
    ends: Sequence[tuple[float, float]],
    names: Sequence[str],
    colors: Sequence[Any],
    *,
    panel_height: float,
    length: int = 28,
) -> None:
    """Write names at the right of the axes, each joined by a thin line to the end (x, y) of its curve.

    `panel_height` is about the height of the axes in inches, `length` the most characters of a name; call this after the limits
    of the y axis are final.
    """
    low, high = ax.get_ylim()
    heights = np.array([y for _, y in ends], np.float64)
    places = heights_apart(np.clip((heights - low) / (high - low), 0, 1), LINE_HEIGHT / panel_height)
    for place, end, name, color in zip(places.tolist(), ends, names, colors, strict=True):
        ax.annotate(
            shown_name(name, length),
            end,
            xytext=(1.04, place),
            textcoords="axes fraction",
            va="center",
            fontsize=FONT_SIZE,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 3},
        )


def heights_apart(wanted: Floats, gap: float) -> Floats:
    """Return heights as near to the wanted ones as a gap between neighbours allows, in the same order.

    >>> heights_apart(np.array([0.5, 0.5, 0.9]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(wanted, kind="stable")
    blocks: list[list[float]] = []  # [sum of heights less the gaps below them, number]: isotonic regression
    for rank, height in enumerate(wanted[order].tolist()):
        blocks.append([height - gap * rank, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    level = np.concatenate([np.full(int(n), total / n) for total, n in blocks]) if blocks else np.zeros(0)
    found = np.empty(len(wanted))
    found[order] = level + gap * np.arange(len(wanted))
    return found
