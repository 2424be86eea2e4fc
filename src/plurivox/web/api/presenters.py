"""Dataclasses of services and of the store as schemas of the API, for workers and for owners; and what workers send, as
services take it."""

from collections.abc import Iterable
from dataclasses import asdict

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.services.complete_study import Completion
from plurivox.web.services.next_tasks import NextTasks
from plurivox.web.services.stages import CurrentStage
from plurivox.web.services.submit_answer import Taken
from plurivox.web.store.collect.excluded_workers import ExclusionPage
from plurivox.web.store.collect.sittings import ShownTask, Sitting, Slot, Waiting
from plurivox.web.store.collect.submissions import Mark, OwnAnswer, Submission
from plurivox.web.store.ids import number_of, shown
from plurivox.web.store.report.alerts import Trouble
from plurivox.web.store.report.pay_sheet import PayPage
from plurivox.web.store.report.snapshots import Snapshot
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_detail import TaskDetail
from plurivox.web.study.config import Study
from plurivox.web.study.forms import CHIPS

TEXTS = ("consent", "instructions", "debrief")  # stages that show a text of their own


# ---- workers


def progress_of(study: Study, sitting: Sitting | None) -> s.Progress:
    """How far a person is in a sitting, or before the first."""
    if sitting is None:
        return s.Progress(done=0, total=0, sitting=1, sittings=study.sittings)
    number = max(sitting.number, 1)
    return s.Progress(done=sitting.done, total=sitting.total, sitting=number, sittings=study.sittings)


def asks_of(study: Study) -> s.Asks:
    """What a study asks for in every task."""
    return s.Asks(**vars(study.asks), chips=study.chips if study.form == CHIPS else 0)


def me_of(study: Study, current: CurrentStage) -> s.Me:
    """Everything a worker's page needs."""
    worker, sitting = current.worker, current.sitting
    study = study.in_arm(worker.arm)
    if current.state != "open" and worker.stage in ("practice", "tasks"):
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
        state=current.state,
        stage=worker.stage,
        stages=study.stages(),
        progress=progress_of(study, sitting),
        labels=worker.label_order(study.labels),
        form=study.form,
        asks=asks_of(study),
        wording=study.wording,
        chips=study.chips,
        exclude_by=study.asks.ticks or "never",
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
    """A leased slot."""
    return s.Slot(slot=shown(slot.id), task=_task(slot.shown), position=slot.position, practice=slot.kind == "practice")


def _task(task: ShownTask) -> s.Task:
    """What a task shows; its own name stays with us, since it may tell the answer."""
    address = None if task.media_id is None else f"/media/{shown(task.media_id)}"
    return s.Task(kind=task.kind, text=task.text, text2=task.text2, media=address, width=task.width, height=task.height)


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


# ---- owners


def study_line(study: Study, counts: StudyCounts) -> o.StudyLine:
    """The study in a line."""
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        **vars(counts),
    )


def task_detail(one: TaskDetail) -> o.TaskDetail:
    """One task with every answer to it."""
    return o.TaskDetail(
        line=one.line,
        task=_task(one.shown),
        soft=one.soft,
        answers=[o.OneAnswer.model_validate(answer, from_attributes=True) for answer in one.answers],
    )


def agreement(latest: Snapshot) -> o.Agreement:
    """How far people agree, as of the latest snapshot."""
    return o.Agreement(**vars(latest.agreement), at=latest.at)


def times(latest: Snapshot) -> o.Times:
    """Where the time goes, as of the latest snapshot."""
    return o.Times(**vars(latest.times), stages=latest.stages, at=latest.at)


def background_state(state: BackgroundState, unwritten: Iterable[Trouble]) -> o.BackgroundState:
    """The latest snapshot, and what goes wrong; `unwritten` is what the store could not be told."""
    latest = state.latest
    return o.BackgroundState(
        at=latest.at,
        answers=latest.answers,
        by=latest.by,
        seconds=latest.seconds,
        entropy=latest.entropy,
        confidence=latest.confidence,
        label_shares=latest.label_shares,
        pending=state.is_stale,
        recomputing=state.is_recomputing,
        troubles=[o.Trouble.model_validate(one, from_attributes=True) for one in (*unwritten, *state.troubles)],
    )


def pay_page(page: PayPage, currency: str) -> o.PayPage:
    """A part of the pay sheet."""
    return o.PayPage(lines=page.lines, currency=currency, total=page.total, people=page.people, next=page.next)


def exclusions(page: ExclusionPage, study: Study) -> o.Exclusions:
    """A part of the list of exclusions, and the rules of the study."""
    return o.Exclusions(exclusions=page.exclusions, rules=study.exclude.rules, next=page.next)
