"""Render a study as study.toml with comments."""

import json
from typing import Any, get_args

from plurivox.web.store.schema import TaskKind
from plurivox.web.study.config import Study
from plurivox.web.study.question_forms import FORMS

HEADER = "# Configuration of this study. You can edit it; the server reads it when it starts.\n"
SECTION_COMMENTS = {
    "strata": [
        "# how many tasks of each stratum a sitting has, for example hard = 22 and easy = 3;",
        "# the column stratum of the items contains the stratum of each task",
    ],
    "texts": [
        "# texts of the pages; a blank line separates paragraphs, a page with an empty text is skipped;",
        '# without a line instructions = "...", that page has a default text for form, wording and kind',
    ],
    "completion": ["# what people get at the end: a code to copy, or an https:// address that they are redirected to"],
    "phrase": [
        '# custom wording of the questions on the task page, for example top = "Which bird do you see?"; used for every form',
        "# and wording and in every arm; other questions have the default wording of form, wording and kind",
    ],
}
QUIZ_EXAMPLE = [
    "",
    "# questions that check whether the instructions are clear; for each question, add lines like these without the #",
    "# [[quiz]]",
    '# question = "No label fits. What do you do?"',
    '# choices = ["Pick any label", "Answer None of these"]',
    "# right = 1  # the correct choice, counted from 0",
    '# why = "We want to know when no label fits."',
]


def toml_key(name: str) -> str:
    """Return a name as a TOML key, in quotes if needed."""
    return name if name.replace("_", "").isalnum() and name.isascii() else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a Python value as TOML text; text of several lines is put in triple quotes.

    >>> print(toml_value("first\\n\\nsecond"))
    \"\"\"
    first
    <BLANKLINE>
    second\"\"\"
    """
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(_one_line_toml_literal(line)[1:-1] for line in value.split("\n")) + '"""'
    return _one_line_toml_literal(value)


def _one_line_toml_literal(value: Any) -> str:
    """Return a one-line value as TOML, written as JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


COMMENTS = {  # by name, or section.name
    "form": ", ".join(FORMS),
    "forms": "two or more forms: each person is assigned to one at random; or use [[arm]] with form, wording, share",
    "wording": "first or third person: what do you think, or what would 100 others say",
    "kind": f"kind of the tasks ({', '.join(get_args(TaskKind))}); the wording of the task page depends on it",
    "chips": "number of chips in the form chips; each is worth 100 / chips percent",
    "per_task": "answers wanted per task, each from a different person",
    "batch": "tasks per sitting; ignored if there are strata",
    "repeats": "tasks of a sitting that are shown twice, to check consistency",
    "sittings": "how many batches one person may answer",
    "practice": "number of practice tasks, taken from items marked in the column practice; without any, the page is skipped",
    "assign": "quota, tasks-per-stratum, batches or next-best (see plurivox assign); empty: by batches or strata, else quota",
    "token_days": "after so many days without a visit, a person needs the personal link to continue",
    "lease_minutes": "after so many minutes without an answer, the tasks of a sitting are given to others",
    "first_answer_minutes": "the same before the first answer, and so much longer with each answer, up to lease_minutes",
    "unanswered_share": "people without any answer hold at most this share of the open tasks, others wait; 1: no limit",
    "elicit": "options of the forms, by which answers become soft labels, for example top-two[gamma=0.05]; empty: defaults",
    "aggregator": "for truth, for people, or one of each separated by a comma; empty: the defaults (see plurivox methods)",
    "frame_ancestors": "https:// addresses of sites that may show the pages in a frame",
    "texts.closed": "shown while the study is paused or closed; empty: the default text of each",
    "completion.redirect": "https://app.prolific.com/submissions/complete; the code is added as cc=",
    "completion.failed": "code for people who failed the check or were excluded",
    "completion.full": "code for people who found no task left",
    "pay.base": "for taking part",
    "pay.per_hour": "Collins et al. (2022) paid 8, and a bonus_per_hour of 1 for answers that always match",
    "pay.bonus_per_hour": "multiplied by the share of answers whose top label matches most others",
    "pay.time": "active, at most what the server saw; or total: from the first page to the last, with pauses",
    "pay.most_page_minutes": "active minutes paid per page besides the tasks, or total minutes after the tasks; 0: no limit",
    "pay.most_minutes": "minutes paid per person at most, whatever time a browser claims; 0: no limit, not recommended",
    "pay.least_answers": "people with fewer answers are not paid",
    "pay.excluded": "pay of excluded people: without-bonus or nothing",
    "exclude.rules": "rules of plurivox clean, for example attention-checks[at_most=1], too-fast[share=0.3]",
    "exclude.least_answers": "people with fewer answers are not excluded",
    "exclude.quiz_tries": "people who fail the check so often are excluded; 0: no limit",
    "platforms": "platforms whose links are accepted: prolific, mturk; empty: by invitation only",
    "prolific_studies": "IDs of the studies at Prolific whose people are admitted; more can be added on the page Invitations",
    "mturk_hits": "IDs of the HITs at MTurk whose workers are admitted; more can be added on the page Invitations",
    "submit_early": "whether a sound can be answered before it was played to the end",
    "title": "shown above the tasks; empty: the name",
    "labels": "labels can be added later, but not renamed once there are answers with them",
    "image_pixels": "smaller images are enlarged to this size",
    "too_fast_seconds": "answers in fewer seconds are too fast: in flags, on the page Workers and in the rule too-fast",
}
SECTIONS = ("strata", "texts", "completion", "pay", "exclude", "phrase")


def render_study_toml(study: Study) -> str:
    """Return the text of study.toml for a study, with comments.

    >>> print(render_study_toml(Study(name="pets", labels=["cat", "dog"])).splitlines()[2])
    name = "pets"
    """
    values = study.model_dump(mode="json")
    parts = {name: values.pop(name) for name in (*SECTIONS, "quiz", "arm")}
    lines = [HEADER]
    for name, value in values.items():
        hint = f"  # {COMMENTS[name]}" if name in COMMENTS else ""
        lines.append(f"{name} = {toml_value(value)}{hint}")
    for name in SECTIONS:
        lines += ["", *SECTION_COMMENTS.get(name, []), f"[{name}]"]
        for key, value in parts[name].items():
            if value is None:  # a default that depends on other settings is not written
                continue
            hint = f"  # {COMMENTS[f'{name}.{key}']}" if f"{name}.{key}" in COMMENTS else ""
            lines.append(f"{toml_key(key)} = {toml_value(value)}{hint}")
    for name in ("quiz", "arm"):
        for one in parts[name]:
            lines += ["", f"[[{name}]]", *(f"{key} = {toml_value(value)}" for key, value in one.items())]
    return "\n".join(lines + ([] if parts["quiz"] else QUIZ_EXAMPLE)) + "\n"
