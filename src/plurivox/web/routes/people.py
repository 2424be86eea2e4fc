"""What owners see of people beside their scores: who was left out and why, and what everybody is paid."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy import Connection

from plurivox.web import owner_schemas as o
from plurivox.web import schemas as s
from plurivox.web.doors import OwnerDep, StudioDep, WritingOwner
from plurivox.web.store import excluding, paying

FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": s.Fault} for code in (401, 403, 404, 409, 422, 429, 503)}
router = APIRouter(prefix="/api/owner", tags=["owners"], responses=FAULTS)
After = Annotated[str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/exclusions")
async def exclusions(studio: StudioDep, owner: OwnerDep, after: After = None, limit: Limit = 50) -> o.Exclusions:
    """People who were left out, the newest first."""
    del owner
    return await studio.read(partial(_exclusions, after=after, limit=limit, rules=studio.study.exclude.rules))


def _exclusions(connection: Connection, after: str | None, limit: int, rules: list[str]) -> o.Exclusions:
    place = int(after) if after and after.isdigit() and len(after) < 19 else 0
    rows = excluding.page(connection, place, limit + 1)
    lines = [
        o.Exclusion(
            exclusion=str(row.id),
            worker=row.pseudonym,
            rule=row.rule,
            reason=row.reason,
            at=row.at,
            lifted=row.lifted,
        )
        for row in rows[:limit]
    ]
    return o.Exclusions(exclusions=lines, rules=rules, next=lines[-1].exclusion if len(rows) > limit else None)


@router.post("/exclusions/{worker}/lift")
async def lift(worker: s.Id, studio: StudioDep, owner: WritingOwner) -> o.Exclusions:
    """Take an exclusion back: the person's answers count again, as extras."""
    await studio.write(partial(excluding.lift, who=owner.name, pseudonym=worker))
    return await studio.read(partial(_exclusions, after=None, limit=50, rules=studio.study.exclude.rules))


@router.get("/pay")
async def pay(studio: StudioDep, owner: OwnerDep, after: After = None, limit: Limit = 50) -> o.PayPage:
    """The pay sheet, by pseudonym, as the background last computed it."""
    del owner
    return await studio.read(partial(paying.page, study=studio.study, after=after, limit=limit))
