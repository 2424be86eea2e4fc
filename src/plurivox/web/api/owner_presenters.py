"""Dataclasses of the store as the schemas of the owners' pages."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.store.ids import shown
from plurivox.web.store.report.alerts import Trouble
from plurivox.web.store.report.pay_sheet import PayPage
from plurivox.web.store.report.snapshots import Snapshot
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_results import TaskDetail
from plurivox.web.study.config import Study

Schema = TypeVar("Schema", bound=BaseModel)


def as_schema(kind: type[Schema], found: object) -> Schema:
    """A schema with the values of a dataclass that has the same fields, nested ones too."""
    return kind.model_validate(found, from_attributes=True)


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
    address = None if one.media_id is None else f"/media/{shown(one.media_id)}"
    seen = {"kind": one.line.kind, "text": one.text, "text2": one.text2, "width": one.width, "height": one.height}
    return o.TaskDetail(
        line=as_schema(o.TaskLine, one.line),
        task=s.Task.model_validate({**seen, "media": address}),
        soft=[as_schema(o.SoftLabel, label) for label in one.soft],
        answers=[as_schema(o.OneAnswer, answer) for answer in one.answers],
    )


def agreement(latest: Snapshot) -> o.Agreement:
    """How far people agree, as of the latest snapshot."""
    return o.Agreement(**vars(latest.agreement), at=latest.at)


def times(latest: Snapshot) -> o.Times:
    """Where the time goes, as of the latest snapshot."""
    return o.Times(**vars(latest.times), stages=latest.stages, at=latest.at)


def snapshot(state: BackgroundState, unwritten: Iterable[Trouble]) -> o.Snapshot:
    """The latest snapshot, and what goes wrong; `unwritten` is what the store could not be told."""
    latest = state.latest
    return o.Snapshot(
        at=latest.at,
        answers=latest.answers,
        by=latest.by,
        seconds=latest.seconds,
        entropy=latest.entropy,
        confidence=latest.confidence,
        label_shares=latest.label_shares,
        pending=state.is_stale,
        recomputing=state.is_recomputing,
        troubles=[as_schema(o.Trouble, one) for one in (*unwritten, *state.troubles)],
    )


def pay_page(page: PayPage, currency: str) -> o.PayPage:
    """A part of the pay sheet."""
    lines = [as_schema(o.PayLine, line) for line in page.lines]
    return o.PayPage(lines=lines, currency=currency, total=page.total, people=page.people, next=page.next)
