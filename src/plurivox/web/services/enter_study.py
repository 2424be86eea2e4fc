"""A person comes into a study, or comes back: by an invite, a platform's link or a personal link."""

import secrets

from sqlalchemy import Connection

from plurivox.web.services.stages import CurrentStage, current_stage, turn_away_if_full
from plurivox.web.store.admin.invites import use_invite
from plurivox.web.store.collect import workers
from plurivox.web.store.collect.arms import draw
from plurivox.web.store.collect.workers import Platform, Worker, worker_of
from plurivox.web.store.errors import Conflict, Forbidden
from plurivox.web.store.study_state import must_be_open
from plurivox.web.study.config import Study
from plurivox.web.study.secrets import StudySecret


def enter_by_invite(
    connection: Connection, study: Study, keys: StudySecret, invite: int, key: str | None = None
) -> CurrentStage:
    """A new person with an invite that is open and not used up; or the one whose client has this key."""
    client_key = None if key is None else keys.hash_token(f"{invite} {key}")
    known = workers.worker_with_key(connection, client_key)
    if known is None:
        must_be_open(connection, study.texts.closed)
        if use_invite(connection, invite):
            pseudonym = keys.pseudonym(f"invite {secrets.token_hex(16)}")
            known = _add_worker(connection, study, pseudonym, client_key)
        else:  # perhaps another server let the same client in just now
            known = workers.worker_with_key(connection, client_key)
    if known is None:
        raise Forbidden("invite-used", "this invite is used up or closed; ask for another one")
    return _current_stage(connection, study, known)


def enter_by_platform(
    connection: Connection, study: Study, keys: StudySecret, who: Platform, bearer: int | None, key: str | None = None
) -> CurrentStage:
    """A person sent by a platform. The first token binds the id: whoever types it again needs that token, or the key of
    the client that asked for it. At MTurk the assignment's id, which nobody else knows, is that key: pages in a frame
    may not be able to keep one."""
    if who.name not in study.platforms:
        raise Forbidden("other-platform", "this study takes nobody from this platform")
    pseudonym = keys.pseudonym(f"{who.name} {who.pid}")
    key = who.session if who.name == "mturk" else key
    client_key = None if key is None else keys.hash_token(f"{pseudonym} {key}")
    entry = workers.entry_of(connection, pseudonym)
    if entry is None:
        must_be_open(connection, study.texts.closed)
        person = _add_worker(connection, study, pseudonym, client_key)
        workers.add_platform(connection, person.id, who)
        return _current_stage(connection, study, person)
    if entry.worker != bearer and (client_key is None or entry.client_key != client_key):
        detail = "somebody has begun with this id; go on in the browser you began in, or by your personal link"
        raise Conflict("begun-elsewhere", detail)
    person = worker_of(connection, entry.worker)
    workers.set_session(connection, person.id, who)
    if who.name == "mturk" and entry.client_key != client_key:  # returned, and accepted again
        workers.set_client_key(connection, person.id, client_key)
    return _current_stage(connection, study, person)


def enter_by_link(connection: Connection, study: Study, worker: int) -> CurrentStage:
    """A person who comes back by the personal link."""
    return _current_stage(connection, study, worker_of(connection, worker))


def _add_worker(connection: Connection, study: Study, pseudonym: str, client_key: str | None) -> Worker:
    arm = draw(connection, study.shares)
    return workers.add_worker(connection, pseudonym, study.stages()[0], arm, client_key)


def _current_stage(connection: Connection, study: Study, worker: Worker) -> CurrentStage:
    return current_stage(connection, turn_away_if_full(connection, study, worker))
