"""A worker enters a study or comes back: by an invitation link, a platform's link or a personal link."""

import secrets

from sqlalchemy import Connection

from plurivox.web.services.platform_admission import raise_unless_admitted
from plurivox.web.services.worker_stages import (
    CurrentStage,
    current_stage_study_state_and_sitting,
    move_to_last_stage_if_no_task_left,
)
from plurivox.web.store.admin.invites import increment_invite_uses_unless_closed_or_full
from plurivox.web.store.collect import workers
from plurivox.web.store.collect.arms import draw_arm_without_replacement_from_block
from plurivox.web.store.collect.workers import Platform, Worker, get_worker
from plurivox.web.store.errors import Conflict, Forbidden
from plurivox.web.store.study_state import require_open_study
from plurivox.web.study.config import Study
from plurivox.web.study.secret_key import StudySecret


def enter_by_invite_and_get_stage(
    connection: Connection, study: Study, keys: StudySecret, invite_id: int, browser_key: str | None = None
) -> CurrentStage:
    """Add a worker by an open invitation link, or find the one who entered from this browser; return the current stage.

    Raise Forbidden if the link is used up or closed, Conflict if the study is not open.
    """
    client_key = None if browser_key is None else keys.hash_token(f"{invite_id} {browser_key}")
    known = workers.find_worker_by_key(connection, client_key)
    if known is None:
        require_open_study(connection, study.texts.closed)
        if increment_invite_uses_unless_closed_or_full(connection, invite_id):
            pseudonym = keys.pseudonym(f"invite {secrets.token_hex(16)}")
            known = _insert_worker_at_first_stage_in_random_arm(connection, study, pseudonym, client_key)
        else:  # another server may have added the same client just now
            known = workers.find_worker_by_key(connection, client_key)
    if known is None:
        raise Forbidden(
            "invite-used",
            "this invitation link was used already or is closed; ask the people who sent it for another one",
        )
    return _turn_away_if_no_task_and_get_stage(connection, study, known)


def enter_by_platform_and_get_stage(
    connection: Connection,
    study: Study,
    keys: StudySecret,
    platform: Platform,
    signed_in_worker: int | None,
    browser_key: str | None = None,
) -> CurrentStage:
    """Add a worker sent by a platform, or find the one with the same platform id; return the current stage.

    The first entry binds the id: to enter again, a client needs its token (`signed_in_worker`) or the same key. At MTurk the
    assignment's id, which is secret, is the key, since pages in a frame may not be able to store one. Raise Forbidden if a new
    person is not admitted, Conflict if the id was used in another browser or the study is not open.
    """
    pseudonym = _pseudonym_of_platform_id(keys, platform)
    browser_key = platform.session if platform.name == "mturk" else browser_key
    client_key = None if browser_key is None else keys.hash_token(f"{pseudonym} {browser_key}")
    entry = workers.find_worker_id_and_client_key_by_pseudonym(connection, pseudonym)
    if entry is None:
        raise_unless_admitted(connection, study, platform)
        require_open_study(connection, study.texts.closed)
        person = _insert_worker_at_first_stage_in_random_arm(connection, study, pseudonym, client_key)
        workers.insert_platform_id_of_worker(connection, person.id, platform)
        return _turn_away_if_no_task_and_get_stage(connection, study, person)
    if entry.worker != signed_in_worker and (client_key is None or entry.client_key != client_key):
        detail = "you began this study in another browser; continue there, or open your personal link"
        raise Conflict("begun-elsewhere", detail)
    person = get_worker(connection, entry.worker)
    workers.update_platform_session_of_worker(connection, person.id, platform)
    if platform.name == "mturk" and entry.client_key != client_key:  # the assignment was returned and accepted again
        workers.set_client_key(connection, person.id, client_key)
    return _turn_away_if_no_task_and_get_stage(connection, study, person)


def is_new_and_admitted(connection: Connection, study: Study, keys: StudySecret, platform: Platform) -> bool:
    """Return whether a person from a platform enters for the first time.

    Raise Forbidden if a new person is not admitted, Conflict if the study is not open: neither counts as an arrival.
    """
    pseudonym = _pseudonym_of_platform_id(keys, platform)
    if workers.find_worker_id_and_client_key_by_pseudonym(connection, pseudonym) is not None:
        return False
    raise_unless_admitted(connection, study, platform)
    require_open_study(connection, study.texts.closed)
    return True


def _pseudonym_of_platform_id(keys: StudySecret, platform: Platform) -> str:
    """Return the pseudonym of a person by a keyed hash of the id at the platform."""
    return keys.pseudonym(f"{platform.name} {platform.pid}")


def get_stage_of_returning_worker(connection: Connection, study: Study, worker: int) -> CurrentStage:
    """Return the current stage of a worker who comes back by the personal link; turn the worker away if no task is left."""
    return _turn_away_if_no_task_and_get_stage(connection, study, get_worker(connection, worker))


def _insert_worker_at_first_stage_in_random_arm(
    connection: Connection, study: Study, pseudonym: str, client_key: str | None
) -> Worker:
    """Insert a new worker at the first stage, in an arm drawn at random."""
    arm = draw_arm_without_replacement_from_block(connection, study.weight_by_arm_name)
    return workers.add_worker(connection, pseudonym, study.list_stages()[0], arm, client_key)


def _turn_away_if_no_task_and_get_stage(connection: Connection, study: Study, worker: Worker) -> CurrentStage:
    """Return the current stage of a worker who enters the study, after turning the worker away if no task is left."""
    return current_stage_study_state_and_sitting(
        connection, move_to_last_stage_if_no_task_left(connection, study, worker)
    )
