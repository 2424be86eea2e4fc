"""Apply the exclusion rules of a study (rules of `plurivox clean`) to the answers collected so far."""

import logging
from dataclasses import replace

import numpy as np
from sqlalchemy import Engine

from plurivox.clean import Rule, clean, methods
from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.method import parse_spec
from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.collect.excluded_workers import (
    exclude_if_active_and_release_slots,
    pseudonyms_of_reinstated_workers,
)
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.report.answer_cache import CollectedAnswers, read_answers_that_count_latest_per_slot
from plurivox.web.store.report.statistics_classes_and_queries import gold_labels_of_tasks_as_soft_labels
from plurivox.web.study.config import Study

log = logging.getLogger(__name__)


def exclude_rule_breakers_and_return_count(
    engine: Engine, study: Study, collected: CollectedAnswers | None = None
) -> int:
    """Exclude in the database the workers who break an exclusion rule of the study; return how many were excluded."""
    if not study.exclude.rules:
        return 0
    with engine.connect() as connection:
        collected = (
            read_answers_that_count_latest_per_slot(connection, study.labels) if collected is None else collected
        )
        gold, reinstated = (
            gold_labels_of_tasks_as_soft_labels(connection, study.labels),
            pseudonyms_of_reinstated_workers(connection),
        )
    # a rule about time applies to what the server saw, where the client's time is impossible
    timed = replace(collected.answers, seconds=collected.seconds_at_most)
    breaches = first_broken_rule_and_reason_by_worker(study, timed, gold)
    broken = {name: breach for name, breach in breaches.items() if name not in reinstated}
    ids = dict(zip(collected.answers.workers.tolist(), collected.database_id_of_each_worker.tolist(), strict=True))
    n = 0
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection:
        for pseudonym, (rule, reason) in broken.items():
            with connection.begin():
                n += exclude_if_active_and_release_slots(connection, ids[pseudonym], rule, reason)
    return n


def first_broken_rule_and_reason_by_worker(
    study: Study, answers: Answers, gold: SoftLabels | None
) -> dict[str, tuple[str, str]]:
    """Return worker pseudonym -> (first exclusion rule broken, reason), only for workers with enough answers."""
    broken: dict[str, tuple[str, str]] = {}
    if not len(answers):
        return broken
    n = np.bincount(answers.worker, minlength=len(answers.workers))
    enough = {str(name) for name, count in zip(answers.workers, n, strict=True) if count >= study.exclude.least_answers}
    for rule in study.exclude.rules:
        try:
            audit = clean(answers, [make_exclusion_rule(study, rule)], gold).audit
        except PlurivoxError as cause:  # such as: no repeat or no gold task has been answered yet
            log.info("the rule %s cannot be applied yet: %s", rule, cause)
            continue
        removed = audit.mask_removal_records("worker")
        for name, reason in zip(audit.worker[removed].tolist(), audit.reason[removed].tolist(), strict=True):
            if name in enough:
                broken.setdefault(name, (rule, reason))
    return broken


def make_exclusion_rule(study: Study, rule_spec: str) -> Rule:
    """Return the cleaning rule of a spec; too-fast has the study's limit in seconds unless the spec sets its own."""
    name, options = parse_spec(rule_spec)
    if name == "too-fast" and "seconds" not in options:
        return methods.make(rule_spec, seconds=study.too_fast_seconds)
    return methods.make(rule_spec)
