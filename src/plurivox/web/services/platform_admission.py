"""Who may enter by a platform's link: people of the admitted studies at Prolific and HITs at MTurk."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from plurivox.web.store.admin import platform_studies
from plurivox.web.store.admin.platform_studies import PlatformStudy
from plurivox.web.store.collect.workers import Platform
from plurivox.web.store.errors import Conflict, Forbidden, Invalid
from plurivox.web.study.completion_pay_exclusion_config import ADMITTED_IDS_SETTING, PLATFORM_TITLE, PlatformName
from plurivox.web.study.config import Study

BY_INVITATION = "This study is by invitation. Please use the link that you were sent."


@dataclass(frozen=True)
class PlatformAccess:
    """A platform that is switched on, and whose people it admits."""

    name: PlatformName
    in_study_toml: Sequence[str]  # ids of admitted studies
    added: Sequence[PlatformStudy]  # ids that owners have added, the newest first
    admits_everyone: bool  # the study was made before ids were required and has none


def list_access_by_platform(connection: Connection, study: Study) -> list[PlatformAccess]:
    """Return each platform that is switched on with the ids of its admitted studies."""
    added = platform_studies.list_platform_studies(connection)
    without = platform_studies.platforms_without_required_ids(connection)
    found = []
    for name in dict.fromkeys(study.platforms):
        own = [one for one in added if one.platform == name]
        fixed = study.admitted_platform_study_ids(name)
        found.append(PlatformAccess(name, fixed, own, name in without and not own and not fixed))
    return found


def platforms_that_admit_everyone(connection: Connection, study: Study) -> list[PlatformName]:
    """Return the platforms whose link lets anyone in, with an invented id too: in studies made before ids were required."""
    return [one.name for one in list_access_by_platform(connection, study) if one.admits_everyone]


def require_ids_of_platforms_off_or_with_ids(connection: Connection, study: Study) -> None:
    """Require ids from now on of each platform that is off or has ids in study.toml; for studies made before ids were required.

    A server does this when it starts. Other commands do not: they may read a study.toml that the running server has not read.
    """
    without = platform_studies.platforms_without_required_ids(connection)
    still = {one for one in without if one in study.platforms and not study.admitted_platform_study_ids(one)}
    platform_studies.require_ids_except_of_platforms(connection, still)


def raise_unless_admitted(connection: Connection, study: Study, platform: Platform) -> None:
    """Raise Forbidden if a new person comes from a platform that is off, or from a study there that is not admitted."""
    if platform.name not in study.platforms:
        raise Forbidden("by-invitation", BY_INVITATION)
    fixed = study.admitted_platform_study_ids(platform.name)
    if platform.study in fixed or platform_studies.is_platform_study_admitted(
        connection, platform.name, platform.study
    ):
        return
    has_ids = bool(fixed) or platform_studies.has_platform_study(connection, platform.name)
    if not has_ids and platform.name in platform_studies.platforms_without_required_ids(connection):
        return
    title = PLATFORM_TITLE["mturk" if platform.name == "mturk" else "prolific"]
    if has_ids:
        raise Forbidden(
            "other-study",
            f"This link belongs to another study at {title}, or is incomplete. Please open the study again from {title}.",
        )
    raise Forbidden(
        "not-connected",
        f"This study does not admit people from {title} yet. If you run it, sign in and add the ID of your study at {title} "
        "on the page Invitations.",
    )


def admit_study(connection: Connection, study: Study, audit_actor: str, platform: PlatformName, study_id: str) -> None:
    """Admit the people of a study at a platform (at MTurk: a HIT); raise Invalid if the platform is not switched on."""
    if platform not in study.platforms:
        raise Invalid(
            f"{PLATFORM_TITLE[platform]} is not switched on; "
            f'write platforms = ["{platform}"] in study.toml and restart the server'
        )
    if study_id not in study.admitted_platform_study_ids(platform):
        platform_studies.admit_platform_study(connection, audit_actor, platform, study_id)


def remove_study(connection: Connection, study: Study, audit_actor: str, platform: PlatformName, study_id: str) -> None:
    """No longer admit new people of a study at a platform; raise Conflict if its id is in study.toml, NotFound if nowhere."""
    if study_id in study.admitted_platform_study_ids(platform):
        setting = ADMITTED_IDS_SETTING[platform]
        raise Conflict(
            "in-study-toml", f"this ID is in study.toml; remove it there from {setting} and restart the server"
        )
    platform_studies.remove_platform_study(connection, audit_actor, platform, study_id)
