"""Cells of a confusion matrix: a heat map or a Hinton diagram, with numbers if there is space and texts under the pointer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.theme import SERIES, current_theme, sequential_colormap, text_color_on
from plurivox.core.array_types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NUMBERED = 12  # columns of a matrix whose cells have space for numbers
MAX_NAMED_CELLS = 700  # cells of a figure with texts under the pointer; more are drawn as an image
LEAST_SHOWN = 0.005  # smaller shares have neither a number nor a square


def draw_confusion_heat_map(ax: "Axes", matrix: Floats, texts: Sequence[str] | None) -> None:
    """Draw the shares of `matrix` (n_true, n_said), 0 to 1, as shades, and as percentages if there are few columns.

    `texts` (n_true * n_said) appear under the pointer; None: the cells become an image, which has none.
    """
    n_true, n_said = matrix.shape
    style: dict[str, Any] = {"cmap": sequential_colormap(), "vmin": 0, "vmax": 1}
    if texts is None:
        ax.imshow(matrix, aspect="equal", rasterized=True, **style)
    else:
        edges = np.arange(n_said + 1) - 0.5, np.arange(n_true + 1) - 0.5
        cells = ax.pcolormesh(*edges, matrix, edgecolors=current_theme().paper, linewidth=0.8, **style)
        name_marks(cells, texts)
        _frame_axes(ax, matrix)
    if n_said <= MAX_NUMBERED:
        _write_percentages(ax, matrix)


def draw_hinton_diagram(ax: "Axes", matrix: Floats, texts: Sequence[str] | None) -> None:
    """Draw the shares of `matrix` (n_true, n_said) as squares whose area is the share: right votes blue, wrong ones orange."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    true, said = np.nonzero(matrix >= LEAST_SHOWN)
    side = 0.94 * np.sqrt(np.minimum(matrix[true, said], 1))
    squares = [
        Rectangle((x - a / 2, y - a / 2), a, a) for x, y, a in zip(said.tolist(), true.tolist(), side, strict=True)
    ]
    colors = [SERIES[0] if one else SERIES[1] for one in (true == said).tolist()]
    marks = PatchCollection(squares, facecolors=colors, linewidths=0, rasterized=texts is None)
    ax.add_collection(marks)
    if texts is not None and squares:
        name_marks(marks, [texts[i] for i in (true * matrix.shape[1] + said).tolist()])
    _frame_axes(ax, matrix)
    grid = current_theme().grid
    ax.vlines(np.arange(matrix.shape[1]), -0.5, matrix.shape[0] - 0.5, color=grid, linewidth=0.6, zorder=0)
    ax.hlines(np.arange(matrix.shape[0]), -0.5, matrix.shape[1] - 0.5, color=grid, linewidth=0.6, zorder=0)


def _frame_axes(ax: "Axes", matrix: Floats) -> None:
    """Set the limits of axes with one unit per cell, the first row on top."""
    n_true, n_said = matrix.shape
    ax.set(xlim=(-0.5, n_said - 0.5), ylim=(n_true - 0.5, -0.5), aspect="equal")


def _write_percentages(ax: "Axes", matrix: Floats) -> None:
    """Write each share as a percentage into its cell, in a colour that is legible there."""
    colors = sequential_colormap()(np.clip(matrix, 0, 1))
    size = 8 if matrix.shape[1] <= 5 else 7 if matrix.shape[1] <= 9 else 6
    for i, j in zip(*np.nonzero(matrix >= LEAST_SHOWN), strict=True):
        ax.text(
            j,
            i,
            f"{100 * matrix[i, j]:.0f}",
            ha="center",
            va="center",
            fontsize=size,
            color=text_color_on(colors[i, j]),
        )
