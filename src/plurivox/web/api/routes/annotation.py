"""What workers do: enter, walk through the stages, take tasks, answer. A bearer token says who it is; no cookie."""

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection

from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import INVITE, LINK, PerhapsWorker, StudioDep, WorkerDep, may_draft, may_enter, new_bearer
from plurivox.web.api.http_errors import Refused
from plurivox.web.api.parameters import FAULTS
from plurivox.web.api.presenters import me_of, progress_of, slot_of, waiting_of
from plurivox.web.services import validate_answer
from plurivox.web.services.study_completion import end_of
from plurivox.web.services.validate_answer import check_answer
from plurivox.web.store import study_state
from plurivox.web.store.collect import availability, drafts, leases, submissions, workers
from plurivox.web.store.collect.excluded_workers import failed_too_often
from plurivox.web.store.collect.workers import Worker, go_to_end
from plurivox.web.store.ids import number_of, shown
from plurivox.web.studio import Studio
from plurivox.web.study.config import Study

router = APIRouter(prefix="/api", tags=["workers"], responses=FAULTS)


@router.post("/enter", dependencies=[Depends(may_enter)])
async def enter(body: s.Enter, studio: StudioDep, bearer: PerhapsWorker) -> s.Entered:
    """Come in by an invite, a platform's link or a personal link."""
    keys = studio.keys

    def come_in(connection: Connection) -> s.Me:
        if body.invite is not None:
            invite = number_of(opened(studio, INVITE, body.invite))
            worker = workers.enter_by_invite(connection, keys, studio.study, invite, body.key)
        elif body.platform is not None:
            worker = workers.enter_by_platform(connection, keys, studio.study, body.platform, bearer, body.key)
        else:
            worker = workers.worker_of(connection, number_of(opened(studio, LINK, body.link or "")))
        found.append(worker.id)
        return _me(connection, studio.study, availability.unless_full(connection, studio.study, worker))

    found: list[int] = []
    me = await studio.write(come_in)
    link = f"{studio.settings.base_url}/join#link={keys.sign(LINK, shown(found[-1]))}"
    return s.Entered(token=new_bearer(keys, found[-1]), personal_link=link, me=me)


@router.get("/preview")
async def preview(studio: StudioDep) -> s.Preview:
    """What a platform shows before anybody accepts: consent and instructions. Nobody is made a worker by it."""
    study = studio.study
    if "mturk" not in study.platforms:
        raise Refused(403, "other-platform", "this study shows no preview")
    texts = [text for text in (study.texts.consent, study.texts.instructions) if text]
    return s.Preview(study=study.name, title=study.title or study.name, texts=texts)


def opened(studio: Studio, purpose: str, signed: str) -> str:
    """What a signed link holds."""
    value = studio.keys.opened(purpose, signed)
    if value is None:
        raise Refused(403, "wrong-link", "this link is not whole; copy it again, or ask for another one")
    return value


def _me(connection: Connection, study: Study, worker: Worker) -> s.Me:
    row = connection.execute(leases.LATEST, {"worker": worker.id}).first()
    sitting = None if row is None else (row.number, row.total, row.done)
    return me_of(study.in_arm(worker.arm), worker, study_state.state_of(connection), sitting)


@router.get("/me")
async def me(worker: WorkerDep, studio: StudioDep) -> s.Me:
    """Where I stand."""
    return await studio.read(lambda c: _me(c, studio.study, workers.worker_of(c, worker)))


@router.post("/me/stage")
async def finish_stage(body: s.FinishStage, worker: WorkerDep, studio: StudioDep) -> s.StageFinished:
    """A page is finished: consent, instructions, quiz, debrief. A quiz with mistakes stays.

    `tasks` may be finished by one who has answered and waits for tasks that others hold.
    """
    return await studio.write(partial(_finish, study=studio.study, worker=worker, body=body))


def _finish(connection: Connection, study: Study, worker: int, body: s.FinishStage) -> s.StageFinished:
    person = workers.worker_of(connection, worker)
    if person.stage != body.stage or body.stage == "practice":
        raise wrong_stage(connection, study, person)
    said: dict[str, Any] = {"comment": body.comment} if body.comment else {}
    if body.stage == "consent" and body.agreed is not True:
        raise Refused(422, "invalid", "to take part you must agree; to decline, just close the page")
    if body.stage == "quiz":
        wrong = validate_answer.check_quiz(study, body.quiz)
        if wrong:
            workers.note(connection, person, body.ms, quiz=body.quiz, wrong=wrong)
            if failed_too_often(connection, worker, study.exclude.quiz_tries):
                over = go_to_end(connection, workers.worker_of(connection, worker))
                return s.StageFinished(me=_me(connection, study, over))
            why = [study.quiz[place].why for place in wrong]
            return s.StageFinished(me=_me(connection, study, person), wrong=wrong, why=why)
        said["quiz"] = body.quiz
    if body.stage == "tasks":
        _must_be_idle(connection, person)
    person = workers.advance(connection, study, person, ms=body.ms, **said)
    return s.StageFinished(me=_me(connection, study, availability.unless_full(connection, study, person)))


def _must_be_idle(connection: Connection, person: Worker) -> None:
    """Only who has answered something, and has nothing left to answer, may go on without further tasks."""
    sitting = connection.execute(leases.LATEST, {"worker": person.id}).first()
    if sitting is not None and sitting.done < sitting.total:
        raise Refused(409, "not-yet", "some of your tasks are not answered yet")
    if not availability.answered_by(connection, person.id):
        raise Refused(409, "full", "you have answered nothing yet, so there is no completion code to go on to")


def wrong_stage(connection: Connection, study: Study, person: Worker) -> Refused:
    """The page is not up to date: it gets told where the person stands."""
    me = _me(connection, study, person).model_dump(mode="json")
    return Refused(409, "wrong-stage", f"you are at the stage {person.stage!r}", more={"me": me})


@router.get("/tasks")
async def tasks(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=10)] = 3) -> s.Slots:
    """The next slots of my sitting, leased to me; the same ones again until they are answered."""
    return await studio.write(partial(_next, study=studio.study, worker=worker, n=n))


def _next(connection: Connection, study: Study, worker: int, n: int) -> s.Slots:
    person = workers.worker_of(connection, worker)
    if person.stage not in ("practice", "tasks"):
        raise wrong_stage(connection, study, person)
    if person.status == "excluded":
        go_to_end(connection, person)
        return s.Slots(slots=[], progress=progress_of(study, None), enough=True)
    study_state.must_be_open(connection, study)
    turn = leases.next_slots(connection, study, person, n)
    if person.stage == "practice" and turn.worker.stage == "tasks":  # out of practice into the first sitting
        turn = leases.next_slots(connection, study, turn.worker, n)
    held = None if turn.sitting is None else (turn.sitting.number, turn.sitting.total, turn.sitting.done)
    begun = drafts.of(connection, worker)
    return s.Slots(
        slots=[slot_of(row) for row in turn.slots],
        progress=progress_of(study, held),
        enough=not turn.slots and turn.waiting is None,
        waiting=None if turn.waiting is None else waiting_of(study, turn.waiting),
        draft=None if begun is None else s.Draft(slot=shown(begun[0]), body=begun[1]),
    )


@router.put("/draft", dependencies=[Depends(may_draft)])
async def keep_draft(body: s.Draft, worker: WorkerDep, studio: StudioDep) -> s.DraftKept:
    """Keep my unfinished answer, in the place of the one before; `/tasks` gives it back."""
    slot = number_of(body.slot)
    return s.DraftKept(kept=await studio.write(lambda c: drafts.keep(c, worker, slot, body.body)))


@router.post("/answers")
async def answer(body: s.GiveAnswer, worker: WorkerDep, studio: StudioDep) -> s.AnswerTaken:
    """Save an answer; 200 means that it is on disk."""
    if not studio.study.arms:
        check_answer(studio.study, body)
    taken = await studio.write(partial(submissions.take, study=studio.study, worker=worker, body=body))
    return s.AnswerTaken(
        answer=body.key,
        again=taken.again,
        extra=taken.extra,
        progress=progress_of(studio.study, taken.sitting),
        stage=taken.worker.stage,
        enough=taken.worker.stage not in ("practice", "tasks"),
        slots=[slot_of(row) for row in taken.ahead],
    )


@router.get("/answers")
async def my_answers(worker: WorkerDep, studio: StudioDep, n: Annotated[int, Query(ge=1, le=100)] = 10) -> s.MyAnswers:
    """My answers of this sitting, the latest first, to go back to."""

    def find(connection: Connection) -> list[tuple[Any, Any]]:
        return submissions.mine(connection, workers.worker_of(connection, worker).id, n)

    rows = await studio.read(find)
    return s.MyAnswers(answers=[_mine(answer, slot) for answer, slot in rows])


def _mine(answer: Any, slot: Any) -> s.MyAnswer:
    return s.MyAnswer(
        answer=answer.key,
        slot=slot_of(slot),
        marks=[s.ShownMark(kind=kind, label=label, typed=typed) for kind, label, typed in json.loads(answer.marks)],
        abstain=bool(answer.abstain),
        none_of_these=bool(answer.none_of_these),
    )


@router.post("/done")
async def done(worker: WorkerDep, studio: StudioDep) -> s.Done:
    """The completion code or address; only after the last stage."""

    def end(connection: Connection) -> s.Done:
        person = workers.worker_of(connection, worker)
        if person.stage != "done":
            raise wrong_stage(connection, studio.study, person)
        return end_of(connection, studio.study, person)

    return await studio.read(end)
