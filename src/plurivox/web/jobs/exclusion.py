"""Exclusion rules on what has been collected so far: the rules of `plurivox clean`, applied while a study runs."""

import logging

import numpy as np
from sqlalchemy import Connection, Engine, select

from plurivox.clean import clean
from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.collect.excluded_workers import exclude, spared
from plurivox.web.store.database import WRITES
from plurivox.web.store.report.answer_log import collect
from plurivox.web.store.schema import tasks, workers
from plurivox.web.study.config import Study

log = logging.getLogger(__name__)


def apply_rules(engine: Engine, study: Study, found: Answers | None = None) -> int:
    """Leave out whoever breaks a rule of the study; how many people. `found` are the answers, where they are read already."""
    if not study.exclude.rules:
        return 0
    with engine.connect() as connection:
        found = collect(connection, study).answers if found is None else found
        gold, never = known_labels(connection, study), spared(connection)
    broken = {name: why for name, why in breaches(study, found, gold).items() if name not in never}
    n = 0
    with engine.connect().execution_options(**WRITES) as connection:
        for pseudonym, (rule, reason) in broken.items():
            with connection.begin():
                worker = connection.execute(select(workers.c.id).where(workers.c.pseudonym == pseudonym)).scalar_one()
                n += exclude(connection, worker, rule, reason)
    return n


def breaches(study: Study, found: Answers, gold: SoftLabels | None) -> dict[str, tuple[str, str]]:
    """pseudonym -> (rule, reason) of the first rule that each person breaks."""
    broken: dict[str, tuple[str, str]] = {}
    if not len(found):
        return broken
    n = np.bincount(found.worker, minlength=len(found.workers))
    enough = {str(name) for name, count in zip(found.workers, n, strict=True) if count >= study.exclude.least_answers}
    for rule in study.exclude.rules:
        try:
            audit = clean(found, [rule], gold).audit
        except PlurivoxError as cause:  # no repeat and no known task has been answered yet
            log.info("the rule %s cannot tell yet: %s", rule, cause)
            continue
        out = audit.gone("worker")
        for name, reason in zip(audit.worker[out].tolist(), audit.reason[out].tolist(), strict=True):
            if name in enough:
                broken.setdefault(name, (rule, reason))
    return broken


def known_labels(connection: Connection, study: Study) -> SoftLabels | None:
    """The labels of known tasks; None where there are none. One that the study has lost since is not known any more."""
    known = select(tasks.c.name, tasks.c.gold).where(tasks.c.gold.in_(study.labels), tasks.c.practice == 0)
    rows = connection.execute(known).all()
    return (
        SoftLabels.gold([row.name for row in rows], [row.gold for row in rows], labels=study.labels) if rows else None
    )
