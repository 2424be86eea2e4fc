"""A small stand-in for the studio's server: the same API in memory, for looking at pages alone."""

import io
import math
import secrets
import zipfile
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from PIL import Image

from plurivox.web import schemas as s
from plurivox.web.routes import pages
from plurivox.web.wordings import wording
from web.stub_owner import owner_router

CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
ANIMALS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
TEXTS = {"consent": "You take part of your own will and may stop at any time. Your answers are kept under a pseudonym.\n\nIt takes about ten minutes.", "instructions": "You will see pictures one after the other. Say what you think each one shows, and how sure you are.\n\nThere is no need to hurry, and no need to be certain: your doubt is what we want to know.", "debrief": "Thank you. Your answers have been saved."}
QUIZ = [s.QuizQuestion(question="What if you are not sure?", choices=["Guess and say 100%", "Say how sure I am", "Skip the task"]), s.QuizQuestion(question="May two labels share the percents?", choices=["Yes", "No"])]


class Stub:
    """One study, everything in memory."""

    def __init__(self, form: str = "also-possible", person: str = "third", labels: list[str] = ANIMALS, kind: str = "image", n: int = 5, practice: int = 1, stages: list[str] | None = None, title: str = "Animals and vehicles") -> None:
        self.form, self.person, self.labels, self.kind, self.n, self.practice = form, person, labels, kind, n, practice
        self.stages = stages or ["consent", "instructions", "quiz", "practice", "tasks", "debrief", "done"]
        self.stage, self.state, self.title = self.stages[0], "open", title
        self.answers: dict[str, dict[str, Any]] = {}  # by key
        self.lost = False  # the server is gone
        self.requests: list[str] = []

    def me(self) -> s.Me:
        return s.Me(worker="w1", study="animals", title=self.title, state=self.state, stage=self.stage, stages=self.stages, progress=self.progress(), labels=self.labels, form=self.form, wording=self.person, exclude_by="never", phrases=wording(self.form, self.person), text=TEXTS.get(self.stage, ""), quiz=QUIZ if self.stage == "quiz" else [], image_pixels=160)

    def given(self) -> set[str]:
        return {answer["slot"] for answer in self.answers.values()}

    def progress(self) -> s.Progress:
        return s.Progress(done=len([one for one in self.given() if one[0] == "t"]), total=self.n, sitting=1, sittings=1)

    def slot(self, name: str) -> s.Slot:
        number = int(name[1:])
        task = {"image": s.Task(kind="image", media=f"/media/{name}", width=32, height=32), "text": s.Task(kind="text", text="The waiter was friendly, but we waited an hour for a cold soup.\n\nWould I go again? Perhaps for the view."), "pair": s.Task(kind="pair", text="A man plays a guitar on the street.", text2="Somebody makes music.")}[self.kind]
        return s.Slot(slot=name, task=task, position=number + 1, practice=name[0] == "p")

    def slots(self, n: int) -> list[s.Slot]:
        names = [f"p{i}" for i in range(self.practice)] if self.stage == "practice" else [f"t{i}" for i in range(self.n)]
        return [self.slot(name) for name in names if name not in self.given()][:n]

    def step(self) -> None:
        self.stage = self.stages[self.stages.index(self.stage) + 1]

    def take(self, body: s.GiveAnswer) -> s.AnswerTaken:
        again = body.key in self.answers
        self.answers.setdefault(body.key, body.model_dump())
        if self.stage in ("practice", "tasks") and not self.slots(1):
            self.step()
        ahead = self.slots(body.ahead) if body.ahead and self.stage in ("practice", "tasks") else []
        return s.AnswerTaken(answer=f"a{body.key[:8]}", again=again, extra=False, progress=self.progress(), stage=self.stage, enough=self.stage not in ("practice", "tasks"), slots=ahead)


def picture(name: str) -> bytes:
    """A small blurred picture, made up from its name."""
    chance = np.random.default_rng(sum(map(ord, name)) * 7 + 3)
    rough = Image.fromarray(chance.integers(30, 226, (4, 4, 3), dtype=np.uint8)).resize((32, 32), Image.Resampling.BICUBIC)
    out = io.BytesIO()
    rough.resize((160, 160), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()


def stub_app(stub: Stub) -> FastAPI:  # noqa: C901
    app = FastAPI()

    @app.middleware("http")
    async def guard(request: Request, call_next: Any) -> Any:
        stub.requests.append(request.url.path)
        if stub.lost and request.url.path.startswith("/api"):
            return JSONResponse({"error": "lost", "detail": "The database is away.", "retry": True}, 503)
        reply = await call_next(request)
        reply.headers["Content-Security-Policy"] = CSP
        return reply

    @app.post("/api/enter")
    def enter(body: s.Enter, request: Request) -> s.Entered:
        return s.Entered(token="tok", personal_link=f"{request.base_url}join#link=abc", me=stub.me())

    @app.get("/api/me")
    def me() -> s.Me:
        return stub.me()

    @app.post("/api/me/stage")
    def stage(body: s.FinishStage) -> s.StageFinished:
        if body.stage == "quiz" and body.quiz != [1, 0]:
            return s.StageFinished(me=stub.me(), wrong=[0], why=["Say how sure you are; a guess helps nobody."])
        stub.step()
        return s.StageFinished(me=stub.me())

    @app.get("/api/tasks")
    def tasks(n: int = 3) -> s.Slots:
        if stub.stage not in ("practice", "tasks"):
            return JSONResponse({"error": "wrong-stage", "detail": "no", "retry": False, "me": stub.me().model_dump()}, 409)  # type: ignore[return-value]
        return s.Slots(slots=stub.slots(n), progress=stub.progress(), enough=False)

    @app.post("/api/answers")
    def answer(body: s.GiveAnswer) -> s.AnswerTaken:
        return stub.take(body)

    @app.get("/api/answers")
    def my_answers(n: int = 1) -> s.MyAnswers:
        last = list(stub.answers.items())[-n:][::-1]
        return s.MyAnswers(answers=[s.MyAnswer(answer=f"a{key[:8]}", slot=stub.slot(one["slot"]), marks=one["marks"], abstain=one["abstain"], none_of_these=one["none_of_these"]) for key, one in last])

    @app.post("/api/done")
    def done() -> s.Done:
        return s.Done(code="C1X7-PLURAL", redirect="")

    @app.get("/media/{name}")
    def media(name: str) -> Response:
        return Response(picture(name), media_type="image/png")

    app.include_router(owner_router(stub))
    app.include_router(pages.router)
    return app
