"""Write a study as a commented study.toml."""

import json
from typing import Any, get_args

from plurivox.web.store.schema import TaskKind
from plurivox.web.study.config import Study
from plurivox.web.study.forms import FORMS

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


HINTS = {
    "form": ", ".join(FORMS),
    "forms": "two or more: each person is asked in one of them, drawn at random; or [[arm]] with form, wording, share",
    "wording": "first or third person: what do you think, or what would 100 others say",
    "kind": f"what tasks are ({', '.join(get_args(TaskKind))}): the words of the task page follow",
    "chips": "of the form chips: how many there are; each is 100 / chips percent",
    "per_task": "answers wanted for every task, each of another person",
    "batch": "tasks in a sitting; strata, where there are any, say it instead",
    "repeats": "tasks of a sitting that come again in it, as a check of consistency",
    "sittings": "how many batches one person may answer",
    "practice": "practice tasks, of those that the items mark so in a column practice; without any, the page is left out",
    "assign": "quota, strata, batches or next-best, as 'plurivox assign' tells; empty: what fits the rest",
    "token_days": "a person who was away for longer needs the personal link to go on",
    "lease_minutes": "after so long without an answer, open slots go to others",
    "aggregator": "of the owner's pages; empty: the mean of the soft answers",
    "frame_ancestors": "https:// addresses of platforms that may show the pages in a frame",
    "completion.redirect": "https://app.prolific.com/submissions/complete; the code is added as cc=",
    "completion.failed": "the code of who failed the check or was excluded",
    "completion.full": "the code of who found no task left",
    "pay.base": "for taking part",
    "pay.per_hour": "the paper paid 8, and a bonus_per_hour of 1 to who always matched others",
    "pay.bonus_per_hour": "times the share of answers whose top label is also that of most others",
    "pay.time": "active, or total: from the first page to the last, pauses too",
    "pay.most_minutes": "time beyond this is not paid; 0: all is",
    "pay.least_answers": "who gave fewer is paid nothing",
    "pay.excluded": "without-bonus or nothing",
    "exclude.rules": "rules of plurivox clean, such as attention-checks[at_most=1], too-fast[share=0.3]",
    "exclude.least_answers": "nobody is judged by fewer answers",
    "exclude.quiz_tries": "who fails the check so often is out; 0: may try for ever",
    "platforms": "whose links let people in: prolific, mturk",
    "submit_early": "whether a sound may be answered before it was heard to the end",
    "title": "what people see above the tasks; empty: the name",
    "labels": "more may be added later; none can be renamed once answers name it",
    "image_pixels": "smaller images are enlarged to this",
    "too_fast_seconds": "answers faster than this are flagged",
}
PARTS = ("strata", "texts", "completion", "pay", "exclude", "phrase")


def study_text(study: Study) -> str:
    """A study as a file that people can read and edit.

    >>> print(study_text(Study(name="pets", labels=["cat", "dog"])).splitlines()[2])
    name = "pets"
    """
    values = study.model_dump(mode="json")
    parts = {name: values.pop(name) for name in (*PARTS, "quiz", "arm")}
    lines = [HEAD]
    for name, value in values.items():
        hint = f"  # {HINTS[name]}" if name in HINTS else ""
        lines.append(f"{name} = {written(value)}{hint}")
    for name in PARTS:
        lines += ["", *BEFORE.get(name, []), f"[{name}]"]
        for key, value in parts[name].items():
            hint = f"  # {HINTS[f'{name}.{key}']}" if f"{name}.{key}" in HINTS else ""
            lines.append(f"{key_of(key)} = {written(value)}{hint}")
    for name in ("quiz", "arm"):
        for one in parts[name]:
            lines += ["", f"[[{name}]]", *(f"{key} = {written(value)}" for key, value in one.items())]
    return "\n".join(lines + ([] if parts["quiz"] else QUIZ)) + "\n"
