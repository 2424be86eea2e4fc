"""Mistakes in study.toml are reported with what to do."""

from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.web.study.question_forms import THIRD, default_phrases_for_image_tasks
from plurivox.web.study.read_task_and_answer_files import read_tasks
from studies import plain_study


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"phrase": {"oping": "What?"}}, "unknown phrase oping; remove it"),
        ({"form": "chips", "chips": 30}, "use 2, 4, 5, 10, 20, 25, 50 or 100"),
    ],
)
def test_mistakes_are_named_with_what_to_do(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plain_study(**values)


def test_an_empty_folder_has_no_tasks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="put some there, or give another folder or table"):
        list(read_tasks(tmp_path, plain_study()))


def test_each_question_of_a_form_is_a_different_one() -> None:
    for form, person in (("top-two", "third"), ("also-possible", "third"), ("top-two", "first")):
        phrases = default_phrases_for_image_tasks(form, "third" if person == "third" else "first")
        asked = [phrases[name] for name in ("top", "top_percent", "second", "second_percent")]
        assert len(set(asked)) == 4
    assert "percent probability" in default_phrases_for_image_tasks("top-two", "third")["histogram"]
    assert default_phrases_for_image_tasks("chips", "third")["histogram"] == THIRD["histogram"]
