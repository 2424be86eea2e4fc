"""What each submitted answer counts as; every page, `studio status` and the export use these words and no others.

Each answer is of one kind, the first that applies:

    replaced   the person changed it later; the later answer takes its place
    practice   an answer to a practice task
    excluded   by a person who is excluded now
    repeat     a task that the person had answered before in the same sitting
    late       beyond the quota: it came when its task was full, or its person was excluded and then reinstated
    counts     fills a slot of its task's quota

Soft labels use `counts` and `late`; agreement of people with themselves, times, and the table `answers` of the export also use
`repeat`; the table `views` of the export has all of them.
"""

from typing import Any, Literal, get_args

from sqlalchemy import case

from plurivox.web.store.schema import answers, slots

AnswerKind = Literal["counts", "late", "repeat", "practice", "replaced", "excluded"]
ANSWER_KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
EXPORTED_KINDS = ("counts", "late", "repeat")  # in the table `answers` of the export, and in charts of answers
SOFT_LABEL_KINDS = ("counts", "late")  # in soft labels


def _sql_kind(is_replaced: Any) -> Any:
    """Return the SQL expression for the kind of an answer, given the condition for a replaced one."""
    return case(
        (is_replaced, "replaced"),
        (slots.c.kind == "practice", "practice"),
        (slots.c.state == "excluded", "excluded"),
        (slots.c.kind == "repeat", "repeat"),
        (slots.c.state == "extra", "late"),
        else_="counts",
    )


ANSWER_KIND = _sql_kind(slots.c.answer_id != answers.c.id)
# for running counters: an answer is counted once and not again when it is replaced, so the later answer is the replaced one
ANSWER_KIND_WITHOUT_RECOUNT = _sql_kind(answers.c.replaces.is_not(None))
