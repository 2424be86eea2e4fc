"""Text that fills its axes: wrapped to their width and cut to their height, at the time it is drawn."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from plurivox.charts._shared.names_as_text import UNPRINTABLE
from plurivox.charts._shared.panels import hide_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 1200  # characters that are looked at
LINE_SPACING = 1.25  # height of a line per height of its letters


class TextInAxes(Text):
    """Text from the top left corner of its axes, wrapped and cut to fit into them; paragraphs are separated by "\\n"."""

    def __init__(self, paragraphs: str, **settings: Any) -> None:
        super().__init__(0, 1, "", va="top", ha="left", linespacing=LINE_SPACING, **settings)
        self._paragraphs = [UNPRINTABLE.sub(" ", one).split() for one in paragraphs[:LONGEST].split("\n")]
        self.set_in_layout(False)  # it takes the space that there is

    def draw(self, renderer: Any) -> None:
        """Wrap the text to the size that the axes have now, and draw it."""
        if self.axes is None:
            return
        font: FontProperties = self.get_fontproperties()
        box = self.axes.get_window_extent()
        line_height = renderer.points_to_pixels(font.get_size_in_points()) * LINE_SPACING * 1.17  # with ascent, descent
        fitting = max(1, int(box.height / line_height))

        def width(text: str) -> float:
            return float(renderer.get_text_width_height_descent(text, font, False)[0])

        lines = [line for words in self._paragraphs for line in wrapped(words, box.width, width)]
        if len(lines) > fitting:
            lines = [*lines[: fitting - 1], with_ellipsis(lines[fitting - 1], box.width, width)]
        self.set_text("\n".join(lines))
        super().draw(renderer)


def write_in_axes(ax: "Axes", text: str, **settings: Any) -> None:
    """Write a text into axes whose frame is hidden, wrapped and cut to fit; paragraphs are separated by "\\n"."""
    hide_axes(ax)
    written = TextInAxes(text, transform=ax.transAxes, **settings)
    ax.add_artist(written)


def wrapped(words: list[str], limit: float, width: Callable[[str], float]) -> list[str]:
    """Return words as lines whose `width` is at most `limit`; a word that is wider is broken.

    >>> wrapped("a few short words, unbreakable".split(), 11, len)
    ['a few short', 'words,', 'unbreakable']
    >>> wrapped(["unbreakable"], 5, len)
    ['unbre', 'akabl', 'e']
    """
    lines: list[str] = []
    for word in words:
        if lines and width(f"{lines[-1]} {word}") <= limit:
            lines[-1] = f"{lines[-1]} {word}"
            continue
        while len(word) > 1 and width(word) > limit:
            n = max(1, next((n for n in range(1, len(word)) if width(word[: n + 1]) > limit), len(word)))
            lines.append(word[:n])
            word = word[n:]
        if word:
            lines.append(word)
    return lines


def with_ellipsis(line: str, limit: float, width: Callable[[str], float]) -> str:
    """Return a line with "…" behind it, shortened until it is at most `limit` wide.

    >>> with_ellipsis("the last line", 10, len)
    'the last…'
    """
    while line and width(f"{line}…") > limit:
        line = line[:-1]
    return f"{line.rstrip()}…"
