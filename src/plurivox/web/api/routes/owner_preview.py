"""Routes of the owner's preview of a study. They read only: no worker, no lease and no answer is stored."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Depends, Query

from plurivox.web.api import preview_schemas as p
from plurivox.web.api import task_and_answer_schemas as a
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.route_dependencies import StudioDep, WriteOwnerDep, get_owner_session_from_cookie
from plurivox.web.services import preview

router = APIRouter(
    prefix="/api/owner",
    tags=["owners"],
    responses=s.ERROR_RESPONSES,
    dependencies=[Depends(get_owner_session_from_cookie)],
)
ArmName = Annotated[str | None, Query(max_length=80, pattern=r"^[A-Za-z0-9_.-]*$")]  # None: the first arm


@router.get("/preview")
async def preview_study(studio: StudioDep, after: BackgroundTasks, arm: ArmName = None) -> p.StudyPreview:
    """Return all that a new worker of an arm would see: every stage, practice, one random sitting, and the endings.

    The state and the quotas of the study do not matter.
    """
    found = await studio.read(partial(preview.build_preview, study=studio.study, arm_name=arm))
    after.add_task(preview.import_code_that_reads_answers, studio.study)
    return p.StudyPreview.from_preview(studio.study, found)


@router.post("/preview/answer")
async def preview_answer(
    body: a.SubmitAnswer, studio: StudioDep, _: WriteOwnerDep, arm: ArmName = None
) -> p.AnswerReading:
    """Check an answer like that of a worker and return the soft label that it becomes; it is not saved."""
    read = preview.read_answer_without_saving
    return p.AnswerReading.from_reading(await asyncio.to_thread(read, studio.study, arm, body.to_submission()))
