"""People of each arm of a study: how many entered, finished, and left before the end, with the drop-out rate."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from plurivox.engine.beta_intervals import jeffreys_interval_95
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.report.statistics_classes_and_queries import (
    ArmPeople,
    ArmResult,
    count_all_finished_and_dropped_workers_by_arm,
)
from plurivox.web.study.config import Study


def people_fields_by_arm(connection: Connection, study: Study) -> dict[str, dict[str, Any]]:
    """Return arm -> numbers of people now and their drop-out rate with interval, as fields of ArmResult."""
    inactive_since = current_unix_time() - study.lease_minutes * 60
    found = count_all_finished_and_dropped_workers_by_arm(connection, inactive_since)
    return {arm.name: _people_counts_and_drop_out_rate(found.get(arm.name, ArmPeople())) for arm in study.arms}


def with_people_as_of_now(connection: Connection, study: Study, results: Sequence[ArmResult]) -> list[ArmResult]:
    """Return the results of a snapshot with the people as of now: who leaves sends no answer that would make a new snapshot."""
    people = people_fields_by_arm(connection, study)
    return [replace(one, **people.get(one.arm, {})) for one in results]


def _people_counts_and_drop_out_rate(arm_people: ArmPeople) -> dict[str, Any]:
    """Return the numbers of people in an arm and its drop-out rate with interval, as fields of ArmResult."""
    over, share = arm_people.finished + arm_people.left, None
    if over:
        p = np.array([arm_people.left / over])
        share = [round(float(one[0]), 4) for one in (p, *jeffreys_interval_95(p, over))]
    return {**vars(arm_people), "drop_out": share}
