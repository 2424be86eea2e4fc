"""Exclusion rules on what has been collected so far: the rules of `plurivox clean`, applied while a study runs."""

import logging

import numpy as np
from sqlalchemy import Engine

from plurivox.clean import clean
from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.collect.excluded_workers import exclude_worker, reinstated_workers
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.report.answer_cache import CollectedAnswers, collect_answers
from plurivox.web.store.report.statistics import gold_labels
from plurivox.web.study.config import Study

log = logging.getLogger(__name__)


def apply_exclusion_rules(engine: Engine, study: Study, held: CollectedAnswers | None = None) -> int:
    """Exclude whoever breaks a rule of the study; how many people. `held` are the answers, where they are read already."""
    if not study.exclude.rules:
        return 0
    with engine.connect() as connection:
        held = collect_answers(connection, study.labels) if held is None else held
        gold, never = gold_labels(connection, study.labels), reinstated_workers(connection)
    broken = {name: why for name, why in find_breaches(study, held.answers, gold).items() if name not in never}
    ids = dict(zip(held.answers.workers.tolist(), held.id_of_worker.tolist(), strict=True))
    n = 0
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection:
        for pseudonym, (rule, reason) in broken.items():
            with connection.begin():
                n += exclude_worker(connection, ids[pseudonym], rule, reason)
    return n


def find_breaches(study: Study, found: Answers, gold: SoftLabels | None) -> dict[str, tuple[str, str]]:
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
