"""The assigner of a study: the one that study.toml names, or the one that fits its batches and strata."""

import json

from sqlalchemy import Connection

from plurivox.assign import Assigner, Batches, methods
from plurivox.core.errors import InputError
from plurivox.core.method import parse_spec
from plurivox.web.store.collect.tasks import Assignment, has_batches
from plurivox.web.study.config import Study


def assigner_of(study: Study, has_batches: bool) -> Assigner:
    """A method of the step `assign` with the study's batch, repeats and strata, where its word does not say otherwise.

    >>> assigner_of(Study(name="pets", labels=["cat", "dog"], batch=5, repeats=1), has_batches=False)
    Quota(twice=1, seed=0, batch=5)
    """
    fitting = "batches" if has_batches else "strata" if study.strata else "quota"
    name, said = parse_spec(study.assign or fitting)
    method = methods[name]
    told: dict[str, object] = {"twice": study.repeats, "batch": study.batch, "per-worker": study.batch}
    if study.strata:
        told["counts"] = json.dumps(study.strata)
    own = {one.flag for one in method.options()}
    return method.from_options({**{flag: value for flag, value in told.items() if flag in own}, **said})


def assigner(connection: Connection, study: Study) -> Assigner:
    """How the study chooses the tasks of a sitting."""
    return assigner_of(study, has_batches(connection))


def assignment_of(study: Study, has_batches: bool) -> Assignment:
    """What the store needs to know of how tasks are assigned."""
    return Assignment(study.per_task, assigner_of(study, has_batches), list(study.shares))


def must_have_batches(connection: Connection, study: Study) -> None:
    """Refuse a study that names a way of which its database holds nothing."""
    if isinstance(assigner(connection, study), Batches) and not has_batches(connection):
        raise InputError(
            "study.toml says assign = 'batches', but the study was made without: plurivox studio new --batches FILE"
        )
