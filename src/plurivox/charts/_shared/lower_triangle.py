"""Lower triangle of a symmetric table of shares, such as of pairs of labels, as a heat map."""

from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_names
from plurivox.charts._shared.panels import percent_axis
from plurivox.charts._shared.theme import sequential_colormap, text_color_on
from plurivox.core.array_types import Floats

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

MAX_NUMBERED = 13  # rows up to which cells have their number in them


def draw_lower_triangle(ax: Any, shares: Floats, names: list[str], what: str) -> None:
    """Draw the cells below the diagonal; row and column i are `names[i]`.

    If the last cell on the diagonal is not zero, the last row is a group: its cells do not set the scale of colours.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    n, has_group = len(shares), bool(shares[-1, -1])
    largest = float((shares[:-1, :-1] if has_group else shares).max(initial=0))
    colors, norm = sequential_colormap(), Normalize(0, max(largest, 1e-9), clip=True)
    cells, texts = [], []
    for row in range(n):
        for column in range(row + 1):
            share = float(shares[row, column])
            if not share:
                continue
            color = colors(norm(share))
            cells.append(ax.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, color=color)))
            texts.append(f"{names[row]} and {names[column]}: {share:.1%} of {what}")
            if n <= MAX_NUMBERED:
                number = "<1" if share < 0.005 else f"{100 * share:.0f}"
                ax.text(column, row, number, ha="center", va="center", fontsize=8, color=text_color_on(color))
    name_marks(cells, texts)
    n_columns = n if has_group else n - 1
    ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(n - 0.5, -0.5))
    _name_rows_and_columns(ax, shown_names(names, 16), n_columns)
    if n > MAX_NUMBERED:
        _draw_color_scale(ax, ScalarMappable(norm, colors), what, "max" if has_group else "neither")


def _name_rows_and_columns(ax: Any, names: list[str], n_columns: int) -> None:
    """Write the names of columns below, and those of rows behind their last cell."""
    n = len(names)
    turned = 0 if max(map(len, names)) <= 3 else 45 if n <= 12 else 90
    ax.set_xticks(np.arange(n_columns), names[:n_columns], rotation=turned)
    if turned == 45:
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    for row, name in enumerate(names):
        after_own_cell = row == n_columns - 1 and n_columns == n
        ax.text(row + 0.6 if after_own_cell else row - 0.4, row, name, va="center", fontsize=8 if n <= 15 else 7)
    ax.set_yticks([])
    ax.tick_params(axis="x", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_color_scale(ax: Any, colors: "ScalarMappable", what: str, extend: str) -> None:
    """Draw what the colours mean in the empty upper triangle; `extend` is "max" if some cells are beyond the scale."""
    place = ax.inset_axes((0.55, 0.93, 0.42, 0.025))
    ax.figure.colorbar(colors, cax=place, orientation="horizontal", extend=extend)
    place.set_title(f"share of {what}", fontsize=8, fontweight="normal", loc="left", pad=3)
    place.tick_params(labelsize=7)
    place.locator_params(axis="x", nbins=4)
    percent_axis(place, "x")
