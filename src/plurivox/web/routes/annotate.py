"""What workers do: enter, walk through the stages, take tasks, answer. A bearer token says who it is; no cookie."""

from typing import Annotated

from fastapi import APIRouter, Query

from plurivox.web import schemas as s

router = APIRouter(prefix="/api", tags=["workers"])


@router.post("/enter")
async def enter(body: s.Enter) -> s.Entered:
    """Come in by an invite, a platform's link or a personal link."""
    raise NotImplementedError


@router.get("/me")
async def me() -> s.Me:
    """Where I stand."""
    raise NotImplementedError


@router.post("/me/stage")
async def finish_stage(body: s.FinishStage) -> s.StageFinished:
    """A page is finished: consent, instructions, quiz, debrief."""
    raise NotImplementedError


@router.get("/tasks")
async def tasks(n: Annotated[int, Query(ge=1, le=10)] = 3) -> s.Slots:
    """The next slots of my sitting, leased to me."""
    raise NotImplementedError


@router.post("/answers")
async def answer(body: s.GiveAnswer) -> s.AnswerTaken:
    """Save an answer; 200 means that it is on disk."""
    raise NotImplementedError


@router.get("/answers")
async def my_answers(n: Annotated[int, Query(ge=1, le=100)] = 10) -> s.MyAnswers:
    """My latest answers, to go back to."""
    raise NotImplementedError


@router.post("/done")
async def done() -> s.Done:
    """The completion code or address; only after the last stage."""
    raise NotImplementedError
