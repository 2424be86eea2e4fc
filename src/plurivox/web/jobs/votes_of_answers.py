"""Votes elicited from the answers of a study that count, as soft labels and reports use them."""

from plurivox.core.answers import Answers
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.study.config import Study
from plurivox.workflows import elicit_votes


def elicit_votes_by_form_of_each_answer(study: Study, answers: Answers) -> Elicited:
    """Convert answers to votes, each by the answer form in which it was given, with the study's options of that form."""
    assert answers.form is not None
    names = list(dict.fromkeys(answers.form.tolist()))
    if len(names) == 1:
        return elicit_votes(answers, study.elicit_form(names[0]))
    return elicit_votes(answers, "form-column", forms=study.elicit)


def votes_without_repeats(collected: CollectedAnswers, elicited: Elicited) -> Votes:
    """Return the votes elicited from answers, without those from repeated tasks."""
    assert elicited.votes.answer is not None
    return (
        elicited.votes
        if collected.non_repeat_answer_mask.all()
        else elicited.votes.where(collected.non_repeat_answer_mask[elicited.votes.answer])
    )
