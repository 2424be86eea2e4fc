"""Task cards of a report: labels with their bars, pictures as data addresses, shortened texts."""

import io

import pytest
from PIL import Image

from plurivox.workflows.report.page_content import TaskCard
from plurivox.workflows.report.task_card_view import (
    SHORT_TEXT,
    SHOWN_LABELS,
    card_image,
    card_labels,
    n_labels_shown,
    short_text,
)
from report_pages import png


def test_labels_are_sorted_by_probability_and_of_equal_ones_by_votes() -> None:
    card = TaskCard(
        "t", votes=(("cat", 3.0), ("ape", 0.5), ("dog", 0.5)), soft=(("dog", 0.7), ("cat", 0.297), ("cow", 0.003))
    )
    assert [one.name for one in card_labels(card)] == ["dog", "cat", "cow", "ape"]


def test_a_label_has_its_votes_and_its_probability_as_texts_and_bars() -> None:
    card = TaskCard("t", votes=(("cat", 3.0), ("dog", 0.5)), soft=(("dog", 0.7), ("cat", 0.297), ("cow", 0.003)))
    rows = [(one.name, one.votes, one.votes_bar, one.soft, one.soft_bar) for one in card_labels(card)]
    assert rows == [
        ("dog", "0.5", 14.3, "70%", 70.0),
        ("cat", "3", 85.7, "30%", 29.7),
        ("cow", "0", 0.0, "<1%", 0.3),
    ]


def test_what_is_not_known_is_not_zero() -> None:
    assert [one.soft for one in card_labels(TaskCard("t", votes=(("cat", 1.0),)))] == [None]
    assert [one.votes for one in card_labels(TaskCard("t", soft=(("cat", 1.0),)))] == [None]
    assert card_labels(TaskCard("t")) == []


def test_labels_that_hardly_anybody_thinks_of_are_folded_away() -> None:
    def shown(votes: int, *soft: float) -> int:
        names = [f"label {at}" for at in range(20)]
        card = TaskCard(
            "t", votes=tuple((name, 1.0) for name in names[:votes]), soft=tuple(zip(names, soft, strict=False))
        )
        return n_labels_shown(card_labels(card))

    assert shown(2, 0.5, 0.4, 0.06, 0.04) == 3
    assert shown(0, 0.04, 0.03) == 1 and shown(20) == SHOWN_LABELS


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_becomes_a_data_address_with_its_size(kind: str) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (120, 40)).save(buffer, kind)
    image = card_image(buffer.getvalue())
    assert image is not None and image.address.startswith(f"data:image/{kind.lower()};base64,")
    assert (image.width, image.height, image.tiny) == (120, 40, False)


def test_small_pictures_keep_sharp_pixels_and_other_files_are_not_shown() -> None:
    image = card_image(png(28, 28))
    assert image is not None and image.tiny
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "BMP")
    broken = png()[:60]
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    assert [card_image(one) for one in (None, b"", svg, broken[:9], buffer.getvalue())] == [None] * 5


def test_a_long_text_ends_after_a_word() -> None:
    text, more = short_text("word " * 200)
    assert more and text.endswith("word …") and len(text) <= SHORT_TEXT + 2
    assert short_text("a" * 1000) == ("a" * SHORT_TEXT + " …", True)
    assert short_text(" " * 1000)[1] and short_text("") == ("", False)
