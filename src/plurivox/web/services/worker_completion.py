"""The end of a study for a worker: completion code, redirect, or form of the platform."""

from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import Connection

from plurivox.web.services.worker_stages import WrongStage, current_stage_study_state_and_sitting
from plurivox.web.store.collect.sittings_and_leased_slots import count_answered_slots_without_practice
from plurivox.web.store.collect.workers import Worker, get_platform_and_ids_of_worker, get_worker
from plurivox.web.study.completion_pay_exclusion_config import MTURK
from plurivox.web.study.config import NO_CODE, Study

Outcome = Literal["done", "full", "failed"]
PROLIFIC_HOSTS = ("app.prolific.com", "app.prolific.co")


@dataclass(frozen=True)
class PlatformForm:
    """A form that the page posts to MTurk when the worker has finished."""

    action: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Completion:
    """What the last page of a study shows a worker: a code to copy, a URL to go to, a form to post, or none of these."""

    code: str
    redirect: str
    how: Outcome  # full: no task was left; failed: excluded by the quiz or a rule
    text: str  # empty if done
    submit: PlatformForm | None


def get_completion_code_redirect_and_form(connection: Connection, study: Study, worker: int) -> Completion:
    """Return what the last page shows a worker: code, redirect and text; raise WrongStage if the worker has not finished."""
    person = get_worker(connection, worker)
    if person.stage != "done":
        raise WrongStage(current_stage_study_state_and_sitting(connection, person))
    completion = completion_of_outcome(study, _outcome_done_full_or_failed(connection, person))
    form = _mturk_completion_form_or_none(connection, person, completion.code or completion.how)
    return replace(completion, submit=form)


def completion_of_outcome(study: Study, outcome: Outcome) -> Completion:
    """Return what the last page shows workers who were done, found the study full or failed, without a platform's form."""
    code = {"done": study.completion.code, "full": study.completion.full, "failed": study.completion.failed}[outcome]
    return Completion(
        code=code,
        redirect=add_completion_code_if_prolific_url(study.completion.redirect, code)
        if outcome == "done" or code
        else "",
        how=outcome,
        text={"done": "", "full": _full_text(study), "failed": study.texts.failed}[outcome],
        submit=None,
    )


def _full_text(study: Study) -> str:
    """Return the text for people who find no task left; what it says about a missing code is left out if they get one."""
    text = study.texts.full
    if not study.completion.full:
        return text
    return "\n\n".join(part for part in text.split("\n\n") if NO_CODE not in part)


def _outcome_done_full_or_failed(connection: Connection, worker: Worker) -> Outcome:
    """Return how the study ended for a worker: done, full (no task was left) or failed (excluded)."""
    if worker.status == "excluded":
        return "failed"
    return "done" if count_answered_slots_without_practice(connection, worker.id) else "full"


def add_completion_code_if_prolific_url(redirect_url: str, completion_code: str) -> str:
    """Return the redirect URL with the completion code as `cc`, if its host is Prolific or it has a `cc` already.

    >>> add_completion_code_if_prolific_url("https://app.prolific.com/submissions/complete", "C1 X")
    'https://app.prolific.com/submissions/complete?cc=C1+X'
    >>> add_completion_code_if_prolific_url("https://a.test/end?cc=OLD&x=1", "NEW")
    'https://a.test/end?x=1&cc=NEW'
    >>> add_completion_code_if_prolific_url("https://a.test/end", "NEW")
    'https://a.test/end'
    """
    parts = urlsplit(redirect_url)
    fields = parse_qsl(parts.query, keep_blank_values=True)
    if not completion_code or not (parts.hostname in PROLIFIC_HOSTS or any(name == "cc" for name, _ in fields)):
        return redirect_url
    query = urlencode([pair for pair in fields if pair[0] != "cc"] + [("cc", completion_code)])
    return urlunsplit(parts._replace(query=query))


def _mturk_completion_form_or_none(connection: Connection, worker: Worker, completion_code: str) -> PlatformForm | None:
    """Return the form by which the page reports the completion to MTurk; None for workers from elsewhere.

    MTurk requires the assignment's id and at least one more field.
    """
    platform = get_platform_and_ids_of_worker(connection, worker.id)
    if platform is None or platform.name != "mturk" or platform.submit_to not in MTURK:
        return None
    fields = {"assignmentId": platform.session, "worker": worker.pseudonym, "code": completion_code}
    return PlatformForm(f"{platform.submit_to}/mturk/externalSubmit", fields)
