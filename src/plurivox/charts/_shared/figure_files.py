"""The figure of a chart: how it is created, shown in a notebook and written to a file."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from plurivox.charts._shared.hover_text import svg_text
from plurivox.charts._shared.theme import ThemeName, theme_settings
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, warn_user

FILE_TYPES = (".svg", ".png", ".pdf")
RESOLUTION = 200  # dots per inch of .png
MISSING_GLYPH = r"Glyph .* missing from"


class ChartFigure(Figure):
    """A matplotlib figure that knows the title and the caption of its chart, and that notebooks show."""

    def __init__(self, *args: Any, title: str = "", theme: ThemeName = "light", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.title, self.theme, self.caption = title, theme, ""

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        with theme_settings(self.theme), _warn_of_missing_characters():
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()

    def to_svg(self, id_prefix: str = "") -> str:
        """Return the picture as SVG, with the caption as description; text stays text, in any script."""
        with theme_settings(self.theme), warnings.catch_warnings():
            warnings.filterwarnings("ignore", MISSING_GLYPH)  # the program that shows the file chooses the font
            return svg_text(self, title=self.title, description=self.caption, id_prefix=id_prefix)

    def write(self, path: str | Path) -> None:
        """Write the picture to a .svg, .png or .pdf file, the same bytes for the same picture."""
        target = Path(path)
        check_figure_file_type(target)
        with atomic_file(target) as part:
            if target.suffix.lower() == ".svg":
                Path(part).write_text(self.to_svg(), encoding="utf-8")
                return
            kind = target.suffix.lower()[1:]
            fixed = {"Software": None} if kind == "png" else {"CreationDate": None, "Producer": None, "Creator": None}
            with theme_settings(self.theme), _warn_of_missing_characters():
                self.savefig(part, format=kind, dpi=RESOLUTION, metadata=fixed)


def check_figure_file_type(path: Path) -> None:
    """Raise InputError if the file is not of a type that charts are written as."""
    if path.suffix.lower() not in FILE_TYPES:
        raise InputError(f"unsupported file type of {path}; a chart is written as {', '.join(FILE_TYPES)}")


@contextmanager
def _warn_of_missing_characters() -> Iterator[None]:
    """Replace matplotlib's warnings on characters that no font has by one that says what to do."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    missing = [one for one in found if "missing from" in str(one.message) and "Glyph" in str(one.message)]
    for one in found:
        if one not in missing:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if missing:
        warn_user(
            "the installed fonts lack some characters of the names, which appear as boxes: install fonts for their script, "
            "such as the package fonts-noto-cjk, or write .svg, in which text stays text"
        )
