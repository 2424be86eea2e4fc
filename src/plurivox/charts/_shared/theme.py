"""Colours and fonts of the charts: safe for colour-blind readers, legible in print, for a light or a dark page."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

ThemeName = Literal["light", "dark"]
# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without black; the yellow is last because it is faint on white
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6BB1", "#B8A800")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one per series, so that colour is never the only difference
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (1, 1)))
FALLBACK_FONTS = (  # for scripts that DejaVu Sans lacks; those that are installed are used
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Thai",
    "Noto Emoji",
    "FreeSans",
    "Unifont",
)


@dataclass(frozen=True)
class Theme:
    """Colours of a page: `paper` behind everything, `ink` for text, `muted` for axes and remarks, `grid` for grid lines."""

    paper: str
    ink: str
    muted: str
    grid: str


THEMES: dict[str, Theme] = {
    "light": Theme(paper="#ffffff", ink="#1c2430", muted="#5b6675", grid="#dfe4ea"),
    "dark": Theme(paper="#14181e", ink="#e8ecf1", muted="#a3adba", grid="#343c47"),
}
_settings = threading.RLock()  # matplotlib's settings are global: one thread draws at a time


@contextmanager
def theme_settings(name: ThemeName = "light") -> Iterator[None]:
    """Apply a theme to matplotlib's settings while the block runs; other threads wait."""
    import matplotlib as mpl  # not at the top: the help of a chart needs no matplotlib

    theme = THEMES[name]
    settings: Any = _settings_of(theme)  # matplotlib types the names of all settings
    with _settings, mpl.rc_context(settings):
        yield


def _settings_of(theme: Theme) -> dict[str, Any]:
    """Return matplotlib's settings for a theme."""
    from cycler import cycler

    return {
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.muted,
        "axes.titlecolor": theme.ink,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.labelsize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": False,
        "axes.formatter.use_mathtext": False,
        "axes.unicode_minus": True,
        "axes.prop_cycle": cycler(color=list(SERIES)),
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "grid.color": theme.grid,
        "grid.linewidth": 0.8,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "patch.linewidth": 0.0,
        "font.size": 9,
        "font.family": font_families(),
        "text.parse_math": False,  # a name may contain a dollar sign
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "plurivox",  # the same ids in every run
        "pdf.fonttype": 42,
        "path.simplify": True,
        "image.interpolation": "nearest",
    }


@cache
def font_families() -> list[str]:
    """Return the font families to try in order: DejaVu Sans, then the fallback fonts that are installed."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in installed)]


def current_theme() -> Theme:
    """Return the theme in force."""
    import matplotlib as mpl

    paper = mpl.rcParams["figure.facecolor"]
    return next((one for one in THEMES.values() if one.paper == paper), THEMES["light"])


def series_style(position: int) -> dict[str, Any]:
    """Return colour, marker and line style of the series at this position, as arguments of `plot`."""
    return {
        "color": SERIES[position % len(SERIES)],
        "marker": MARKERS[position % len(MARKERS)],
        "linestyle": LINES[position % len(LINES)],
    }


def sequential_colormap() -> "Colormap":
    """Return the colormap of heat maps: from nearly the colour of the page to dark blue, on a dark page to light blue.

    Its lightness is even, so that it can be printed without colour.
    """
    return _sequential(is_dark_page())


@cache
def _sequential(is_dark: bool) -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    light = ["#f3f6fa", "#c9dcee", "#8fbce0", "#4a90c4", "#0072B2", "#064a78", "#04263f"]
    dark = ["#1d2733", "#1f415e", "#1c6297", "#2b88c8", "#6fb4e4", "#b4daf4", "#eaf6ff"]
    return LinearSegmentedColormap.from_list("plurivox", dark if is_dark else light)


def diverging_colormap() -> "Colormap":
    """Return the colormap of values below and above a middle: orange, nearly the colour of the page, blue."""
    return _diverging(is_dark_page())


@cache
def _diverging(is_dark: bool) -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    light = ["#7a3500", "#D55E00", "#f6f4f1", "#0072B2", "#00395a"]
    dark = ["#ffc79e", "#D55E00", "#23272d", "#2b88c8", "#c4e3f8"]
    return LinearSegmentedColormap.from_list("plurivox-diverging", dark if is_dark else light)


def is_dark_page() -> bool:
    """Return whether the theme in force is for a dark page."""
    return current_theme() == THEMES["dark"]


def text_color_on(color: Any) -> str:
    """Return the colour of text on a background of this colour, black or white: the contrast is 4.5 or more on any."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"
