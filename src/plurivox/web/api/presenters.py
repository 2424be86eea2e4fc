"""Rows of the store as the API shows them."""

from collections.abc import Sequence
from typing import Any

from plurivox.web.api import worker_schemas as s
from plurivox.web.store.collect.availability import Waiting
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.ids import shown
from plurivox.web.study.config import Study

NAMES = ("consent", "instructions", "debrief")


def progress_of(study: Study, sitting: Sequence[int] | None) -> s.Progress:
    """(number, total, done) of a sitting as progress."""
    number, total, done = sitting or (1, 0, 0)
    return s.Progress(done=done, total=total, sitting=max(number, 1), sittings=study.sittings)


def me_of(study: Study, worker: Worker, state: s.State, sitting: Sequence[int] | None) -> s.Me:
    """Everything a worker's page needs."""
    if state != "open" and worker.stage in ("practice", "tasks"):
        text = study.texts.closed
    else:
        text = getattr(study.texts, worker.stage) if worker.stage in NAMES else ""
    quiz = [s.QuizQuestion(question=one.question, choices=one.choices) for one in study.quiz]
    return s.Me(
        worker=worker.pseudonym,
        study=study.name,
        title=study.title or study.name,
        state=state,
        stage=worker.stage,
        stages=study.stages(),
        progress=progress_of(study, sitting if _counts(worker, sitting) else None),
        labels=worker.labels(study),
        form=study.form,
        wording=study.wording,
        chips=study.chips,
        exclude_by="possible" if study.form == "also-possible" else "never",
        phrases=study.phrases(),
        text=text,
        quiz=quiz if worker.stage == "quiz" else [],
        image_pixels=study.image_pixels,
        submit_early=study.submit_early,
    )


def _counts(worker: Worker, sitting: Sequence[int] | None) -> bool:
    """A practice sitting tells nothing of the tasks that follow it."""
    return sitting is not None and (sitting[0] > 0 or worker.stage == "practice")


def waiting_of(study: Study, waiting: Waiting) -> s.Waiting:
    """What to tell a person who may hope for tasks that others hold."""
    text = study.texts.waiting
    return s.Waiting(answered=waiting.answered, until=waiting.until, again_seconds=waiting.again, text=text)


def slot_of(row: Any) -> s.Slot:
    """A leased slot; the task's own name stays with us, since it may tell the answer."""
    task = s.Task(
        kind=row.task_kind,
        text=row.text,
        text2=row.text2,
        media=None if row.media_id is None else f"/media/{shown(row.media_id)}",
        width=row.width,
        height=row.height,
    )
    return s.Slot(slot=shown(row.id), task=task, position=row.position, practice=row.kind == "practice")
