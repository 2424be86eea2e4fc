"""A task card of a report as the page shows it: its picture as a data address, its votes and soft label in one table."""

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from plurivox.core.errors import require_package
from plurivox.workflows.report.page_content import TaskCard
from plurivox.workflows.report.table_cells import percent_text

IMAGE_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
TINY = 96  # pixels; a smaller picture is enlarged with sharp edges
SHORT_TEXT = 280  # characters of a text that are shown at once
SHOWN_LABELS = 6  # labels of a card that are shown at once, at most
SHOWN_SOFT = 5.0  # percent; a label without votes is shown at once if it has at least this probability


@dataclass(frozen=True)
class CardImage:
    """A picture inside the page."""

    address: str  # data:image/png;base64,...
    width: int
    height: int

    @property
    def tiny(self) -> bool:
        """Return whether the picture is so small that its pixels should stay sharp when it is enlarged."""
        return max(self.width, self.height) < TINY


@dataclass(frozen=True)
class CardLabel:
    """A label of a task: its votes, its probability, and the length of both bars in percent; None if unknown."""

    name: str
    votes: str | None
    votes_bar: float
    soft: str | None
    soft_bar: float


def card_image(content: bytes | None) -> CardImage | None:
    """Return the picture of a task with its size, or None if there is none that a browser can show."""
    if not content:
        return None
    pillow = require_package("PIL.Image", "a report with pictures", "pip install 'plurivox[plot]'")
    try:
        with pillow.open(io.BytesIO(content), formats=list(IMAGE_TYPES)) as picture:
            (width, height), kind = picture.size, IMAGE_TYPES[picture.format]
    except (OSError, ValueError, pillow.DecompressionBombError):
        return None
    return CardImage(f"data:{kind};base64,{base64.b64encode(content).decode()}", width, height)


def card_labels(card: TaskCard) -> list[CardLabel]:
    """Return the labels of a task with their votes and probabilities, the most probable first, then most votes."""
    votes, soft = dict(card.votes), dict(card.soft)
    total = sum(votes.values())
    rows = []
    for name in sorted({**votes, **soft}, key=lambda name: (-soft.get(name, 0.0), -votes.get(name, 0.0))):
        n, p = votes.get(name, 0.0 if votes else None), soft.get(name, 0.0 if soft else None)
        rows.append(
            CardLabel(
                name,
                None if n is None else _votes_text(n),
                _bar(n or 0.0, total),
                None if p is None else percent_text(p),
                _bar(p or 0.0, 1.0),
            )
        )
    return rows


def n_labels_shown(labels: Sequence[CardLabel]) -> int:
    """Return how many labels are shown at once: those with votes or a noticeable probability, one at least."""
    noticeable = sum(label.votes_bar > 0 or label.soft_bar >= SHOWN_SOFT for label in labels)
    return min(max(noticeable, 1), SHOWN_LABELS)


def short_text(text: str) -> tuple[str, bool]:
    """Return the first characters of a text, up to the end of a word, and whether there are more.

    >>> short_text("a short text")
    ('a short text', False)
    """
    if len(text) <= SHORT_TEXT * 1.2:
        return text, False
    head = text[:SHORT_TEXT]
    words = re.sub(r"\s+\S*$", "", head)
    return (words if len(words) > SHORT_TEXT // 2 else head) + " …", True


def _votes_text(n: float) -> str:
    """Return a number of votes; weights of soft answers have one decimal."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def _bar(value: float, whole: float) -> float:
    """Return the length of a bar in percent, between 0 and 100."""
    return round(100 * min(max(value / whole, 0.0), 1.0), 1) if whole > 0 else 0.0
