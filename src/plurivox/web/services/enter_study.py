"""A worker enters a study or comes back: by an invitation link, a platform's link or a personal link."""

import secrets

from sqlalchemy import Connection

from plurivox.web.services.worker_stages import CurrentStage, current_stage, turn_away_if_full
from plurivox.web.store.admin.invites import use_invite
from plurivox.web.store.collect import workers
from plurivox.web.store.collect.arms import draw_arm
from plurivox.web.store.collect.workers import Platform, Worker, get_worker
from plurivox.web.store.errors import Conflict, Forbidden
from plurivox.web.store.study_state import require_open
from plurivox.web.study.config import Study
from plurivox.web.study.secret_key import StudySecret


def enter_by_invite(
    connection: Connection, study: Study, keys: StudySecret, invite: int, key: str | None = None
) -> CurrentStage:
    """Add a worker by an open invitation link, or return the worker whose client has this key.

    Raise Forbidden if the link is used up or closed, Conflict if the study is not open.
    """
    client_key = None if key is None else keys.hash_token(f"{invite} {key}")
    known = workers.find_worker_by_key(connection, client_key)
    if known is None:
        require_open(connection, study.texts.closed)
        if use_invite(connection, invite):
            pseudonym = keys.pseudonym(f"invite {secrets.token_hex(16)}")
            known = _add_worker(connection, study, pseudonym, client_key)
        else:  # another server may have added the same client just now
            known = workers.find_worker_by_key(connection, client_key)
    if known is None:
        raise Forbidden("invite-used", "this invitation link is used up or closed; ask for another one")
    return _stage_on_entry(connection, study, known)


def enter_by_platform(
    connection: Connection, study: Study, keys: StudySecret, who: Platform, bearer: int | None, key: str | None = None
) -> CurrentStage:
    """Add a worker sent by a platform, or return the one with the same platform id.

    The first entry binds the id: to enter again, a client needs its token (`bearer`) or the same key. At MTurk the
    assignment's id, which is secret, is the key, since pages in a frame may not be able to store one. Raise Forbidden if the
    study does not accept the platform, Conflict if the id was used in another browser or the study is not open.
    """
    if who.name not in study.platforms:
        raise Forbidden("other-platform", "this study does not accept workers from this platform")
    pseudonym = keys.pseudonym(f"{who.name} {who.pid}")
    key = who.session if who.name == "mturk" else key
    client_key = None if key is None else keys.hash_token(f"{pseudonym} {key}")
    entry = workers.find_entry(connection, pseudonym)
    if entry is None:
        require_open(connection, study.texts.closed)
        person = _add_worker(connection, study, pseudonym, client_key)
        workers.add_platform(connection, person.id, who)
        return _stage_on_entry(connection, study, person)
    if entry.worker != bearer and (client_key is None or entry.client_key != client_key):
        detail = "this id is in use already; continue in the browser in which you began, or with your personal link"
        raise Conflict("begun-elsewhere", detail)
    person = get_worker(connection, entry.worker)
    workers.set_session(connection, person.id, who)
    if who.name == "mturk" and entry.client_key != client_key:  # the assignment was returned and accepted again
        workers.set_client_key(connection, person.id, client_key)
    return _stage_on_entry(connection, study, person)


def enter_by_link(connection: Connection, study: Study, worker: int) -> CurrentStage:
    """Return the stage of a worker who comes back by the personal link."""
    return _stage_on_entry(connection, study, get_worker(connection, worker))


def _add_worker(connection: Connection, study: Study, pseudonym: str, client_key: str | None) -> Worker:
    """Insert a new worker at the first stage, in an arm drawn at random."""
    arm = draw_arm(connection, study.arm_weights)
    return workers.add_worker(connection, pseudonym, study.list_stages()[0], arm, client_key)


def _stage_on_entry(connection: Connection, study: Study, worker: Worker) -> CurrentStage:
    """Return the stage of a worker who enters; one for whom no task is left is turned away."""
    return current_stage(connection, turn_away_if_full(connection, study, worker))
