"""Routes of workers: enter a study, finish stages, get tasks, save drafts, submit answers. A bearer token names the worker."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from plurivox.web.api import response_builders as responses
from plurivox.web.api import task_and_answer_schemas as a
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.http_errors import ApiError
from plurivox.web.api.route_dependencies import (
    INVITE,
    LINK,
    AddressDep,
    LimitsDep,
    OptionalWorkerDep,
    StudioDep,
    WorkerDep,
    enforce_arrival_limit,
    enforce_draft_rate_limit,
    enforce_study_entry_limit_per_address,
    make_bearer_token,
)
from plurivox.web.open_study import Studio
from plurivox.web.services import enter_study, worker_completion, worker_stages
from plurivox.web.services.next_tasks import get_or_lease_next_task_slots
from plurivox.web.services.platform_admission import BY_INVITATION
from plurivox.web.services.save_draft import save_draft_and_extend_first_lease
from plurivox.web.services.submit_answer import submit_answer
from plurivox.web.store.collect import submissions
from plurivox.web.store.collect.workers import Platform, get_worker
from plurivox.web.store.random_ids import decode_id, encode_id

router = APIRouter(prefix="/api", tags=["workers"], responses=s.ERROR_RESPONSES)


@router.post("/enter", dependencies=[Depends(enforce_study_entry_limit_per_address)])
async def enter_worker(
    body: s.Enter, studio: StudioDep, bearer: OptionalWorkerDep, limits: LimitsDep, address: AddressDep
) -> s.EnterResponse:
    """Let a worker enter the study by invite, platform link or personal link; return a token and the worker's state."""
    study, keys = studio.study, studio.keys
    if body.invite is not None:
        invite = _id_from_signed_link(studio, INVITE, body.invite)
        job = partial(
            enter_study.enter_by_invite_and_get_stage, study=study, keys=keys, invite_id=invite, browser_key=body.key
        )
    elif body.platform is not None:
        who = Platform(**body.platform.model_dump())
        if await studio.read(partial(enter_study.is_new_and_admitted, study=study, keys=keys, platform=who)):
            enforce_arrival_limit(limits, address)
        job = partial(
            enter_study.enter_by_platform_and_get_stage,
            study=study,
            keys=keys,
            platform=who,
            signed_in_worker=bearer,
            browser_key=body.key,
        )
    else:
        job = partial(
            enter_study.get_stage_of_returning_worker,
            study=study,
            worker=_id_from_signed_link(studio, LINK, body.link or ""),
        )
    current = await studio.write(job)
    worker = current.worker.id
    link = f"{studio.settings.base_url}/join#link={keys.sign(LINK, encode_id(worker))}"
    return s.EnterResponse(
        token=make_bearer_token(keys, worker), personal_link=link, me=responses.worker_state_response(study, current)
    )


def _id_from_signed_link(studio: Studio, purpose: str, signed_id: str) -> int:
    """Return the id in a signed link; raise ApiError 403 if the signature is invalid."""
    value = studio.keys.verify(purpose, signed_id)
    if value is None:
        raise ApiError(
            403,
            "wrong-link",
            "This link is incomplete or was changed. Please open it again from where you got it, or ask for a new one.",
        )
    return decode_id(value)


@router.get("/preview")
async def get_mturk_preview(studio: StudioDep) -> s.Preview:
    """Return the consent and instruction texts, which MTurk shows before a worker accepts. No worker is created."""
    study = studio.study
    if "mturk" not in study.platforms:
        raise ApiError(403, "by-invitation", BY_INVITATION)
    texts = [text for text in (study.texts.consent, study.instructions) if text]
    return s.Preview(study=study.name, title=study.title or study.name, texts=texts)


@router.get("/me")
async def get_worker_state(worker: WorkerDep, studio: StudioDep) -> s.WorkerState:
    """Return the worker's stage, progress, labels and texts."""
    return responses.worker_state_response(
        studio.study,
        await studio.read(lambda c: worker_stages.current_stage_study_state_and_sitting(c, get_worker(c, worker))),
    )


@router.post("/me/stage")
async def finish_worker_stage(body: s.FinishStage, worker: WorkerDep, studio: StudioDep) -> s.FinishStageResponse:
    """Finish a stage: consent, instructions, quiz, debrief. A quiz with mistakes is not finished.

    A worker who has answered and waits for tasks that are leased to others may finish `tasks`.
    """
    job = partial(worker_stages.finish_stage_unless_quiz_failed, study=studio.study, worker=worker, **body.model_dump())
    finished = await studio.write(job)
    wrong = list(finished.wrong)
    why = [studio.study.quiz[place].why for place in wrong]
    return s.FinishStageResponse(
        me=responses.worker_state_response(studio.study, finished.current), wrong=wrong, why=why
    )


@router.get("/tasks")
async def lease_next_tasks(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=10)] = 3) -> a.Slots:
    """Lease the next tasks of the worker's sitting; the same ones are returned until they are answered."""
    found = await studio.write(partial(get_or_lease_next_task_slots, study=studio.study, worker=worker, max_slots=n))
    return a.Slots.from_next_tasks(studio.study, found)


@router.put("/draft", dependencies=[Depends(enforce_draft_rate_limit)])
async def save_draft(body: a.Draft, worker: WorkerDep, studio: StudioDep) -> a.DraftSaved:
    """Save the worker's unfinished answer, replacing the previous one; `/tasks` returns it."""
    draft = submissions.Draft(decode_id(body.slot), body.body)
    job = partial(save_draft_and_extend_first_lease, study=studio.study, worker=worker, draft=draft)
    return a.DraftSaved(kept=await studio.write(job))


@router.post("/answers")
async def accept_answer(body: a.SubmitAnswer, worker: WorkerDep, studio: StudioDep) -> a.AnswerAcknowledged:
    """Store the answer of a worker to a task; status 200 means that it is on disk."""
    job = partial(
        submit_answer,
        study=studio.study,
        worker=worker,
        submission=body.to_submission(),
        n_next_slots=body.ahead,
    )
    return a.AnswerAcknowledged.from_submit_result(studio.study, body.key, await studio.write(job))


@router.get("/answers")
async def list_own_answers(
    worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=100)] = 10
) -> a.MyAnswers:
    """Return the worker's answers of this sitting, the latest first."""
    found = await studio.read(
        lambda c: submissions.list_worker_answers_of_latest_sitting(c, get_worker(c, worker).id, n)
    )
    return a.MyAnswers(answers=[a.MyAnswer.from_own_answer(one) for one in found])


@router.post("/done")
async def get_completion(worker: WorkerDep, studio: StudioDep) -> s.CompletionResponse:
    """Return the completion code, redirect address or platform form of a worker who is at the last stage."""
    job = partial(worker_completion.get_completion_code_redirect_and_form, study=studio.study, worker=worker)
    return responses.worker_completion_response(await studio.read(job))
