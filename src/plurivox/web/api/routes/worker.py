"""Routes of workers: enter a study, finish stages, get tasks, save drafts, submit answers. A bearer token names the worker."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from plurivox.web.api import answer_schemas as a
from plurivox.web.api import response_builders as show
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import (
    INVITE,
    LINK,
    OptionalWorkerDep,
    StudioDep,
    WorkerDep,
    limit_drafts,
    limit_entries,
    make_bearer_token,
)
from plurivox.web.api.http_errors import ApiError
from plurivox.web.services import enter_study, worker_stages
from plurivox.web.services.next_tasks import next_tasks
from plurivox.web.services.submit_answer import submit_answer
from plurivox.web.services.worker_completion import get_completion
from plurivox.web.store.collect import submissions
from plurivox.web.store.collect.workers import Platform, get_worker
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.studio import Studio

router = APIRouter(prefix="/api", tags=["workers"], responses=s.ERROR_RESPONSES)


@router.post("/enter", dependencies=[Depends(limit_entries)])
async def enter(body: s.Enter, studio: StudioDep, bearer: OptionalWorkerDep) -> s.EnterResponse:
    """Enter the study by an invite, a platform's link or a personal link."""
    study, keys = studio.study, studio.keys
    if body.invite is not None:
        invite = _verified_id(studio, INVITE, body.invite)
        job = partial(enter_study.enter_by_invite, study=study, keys=keys, invite_id=invite, browser_key=body.key)
    elif body.platform is not None:
        who = Platform(**body.platform.model_dump())
        job = partial(
            enter_study.enter_by_platform,
            study=study,
            keys=keys,
            platform=who,
            signed_in_worker=bearer,
            browser_key=body.key,
        )
    else:
        job = partial(enter_study.enter_by_link, study=study, worker=_verified_id(studio, LINK, body.link or ""))
    current = await studio.write(job)
    worker = current.worker.id
    link = f"{studio.settings.base_url}/join#link={keys.sign(LINK, encode_id(worker))}"
    return s.EnterResponse(
        token=make_bearer_token(keys, worker), personal_link=link, me=show.worker_state(study, current)
    )


def _verified_id(studio: Studio, purpose: str, signed: str) -> int:
    """Return the id in a signed link; raise ApiError 403 if the signature is invalid."""
    value = studio.keys.verify(purpose, signed)
    if value is None:
        raise ApiError(403, "wrong-link", "this link is incomplete or wrong; copy it again, or ask for a new one")
    return decode_id(value)


@router.get("/preview")
async def preview(studio: StudioDep) -> s.Preview:
    """Return consent and instructions, which MTurk shows before the assignment is accepted. No worker is created."""
    study = studio.study
    if "mturk" not in study.platforms:
        raise ApiError(403, "other-platform", "this study has no preview")
    texts = [text for text in (study.texts.consent, study.texts.instructions) if text]
    return s.Preview(study=study.name, title=study.title or study.name, texts=texts)


@router.get("/me")
async def me(worker: WorkerDep, studio: StudioDep) -> s.WorkerState:
    """Return the worker's stage, progress, labels and texts."""
    return show.worker_state(
        studio.study, await studio.read(lambda c: worker_stages.current_stage(c, get_worker(c, worker)))
    )


@router.post("/me/stage")
async def finish_stage(body: s.FinishStage, worker: WorkerDep, studio: StudioDep) -> s.FinishStageResponse:
    """Finish a stage: consent, instructions, quiz, debrief. A quiz with mistakes is not finished.

    A worker who has answered and waits for tasks that are leased to others may finish `tasks`.
    """
    job = partial(worker_stages.finish_stage, study=studio.study, worker=worker, **body.model_dump())
    finished = await studio.write(job)
    wrong = list(finished.wrong)
    why = [studio.study.quiz[place].why for place in wrong]
    return s.FinishStageResponse(me=show.worker_state(studio.study, finished.current), wrong=wrong, why=why)


@router.get("/tasks")
async def tasks(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=10)] = 3) -> a.Slots:
    """Lease the next tasks of the worker's sitting; the same ones are returned until they are answered."""
    found = await studio.write(partial(next_tasks, study=studio.study, worker=worker, max_slots=n))
    return a.Slots.of(studio.study, found)


@router.put("/draft", dependencies=[Depends(limit_drafts)])
async def keep_draft(body: a.Draft, worker: WorkerDep, studio: StudioDep) -> a.DraftSaved:
    """Save the worker's unfinished answer, replacing the previous one; `/tasks` returns it."""
    draft = submissions.Draft(decode_id(body.slot), body.body)
    return a.DraftSaved(kept=await studio.write(partial(submissions.save_draft, worker=worker, draft=draft)))


@router.post("/answers")
async def answer(body: a.SubmitAnswer, worker: WorkerDep, studio: StudioDep) -> a.AnswerAcknowledged:
    """Submit an answer; status 200 means that it is on disk."""
    job = partial(
        submit_answer, study=studio.study, worker=worker, submission=body.submission(), n_next_slots=body.ahead
    )
    return a.AnswerAcknowledged.of(studio.study, body.key, await studio.write(job))


@router.get("/answers")
async def my_answers(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=100)] = 10) -> a.MyAnswers:
    """Return the worker's answers of this sitting, the latest first."""
    found = await studio.read(lambda c: submissions.answers_of_latest_sitting(c, get_worker(c, worker).id, n))
    return a.MyAnswers(answers=[a.MyAnswer.of(one) for one in found])


@router.post("/done")
async def done(worker: WorkerDep, studio: StudioDep) -> s.CompletionResponse:
    """Return the completion code, address or form; only at the last stage."""
    return show.completion_response(await studio.read(partial(get_completion, study=studio.study, worker=worker)))
