"""Alerts about failed background jobs, shown to owners: what failed, since when, what to do; removed when it works again."""

import json
from dataclasses import dataclass

from sqlalchemy import Connection, select

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import facts

RETRY_HINT = "The server tries again in every round. If it keeps failing, see the server's log and restart the server."
ADVICE = {
    "study": "Correct study.toml; it is read again in every round.",
    "aggregator": "Set another aggregator in study.toml, or none; soft labels are computed again in the next round.",
    "rules": f"No one is excluded in the meantime. {RETRY_HINT}",
    "labels": RETRY_HINT,
    "pay": f"The command plurivox studio pay computes the sheet separately. {RETRY_HINT}",
    "background": RETRY_HINT,
    "database": "Check whether the disk is full and whether the database runs. The server continues as soon as it can write; "
    "until then, unsaved answers stay in the browsers of the workers.",
    "leader": "Restart the server. Answers are still accepted and saved.",
}


@dataclass(frozen=True)
class Alert:
    """A failure of a background job: which one, what failed, since when."""

    of: str  # the job, a key of ADVICE
    what: str
    since: float

    @property
    def to_do(self) -> str:
        """What the owner of the study can do about a failed background job."""
        return ADVICE[self.of]


def set_or_delete_alert_of_job(connection: Connection, job: str, alert_text: str) -> None:
    """Save the alert of a background job, with the current time if its text is new; delete it if the text is empty."""
    saved = kv_get(connection, _facts_table_key_of_job_alert(job)) or {}
    if alert_text != saved.get("what", ""):
        kv_set(
            connection,
            _facts_table_key_of_job_alert(job),
            {"what": alert_text, "since": current_unix_time()} if alert_text else None,
        )


def list_job_alerts(connection: Connection) -> list[Alert]:
    """Return the current alerts about failed background jobs, the oldest first."""
    names = {_facts_table_key_of_job_alert(job): job for job in ADVICE}
    rows = connection.execute(select(facts).where(facts.c.name.in_(names))).all()
    found = [(names[row.name], saved) for row in rows if (saved := json.loads(row.value))]
    return sorted((Alert(job, one["what"], one["since"]) for job, one in found), key=lambda alert: alert.since)


def _facts_table_key_of_job_alert(job: str) -> str:
    """Return the key of the table `facts` under which the alert of a background job is saved."""
    return f"trouble: {job}"
