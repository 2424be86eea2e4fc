"""The method of `plurivox.assign` that chooses tasks in a study: from study.toml, or by its batches and strata."""

import json

from sqlalchemy import Connection

from plurivox.assign import Assigner, Batches, methods
from plurivox.core.errors import InputError
from plurivox.core.method import parse_spec
from plurivox.web.store.collect.tasks_batches_quotas import Assignment, has_batches
from plurivox.web.study.config import Study


def build_assigner(study: Study, has_batches: bool) -> Assigner:
    """Return the method that chooses tasks in a study, with batch, repeats and strata of study.toml unless its spec sets them.

    >>> build_assigner(Study(name="pets", labels=["cat", "dog"], batch=5, repeats=1), has_batches=False)
    Quota(twice=1, seed=0, batch=5)
    """
    default = "batches" if has_batches else "tasks-per-stratum" if study.strata else "quota"
    name, given = parse_spec(study.assign or default)
    method = methods[name]
    settings: dict[str, object] = {"twice": study.repeats, "batch": study.batch, "per-worker": study.batch}
    if study.strata:
        settings["counts"] = json.dumps(study.strata)
    flags = {option.name_with_dashes for option in method.options()}
    return method.from_options({**{flag: value for flag, value in settings.items() if flag in flags}, **given})


def build_assigner_by_whether_batches_exist(connection: Connection, study: Study) -> Assigner:
    """Return the method that chooses the next task of a worker, from study.toml and whether the database has fixed batches."""
    return build_assigner(study, has_batches(connection))


def answers_per_task_assigner_and_arm_names(study: Study, has_batches: bool) -> Assignment:
    """Return the settings by which the store assigns tasks: answers per task, assigner, names of the arms."""
    return Assignment(study.per_task, build_assigner(study, has_batches), list(study.weight_by_arm_name))


def check_batches_exist_if_assigner_needs_them(connection: Connection, study: Study) -> None:
    """Raise InputError if the study's assigner needs batches and the database has none."""
    if isinstance(build_assigner_by_whether_batches_exist(connection, study), Batches) and not has_batches(connection):
        raise InputError(
            "study.toml has assign = 'batches', but the study has no batches; "
            "create it with: plurivox studio new --batches FILE"
        )
