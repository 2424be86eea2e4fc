"""The default text of the instructions page: it follows the form, the wording and the kind of tasks of a study."""

from dataclasses import replace
from typing import Literal

from plurivox.core.inputs_asked_by_form import Question
from plurivox.web.store.schema import TaskKind
from plurivox.web.study.question_forms import PAPER_FORM, Person

# version 0.1.0 wrote this text, the same for every form, into study.toml
OLD_DEFAULT = (
    "You will see one task after another. For each one, choose the label that fits and say how sure you are.\n\n"
    "You do not need to hurry or to be certain: we want to know when you are in doubt."
)
OPENINGS = {  # by kind of task; "": not known
    "image": "You will see one picture after another. For each picture,",
    "text": "You will read one text after another. For each text,",
    "pair": "You will read two texts at a time. For each pair of texts,",
    "audio": "You will hear one sound after another. For each sound,",
    "": "You will see one task after another. For each task,",
}
LISTEN = "You can send your answer once the sound has been played to the end. "
CANNOT_TELL = "If you cannot tell, answer “Can't tell”. If no label fits, answer “None of these”."
PAPER = (
    "imagine that 100 crowdsourced workers are asked what category it belongs to. Choose the category that you "
    "think they would select as most probable, and the percent probability that they would assign to it. If you think that "
    "they would select an alternate category, choose it too, with its percent."
)
PAPER_TICKS = " Then mark the categories that you think they would say are definitely not the true one."


def default_instructions(
    form: str,
    question: Question,
    grammatical_person: Person,
    task_kind: TaskKind | Literal[""],
    *,
    n_labels: int,
    chips: int,
    submit_early: bool,
) -> str:
    """Return the default instructions of a study, in three paragraphs.

    >>> rest = dict(n_labels=2, chips=0, submit_early=False)
    >>> print(default_instructions("one-label", Question(labels=1), "first", "image", **rest).split("\\n\\n")[0])
    You will see one picture after another. For each picture, choose the label that fits best.
    """
    if question.ticks == "possible" and n_labels <= (question.labels or 0):  # all can be picked: none is left to tick
        question = replace(question, ticks=None)
    listen = LISTEN if task_kind == "audio" and not submit_early else ""
    if grammatical_person == "third":
        asked = f"imagine that 100 other people answer. {_third(question, chips)}"
        if form == PAPER_FORM:
            asked = PAPER + (PAPER_TICKS if question.ticks else "")
        closing = "We ask what the others would choose, not what you would choose yourself. There is no need to hurry."
    else:
        asked = _first(question, chips)
        closing = "There is no need to hurry."
        if question.percents or question.labels != 1:
            closing = "You do not need to hurry or to be certain: we want to know when you are in doubt."
    return f"{OPENINGS[task_kind]} {asked}\n\n{closing}\n\n{listen}{CANNOT_TELL}"


def _first(question: Question, chips: int) -> str:
    """Return what a form asks for in the first person, as the end of a sentence and perhaps further sentences."""
    if question.labels is None and question.percents:
        place = f"place all {chips} chips on the labels" if chips else "divide 100 percent among the labels"
        return f"{place}: the more probable a label, the more it gets."
    if question.labels is None:
        return "rank the labels, the most probable first. You need not rank all labels."
    if question.labels == 1 and not question.percents:
        text = "choose the label that fits best."
    elif not question.percents:
        text = "choose the most probable label and, if another one is possible too, the second most probable."
    else:
        text = "choose the most probable label and say how sure you are, in percent."
        if question.labels == 2:
            text += " If another label is possible too, choose it as the second one, and divide the percents between the two."
    ticks = {
        "never": " Mark labels that are definitely not correct.",
        "possible": " Mark other labels that are also possible.",
    }
    return text + ticks.get(question.ticks or "", "")


def _third(question: Question, chips: int) -> str:
    """Return what a form asks for in the third person, about 100 other people, as sentences."""
    if question.labels is None and question.percents:
        if chips:
            return (
                f"Place all {chips} chips on the labels: the more of them would choose a label, the more chips it gets."
            )
        return "Say how many of the 100 would choose each label."
    if question.labels is None:
        return "Rank the labels, the one that most of them would choose first. You need not rank all labels."
    text = "Choose the label that most of them would choose"
    if question.labels == 2 and not question.percents:
        text += " and, if there is one, the label that would come second"
    elif question.percents:
        text += ", and say how many of the 100 would choose it"
    text += "."
    if question.labels == 2 and question.percents:
        text += " If some of them would choose another label, choose it as the second one, and say how many."
    ticks = {
        "never": " Mark labels that nobody would choose.",
        "possible": " Mark other labels that some would choose as well.",
    }
    return text + ticks.get(question.ticks or "", "")
