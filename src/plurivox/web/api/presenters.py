"""What services return, as the API shows it to workers; and what workers send, as services take it."""

from dataclasses import asdict

from plurivox.web.api import worker_schemas as s
from plurivox.web.services.complete_study import Completion
from plurivox.web.services.next_tasks import NextTasks
from plurivox.web.services.stages import Standing
from plurivox.web.services.submit_answer import Taken
from plurivox.web.store.collect.sittings import Sitting, Slot, Waiting
from plurivox.web.store.collect.submissions import Mark, OwnAnswer, Submission
from plurivox.web.store.ids import number_of, shown
from plurivox.web.study.config import Study

TEXTS = ("consent", "instructions", "debrief")  # stages that show a text of their own


def progress_of(study: Study, sitting: Sitting | None) -> s.Progress:
    """How far a person is in a sitting, or before the first."""
    if sitting is None:
        return s.Progress(done=0, total=0, sitting=1, sittings=study.sittings)
    number = max(sitting.number, 1)
    return s.Progress(done=sitting.done, total=sitting.total, sitting=number, sittings=study.sittings)


def me_of(study: Study, standing: Standing) -> s.Me:
    """Everything a worker's page needs."""
    worker, sitting = standing.worker, standing.sitting
    study = study.in_arm(worker.arm)
    if standing.state != "open" and worker.stage in ("practice", "tasks"):
        text = study.texts.closed
    else:
        text = getattr(study.texts, worker.stage) if worker.stage in TEXTS else ""
    if sitting is not None and sitting.number == 0 and worker.stage != "practice":
        sitting = None  # a practice sitting tells nothing of the tasks that follow it
    quiz = [s.QuizQuestion(question=one.question, choices=one.choices) for one in study.quiz]
    return s.Me(
        worker=worker.pseudonym,
        study=study.name,
        title=study.title or study.name,
        state=standing.state,
        stage=worker.stage,
        stages=study.stages(),
        progress=progress_of(study, sitting),
        labels=worker.label_order(study.labels),
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


def slots_of(study: Study, found: NextTasks) -> s.Slots:
    """The next slots of a person, or what to wait for."""
    draft = found.draft
    return s.Slots(
        slots=[slot_of(one) for one in found.slots],
        progress=progress_of(study, found.sitting),
        enough=not found.slots and found.waiting is None,
        waiting=None if found.waiting is None else _waiting(study, found.waiting),
        draft=None if draft is None else s.Draft(slot=shown(draft.slot), body=draft.body),
    )


def _waiting(study: Study, waiting: Waiting) -> s.Waiting:
    text = study.texts.waiting
    return s.Waiting(answered=waiting.answered, until=waiting.until, again_seconds=waiting.again, text=text)


def slot_of(slot: Slot) -> s.Slot:
    """A leased slot; the task's own name stays with us, since it may tell the answer."""
    task = s.Task(
        kind=slot.task_kind,
        text=slot.text,
        text2=slot.text2,
        media=None if slot.media_id is None else f"/media/{shown(slot.media_id)}",
        width=slot.width,
        height=slot.height,
    )
    return s.Slot(slot=shown(slot.id), task=task, position=slot.position, practice=slot.kind == "practice")


def submission_of(body: s.GiveAnswer) -> Submission:
    """An answer as it was sent."""
    values = body.model_dump(exclude={"slot", "marks", "label_order", "ahead"})
    marks = [Mark(one.kind, one.label, one.typed) for one in body.marks]
    return Submission(slot=number_of(body.slot), marks=marks, label_order=body.label_order or (), **values)


def taken_of(study: Study, body: s.GiveAnswer, taken: Taken) -> s.AnswerTaken:
    """The acknowledgement of an answer."""
    return s.AnswerTaken(
        answer=body.key,
        again=taken.again,
        extra=taken.extra,
        progress=progress_of(study, taken.sitting),
        stage=taken.worker.stage,
        enough=taken.worker.stage not in ("practice", "tasks"),
        slots=[slot_of(one) for one in taken.ahead],
    )


def own_answer_of(answer: OwnAnswer) -> s.MyAnswer:
    """An answer to go back to."""
    return s.MyAnswer(
        answer=answer.key,
        slot=slot_of(answer.slot),
        marks=[s.ShownMark(kind=one.kind, label=one.label, typed=one.typed) for one in answer.marks],
        abstain=answer.abstain,
        none_of_these=answer.none_of_these,
    )


def done_of(completion: Completion) -> s.Done:
    """The end of a person who is at the last stage."""
    return s.Done.model_validate(asdict(completion))
