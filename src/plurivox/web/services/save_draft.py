"""A worker's page saves the unfinished answer, which also shows that the person is working."""

from sqlalchemy import Connection

from plurivox.web.store.collect.leases import extend_lease_before_first_answer
from plurivox.web.store.collect.submissions import Draft, try_save_draft_in_leased_slot
from plurivox.web.study.config import Study


def save_draft_and_extend_first_lease(connection: Connection, study: Study, worker: int, draft: Draft) -> bool:
    """Save a worker's unfinished answer and return True; False if its slot is answered or not leased.

    Before the first answer of a sitting it extends the short lease, up to three times its length: a client that only sends
    drafts cannot hold tasks for long.
    """
    if not try_save_draft_in_leased_slot(connection, worker, draft):
        return False
    extend_lease_before_first_answer(
        connection, draft.slot, study.first_answer_seconds, study.longest_first_answer_seconds
    )
    return True
