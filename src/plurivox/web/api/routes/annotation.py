"""What workers do: enter, walk through the stages, take tasks, answer. A bearer token says who it is; no cookie."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from plurivox.web.api import answer_schemas as a
from plurivox.web.api import presenters as show
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import INVITE, LINK, PerhapsWorker, StudioDep, WorkerDep, may_draft, may_enter, new_bearer
from plurivox.web.api.http_errors import ApiError
from plurivox.web.services import enter_study, worker_stages
from plurivox.web.services.complete_study import complete_study
from plurivox.web.services.next_tasks import next_tasks
from plurivox.web.services.submit_answer import submit_answer
from plurivox.web.store.collect import submissions
from plurivox.web.store.collect.workers import Platform, get_worker
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.studio import Studio

router = APIRouter(prefix="/api", tags=["workers"], responses=s.FAULTS)


@router.post("/enter", dependencies=[Depends(may_enter)])
async def enter(body: s.Enter, studio: StudioDep, bearer: PerhapsWorker) -> s.Entered:
    """Come in by an invite, a platform's link or a personal link."""
    study, keys = studio.study, studio.keys
    if body.invite is not None:
        invite = _opened(studio, INVITE, body.invite)
        job = partial(enter_study.enter_by_invite, study=study, keys=keys, invite=invite, key=body.key)
    elif body.platform is not None:
        who = Platform(**body.platform.model_dump())
        job = partial(enter_study.enter_by_platform, study=study, keys=keys, who=who, bearer=bearer, key=body.key)
    else:
        job = partial(enter_study.enter_by_link, study=study, worker=_opened(studio, LINK, body.link or ""))
    current = await studio.write(job)
    worker = current.worker.id
    link = f"{studio.settings.base_url}/join#link={keys.sign(LINK, encode_id(worker))}"
    return s.Entered(token=new_bearer(keys, worker), personal_link=link, me=show.me_of(study, current))


def _opened(studio: Studio, purpose: str, signed: str) -> int:
    """The number that a signed link holds."""
    value = studio.keys.opened(purpose, signed)
    if value is None:
        raise ApiError(403, "wrong-link", "this link is not whole; copy it again, or ask for another one")
    return decode_id(value)


@router.get("/preview")
async def preview(studio: StudioDep) -> s.Preview:
    """What a platform shows before anybody accepts: consent and instructions. Nobody is made a worker by it."""
    study = studio.study
    if "mturk" not in study.platforms:
        raise ApiError(403, "other-platform", "this study shows no preview")
    texts = [text for text in (study.texts.consent, study.texts.instructions) if text]
    return s.Preview(study=study.name, title=study.title or study.name, texts=texts)


@router.get("/me")
async def me(worker: WorkerDep, studio: StudioDep) -> s.Me:
    """Where I stand."""
    return show.me_of(studio.study, await studio.read(lambda c: worker_stages.current_stage(c, get_worker(c, worker))))


@router.post("/me/stage")
async def finish_stage(body: s.FinishStage, worker: WorkerDep, studio: StudioDep) -> s.StageFinished:
    """A page is finished: consent, instructions, quiz, debrief. A quiz with mistakes stays.

    `tasks` may be finished by one who has answered and waits for tasks that others hold.
    """
    job = partial(worker_stages.finish_stage, study=studio.study, worker=worker, **body.model_dump())
    finished = await studio.write(job)
    wrong = list(finished.wrong)
    why = [studio.study.quiz[place].why for place in wrong]
    return s.StageFinished(me=show.me_of(studio.study, finished.current), wrong=wrong, why=why)


@router.get("/tasks")
async def tasks(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=10)] = 3) -> a.Slots:
    """The next slots of my sitting, leased to me; the same ones again until they are answered."""
    found = await studio.write(partial(next_tasks, study=studio.study, worker=worker, n=n))
    return a.Slots.of(studio.study, found)


@router.put("/draft", dependencies=[Depends(may_draft)])
async def keep_draft(body: a.Draft, worker: WorkerDep, studio: StudioDep) -> a.DraftKept:
    """Keep my unfinished answer, in the place of the one before; `/tasks` gives it back."""
    draft = submissions.Draft(decode_id(body.slot), body.body)
    return a.DraftKept(kept=await studio.write(partial(submissions.save_draft, worker=worker, draft=draft)))


@router.post("/answers")
async def answer(body: a.GiveAnswer, worker: WorkerDep, studio: StudioDep) -> a.AnswerTaken:
    """Save an answer; 200 means that it is on disk."""
    job = partial(submit_answer, study=studio.study, worker=worker, submission=body.submission(), ahead=body.ahead)
    return a.AnswerTaken.of(studio.study, body.key, await studio.write(job))


@router.get("/answers")
async def my_answers(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=100)] = 10) -> a.MyAnswers:
    """My answers of this sitting, the latest first, to go back to."""
    found = await studio.read(lambda c: submissions.latest_answers(c, get_worker(c, worker).id, n))
    return a.MyAnswers(answers=[a.MyAnswer.of(one) for one in found])


@router.post("/done")
async def done(worker: WorkerDep, studio: StudioDep) -> s.Done:
    """The completion code or address; only after the last stage."""
    return show.done_of(await studio.read(partial(complete_study, study=studio.study, worker=worker)))
