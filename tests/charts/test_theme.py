"""Colours of light and dark pages: heat maps begin at the colour of the page, and text on them is legible."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from plurivox.charts._shared.theme import (
    SERIES,
    THEMES,
    ThemeName,
    sequential_colormap,
    text_color_on,
    theme_settings,
)


def contrast(first: object, second: object) -> float:
    """Return the contrast ratio of the Web Content Accessibility Guidelines, 1 to 21."""
    light, dark = sorted((luminance(one) for one in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: object) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]  # type: ignore[arg-type]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("name", THEMES)
def test_heat_maps_begin_at_the_colour_of_the_page_and_get_steadily_darker_or_lighter(name: ThemeName) -> None:
    with theme_settings(name):
        shades = [sequential_colormap()(share) for share in np.linspace(0, 1, 21)]
    assert contrast(shades[0], THEMES[name].paper) < 1.3 and contrast(shades[-1], THEMES[name].paper) > 10
    steps = np.diff([luminance(one) for one in shades])
    assert (steps < 0).all() if name == "light" else (steps > 0).all()
    assert all(contrast(text_color_on(one), one) >= 4.5 for one in shades)


@pytest.mark.parametrize("name", THEMES)
def test_text_and_series_stand_out_from_the_page(name: ThemeName) -> None:
    theme = THEMES[name]
    assert contrast(theme.ink, theme.paper) > 10 and contrast(theme.muted, theme.paper) > 4.5
    assert all(contrast(color, theme.paper) > 2 for color in SERIES)
