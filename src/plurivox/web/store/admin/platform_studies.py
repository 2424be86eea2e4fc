"""Admitted studies of platforms (at MTurk: HITs): whose people may enter by the platform's link. Owners add and remove them."""

from collections.abc import Set
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotFound
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import platform_studies

# the fact of studies made before ids were required: true, or the platforms that still admit everyone
WITHOUT_IDS = "platforms_without_ids"
PLATFORMS_BEFORE_IDS = ("prolific", "mturk")


@dataclass(frozen=True)
class PlatformStudy:
    """A study at a platform (at MTurk: a HIT) that an owner has admitted, and when."""

    platform: str
    study: str
    at: float


def list_platform_studies(connection: Connection) -> list[PlatformStudy]:
    """Return the studies of platforms that owners have admitted on their pages, the newest first."""
    rows = connection.execute(select(platform_studies).order_by(platform_studies.c.at.desc(), platform_studies.c.study))
    return [PlatformStudy(row.platform, row.study, row.at) for row in rows]


def is_platform_study_admitted(connection: Connection, platform: str, study: str) -> bool:
    """Return whether an owner has admitted a study of a platform on the owner's pages."""
    this = (platform_studies.c.platform == platform) & (platform_studies.c.study == study)
    return connection.execute(select(platform_studies.c.study).where(this)).first() is not None


def has_platform_study(connection: Connection, platform: str) -> bool:
    """Return whether an owner has admitted any study of a platform on the owner's pages."""
    any_study = select(platform_studies.c.study).where(platform_studies.c.platform == platform).limit(1)
    return connection.execute(any_study).first() is not None


def admit_platform_study(connection: Connection, audit_actor: str, platform: str, study: str) -> None:
    """Admit the people of a study at a platform, and log it; from then on the platform admits listed studies only."""
    if is_platform_study_admitted(connection, platform, study):
        return
    connection.execute(insert(platform_studies).values(platform=platform, study=study, at=current_unix_time()))
    append_to_audit_log(connection, audit_actor, "platform study admitted", platform=platform, study=study)
    require_ids_except_of_platforms(connection, platforms_without_required_ids(connection) - {platform})


def remove_platform_study(connection: Connection, audit_actor: str, platform: str, study: str) -> None:
    """No longer admit new people of a study at a platform, and log it; raise NotFound if no owner had admitted it."""
    this = (platform_studies.c.platform == platform) & (platform_studies.c.study == study)
    if not connection.execute(delete(platform_studies).where(this)).rowcount:
        raise NotFound("study among the admitted ones")
    append_to_audit_log(connection, audit_actor, "platform study removed", platform=platform, study=study)


# ---- studies made before ids were required


def was_made_before_ids_were_required(connection: Connection) -> bool:
    """Return whether the study was made when a platform's link let anyone in; this never changes."""
    return kv_get(connection, WITHOUT_IDS) is not None


def platforms_without_required_ids(connection: Connection) -> Set[str]:
    """Return the platforms that admit everyone because the study was made before ids were required and has none yet."""
    saved = kv_get(connection, WITHOUT_IDS)
    return set(PLATFORMS_BEFORE_IDS if saved is True else saved or ())


def require_ids_except_of_platforms(connection: Connection, still_without: Set[str]) -> None:
    """Require ids of all platforms but those that still admit everyone; a platform never becomes one of these again."""
    before = platforms_without_required_ids(connection)
    if before - still_without:
        kv_set(connection, WITHOUT_IDS, sorted(before & still_without))
