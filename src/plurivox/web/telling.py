"""Words and values of a study.toml that people can read and edit: long texts stand in it as they are."""

import json
from typing import Any

HEAD = "# What this study asks. Edit it as you like; the server reads it when it starts.\n"
BEFORE = {  # comments above a part
    "strata": [
        "# how many tasks of each stratum a sitting has, such as hard = 22 and easy = 3;",
        "# the column stratum of the items says which is which",
    ],
    "texts": ["# what people read; a blank line parts paragraphs, an empty text leaves its page out"],
    "completion": ["# what people get at the end: a code to copy, or an https:// address they are sent to"],
    "phrase": [
        '# own words for what the task page asks, such as top = "Which bird do you see?"; they stay when form or wording',
        "# change, in every arm: what is not said here follows form, wording and kind",
    ],
}
QUIZ = [
    "",
    "# questions that check whether the instructions are clear; for each of them, lines like these without the #",
    "# [[quiz]]",
    '# question = "You are torn between two labels. What do you do?"',
    '# choices = ["Pick one and say 100 percent", "Name both, with percents"]',
    "# right = 1  # which choice is right, counted from 0",
    '# why = "Your doubt is what we want to know."',
]


def key_of(name: str) -> str:
    """A name to the left of =, in quotes where it must be."""
    return name if name.replace("_", "").isalnum() and name.isascii() else written(name)


def written(value: Any) -> str:
    """A value as TOML, which JSON is for all that a study holds; text of several lines stands between three quotes.

    >>> print(written("first\\n\\nsecond"))
    \"\"\"
    first
    <BLANKLINE>
    second\"\"\"
    """
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(_json(line)[1:-1] for line in value.split("\n")) + '"""'
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
