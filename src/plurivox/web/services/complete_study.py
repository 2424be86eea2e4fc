"""A worker has come to the end: completion code, redirect or form of the platform."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import Connection

from plurivox.web.services.stages import WrongStage, current_stage
from plurivox.web.store.collect.sittings import answered_by
from plurivox.web.store.collect.workers import Worker, platform_of, worker_of
from plurivox.web.study.config import Study
from plurivox.web.study.config_sections import MTURK

How = Literal["done", "full", "failed"]
PROLIFIC = ("app.prolific.com", "app.prolific.co")


@dataclass(frozen=True)
class PlatformForm:
    """A form to be posted: the way in which MTurk hears of the end."""

    action: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Completion:
    """The end: a code to type, an address to go to, a form to send, or nothing of these."""

    code: str
    redirect: str
    how: How  # full: no task was left; failed: the check, or a rule
    text: str  # of an end that is not the usual one
    submit: PlatformForm | None


def complete_study(connection: Connection, study: Study, worker: int) -> Completion:
    """What a person who is at the last stage gets."""
    person = worker_of(connection, worker)
    if person.stage != "done":
        raise WrongStage(current_stage(connection, person))
    how = _how(connection, person)
    code = {"done": study.completion.code, "full": study.completion.full, "failed": study.completion.failed}[how]
    return Completion(
        code=code,
        redirect=address_of(study.completion.redirect, code) if how == "done" or code else "",
        how=how,
        text={"done": "", "full": study.texts.full, "failed": study.texts.failed}[how],
        submit=_platform_form(connection, person, code or how),
    )


def _how(connection: Connection, worker: Worker) -> How:
    if worker.status == "excluded":
        return "failed"
    return "done" if answered_by(connection, worker.id) else "full"


def address_of(redirect: str, code: str) -> str:
    """The platform's address with the code in it, where it takes one.

    >>> address_of("https://app.prolific.com/submissions/complete", "C1 X")
    'https://app.prolific.com/submissions/complete?cc=C1+X'
    >>> address_of("https://a.test/end?cc=OLD&x=1", "NEW"), address_of("https://a.test/end", "NEW")
    ('https://a.test/end?x=1&cc=NEW', 'https://a.test/end')
    """
    parts = urlsplit(redirect)
    asked = parse_qsl(parts.query, keep_blank_values=True)
    if not code or not (parts.hostname in PROLIFIC or any(name == "cc" for name, _ in asked)):
        return redirect
    query = urlencode([pair for pair in asked if pair[0] != "cc"] + [("cc", code)])
    return urlunsplit(parts._replace(query=query))


def _platform_form(connection: Connection, worker: Worker, code: str) -> PlatformForm | None:
    """MTurk hears of the end by a form with the assignment and at least one more field."""
    platform = platform_of(connection, worker.id)
    if platform is None or platform.name != "mturk" or platform.submit_to not in MTURK:
        return None
    fields = {"assignmentId": platform.session, "worker": worker.pseudonym, "code": code}
    return PlatformForm(f"{platform.submit_to}/mturk/externalSubmit", fields)
