"""The owner's half of the stand-in: made-up figures of a study half way."""

import time
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import JSONResponse

from plurivox.web import schemas as s


def owner_router(stub: Any) -> APIRouter:
    router = APIRouter(prefix="/api/owner")
    chance, now, labels = np.random.default_rng(4), time.time(), stub.labels
    inside = {"yes": False}

    def soft(at: int) -> list[s.SoftLabel]:
        share = np.random.default_rng(at).dirichlet(np.full(len(labels), 0.15))
        return [s.SoftLabel(label=name, p=p, low=max(0, p - 0.12), high=min(1, p + 0.1)) for name, p in zip(labels, share, strict=True)]

    def line(at: int) -> s.TaskLine:
        top = sorted(soft(at), key=lambda one: -one.p)[:3]
        entropy = -sum(one.p * np.log(max(one.p, 1e-9)) for one in soft(at))
        return s.TaskLine(task=f"k{at}", name=f"image-{at:03d}.png", stratum="hard" if at % 8 else "easy", kind="image", given=3 + at % 4, quota=6, entropy=entropy, top=top)

    @router.get("/session")
    def session() -> Any:
        return s.Session(name="ada", csrf="x") if inside["yes"] else JSONResponse({"error": "token", "detail": "Sign in first.", "retry": False}, 401)

    @router.post("/login")
    def login(body: s.LogIn) -> Any:
        inside["yes"] = body.password == "a long password"
        return s.Session(name="ada", csrf="x") if inside["yes"] else JSONResponse({"error": "refused", "detail": "Name or password is wrong.", "retry": False}, 401)

    @router.post("/setup")
    def setup(body: s.SetUp) -> s.Session:
        inside["yes"] = True
        return s.Session(name=body.name, csrf="x")

    @router.post("/logout")
    def logout() -> None:
        inside["yes"] = False

    @router.get("/studies")
    def studies() -> list[s.StudyLine]:
        return [s.StudyLine(name="animals", title="Animals and vehicles", state=stub.state, form="also-possible", labels=labels, tasks=200, answers=812, workers=34)]

    @router.get("/progress")
    def progress() -> s.StudyProgress:
        hours = [(now - 3600 * (24 - at), int(60 * np.exp(-(((at - 14) / 5) ** 2)) + chance.integers(0, 9))) for at in range(24)]
        quotas = [s.Quota(stratum="hard", tasks=176, wanted=1056, given=702, leased=18, full_tasks=61), s.Quota(stratum="easy", tasks=24, wanted=144, given=110, leased=2, full_tasks=12)]
        return s.StudyProgress(state=stub.state, answers=812, wanted=1200, repeats=62, practice=96, extras=3, replaced=21, workers={"consent": 1, "tasks": 4, "done": 29}, quotas=quotas, per_hour=hours, snapshot_at=now - 20)

    @router.post("/state")
    def state(body: s.ChangeState) -> s.StudyProgress:
        stub.state = body.state
        return progress()

    @router.get("/snapshot")
    def snapshot() -> s.Snapshot:
        return s.Snapshot(at=now - 20, answers=812, by="the mean of the soft answers", seconds=0.1, entropy=[70, 41, 30, 22, 15, 10, 6, 4, 2, 0], confidence=[0, 0, 1, 4, 9, 14, 20, 28, 44, 80], label_shares=dict(zip(labels, chance.dirichlet(np.full(len(labels), 9.0)).tolist(), strict=True)), pending=True)

    @router.get("/agreement")
    def agreement() -> s.Agreement:
        return s.Agreement(scores={"krippendorff-alpha": 0.71, "observed-agreement": 0.78}, repeats=62, repeats_same_top=0.93, at=now)

    @router.get("/tasks")
    def tasks(after: str | None = None, limit: int = 50, order: str = "name") -> s.TaskPage:
        return s.TaskPage(tasks=sorted(map(line, range(12)), key=lambda one: -(one.entropy or 0)), next="k12")

    @router.get("/tasks/{task}")
    def task(task: str) -> s.TaskDetail:
        at = int(task[1:])
        answers = [s.OneAnswer(answer=f"a{i}", worker=f"w-{i:04x}", when=now - 600 * i, seconds=6.5 + i, marks=[s.Mark(kind="named", label="cat", typed="70"), s.Mark(kind="named", label="dog", typed="30"), s.Mark(kind="possible", label="deer")], abstain=i == 3, none_of_these=False, position=4 + i, repeat=i == 2, extra=i == 4, flags=["too-fast"] if i == 1 else []) for i in range(5)]
        return s.TaskDetail(line=line(at), task=s.Task(kind="image", media=f"/media/t{at}", width=32, height=32), soft=soft(at), answers=answers)

    @router.get("/workers")
    def workers() -> s.WorkerPage:
        return s.WorkerPage(workers=[s.WorkerLine(worker=f"w-{i * 7919 % 65536:04x}", stage="done" if i else "tasks", status="active", answers=27, median_seconds=7.1 + i * 0.7, scores={"agreement-with-rest": 0.1 + 0.03 * i, "repeat-consistency": None if i == 4 else 0.05 * i}, flags=i // 4, last_seen=now - 900 * i) for i in range(9)], next=None)

    @router.get("/times")
    def times() -> s.Times:
        return s.Times(stages={"consent": 21, "instructions": 44, "quiz": 19, "practice": 33, "tasks": 240, "debrief": 12}, first_input=2.1, top_label=2.4, active=7.9, hidden=0, by_position=[(i, 6.2 + 14 / (i + 0.5), 30) for i in range(1, 28)], at=now)

    @router.get("/flagged")
    def flagged() -> s.FlaggedPage:
        return s.FlaggedPage(flagged=[s.Flagged(answer=f"a{i}", worker="w-0001", task=f"k{i}", name=f"image-{i:03d}.png", flags=["too-fast"] + ["over-100"] * (i % 2), when=now - i * 333) for i in range(5)], counts={"too-fast": 5, "over-100": 2}, next=None)

    @router.get("/invites")
    def invites() -> s.Invites:
        return s.Invites(invites=[s.Invite(invite="i1", address="http://127.0.0.1:8000/join#invite=eyJ0.abc", note="pilot", uses=10, used=4, open=True)], prolific="https://example.org/join?PROLIFIC_PID={{%PROLIFIC_PID%}}")

    @router.get("/audit")
    def audit() -> s.Audit:
        return s.Audit(lines=[s.AuditLine(at=now - 60, who="ada", what="state", detail={"to": "open"})])

    return router
