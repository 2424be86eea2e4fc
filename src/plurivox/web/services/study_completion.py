"""What a worker gets at the end: completion code, redirect or form."""

from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import Connection, select

from plurivox.web.api.worker_schemas import Done, Submit
from plurivox.web.store.collect.availability import answered_by
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.schema import raw_ids
from plurivox.web.study.config import Study
from plurivox.web.study.terms import MTURK

How = Literal["done", "full", "failed"]
PROLIFIC = ("app.prolific.com", "app.prolific.co")


def end_of(connection: Connection, study: Study, worker: Worker) -> Done:
    """The end of a person who is at the last stage."""
    how = _how(connection, worker)
    code = {"done": study.completion.code, "full": study.completion.full, "failed": study.completion.failed}[how]
    return Done(
        code=code,
        redirect=address_of(study.completion.redirect, code) if how == "done" or code else "",
        how=how,
        text={"done": "", "full": study.texts.full, "failed": study.texts.failed}[how],
        submit=_submit(connection, worker, code or how),
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


def _submit(connection: Connection, worker: Worker, code: str) -> Submit | None:
    """MTurk hears of the end by a form with the assignment and at least one more field."""
    wanted = select(raw_ids.c.session, raw_ids.c.submit_to).where(raw_ids.c.worker_id == worker.id)
    row: Any = connection.execute(wanted.where(raw_ids.c.platform == "mturk")).first()
    if row is None or row.submit_to not in MTURK:
        return None
    fields = {"assignmentId": row.session, "worker": worker.pseudonym, "code": code}
    return Submit(action=f"{row.submit_to}/mturk/externalSubmit", fields=fields)
