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
    """Draw the cells below the diagonal, and those on it that are not zero; row and column i are `names[i]`."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    n = len(shares)
    colors, norm = sequential_colormap(), Normalize(0, max(float(shares.max()), 1e-9))
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
    n_columns = n if shares[-1, -1] else n - 1
    ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(n - 0.5, -0.5))
    _name_rows_and_columns(ax, shown_names(names, 16), n_columns)
    if n > MAX_NUMBERED:
        _draw_color_scale(ax, ScalarMappable(norm, colors), what)


def _name_rows_and_columns(ax: Any, names: list[str], n_columns: int) -> None:
    """Write the names of columns below, and those of rows behind their last cell."""
    n = len(names)
    turned = 0 if max(map(len, names)) <= 3 else 45 if n <= 12 else 90
    ax.set_xticks(np.arange(n_columns), names[:n_columns], rotation=turned)
    if turned == 45:
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    for row, name in enumerate(names):
        ax.text(min(row, n_columns) - 0.4, row, name, va="center", fontsize=8 if n <= 15 else 7)
    ax.set_yticks([])
    ax.tick_params(axis="x", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_color_scale(ax: Any, colors: "ScalarMappable", what: str) -> None:
    """Draw what the colours mean in the empty upper triangle."""
    place = ax.inset_axes((0.55, 0.93, 0.42, 0.025))
    ax.figure.colorbar(colors, cax=place, orientation="horizontal")
    place.set_title(f"share of {what}", fontsize=8, fontweight="normal", loc="left", pad=3)
    place.tick_params(labelsize=7)
    place.locator_params(axis="x", nbins=4)
    percent_axis(place, "x")
