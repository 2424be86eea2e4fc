"""Whether an edited study.toml still fits what is in the database: asked at every start, told before anyone comes in."""

import json

from sqlalchemy import Connection, func, select

from plurivox.core.errors import InputError, some, unknown
from plurivox.web.keys import FILE as SECRET
from plurivox.web.keys import Keys
from plurivox.web.settings import Settings
from plurivox.web.store.items import set_fact
from plurivox.web.store.people import fact
from plurivox.web.store.tables import answers, tasks, workers
from plurivox.web.study import STUDY, Study


def check_fit(connection: Connection, study: Study) -> None:
    """Refuse strata that no task has, and labels that were renamed though people named them."""
    _check_strata(connection, study)
    _check_labels(connection, study)


def _check_strata(connection: Connection, study: Study) -> None:
    said = sorted(study.strata)
    if not said or fact(connection, "known_strata") == said:
        return
    there = set(connection.execute(select(tasks.c.stratum).where(tasks.c.practice == 0).distinct()).scalars())
    if strange := [name for name in said if name not in there]:
        known = f"they have {some(sorted(there))}" if there - {""} else "give --items a table with a column stratum"
        raise InputError(f"no task is of stratum {some(strange)}, which the strata name; {known}")
    set_fact(connection, "known_strata", said)


def _check_labels(connection: Connection, study: Study) -> None:
    known = fact(connection, "labels")
    if known == study.labels:
        return
    if known and set(known) - set(study.labels) and set(study.labels) - set(known):  # taken out alone is fine
        gone, named = _gone(connection, study)
        if gone:
            raise InputError(
                f"{STUDY} has no label {some(sorted(gone))}, but {named:,} answers name it, and it has new ones; labels cannot "
                "be renamed once answers name them: put it back (that, or a new study)"
            )
    set_fact(connection, "labels", study.labels)


def _gone(connection: Connection, study: Study) -> tuple[set[str], int]:
    """Labels that answers name and the study does not, and how many answers do."""
    there, gone, n = set(study.labels), set[str](), 0
    every = select(answers.c.marks).execution_options(yield_per=2_000)
    for marks in connection.execute(every).scalars():
        if strange := {label for _, label, _ in json.loads(marks)} - there:
            gone |= strange
            n += 1
    return gone, n


def keys_of(connection: Connection, settings: Settings) -> Keys:
    """The secret of a study; a new one only where nobody came in by the old one."""
    file = settings.folder / SECRET
    if not file.exists() and connection.execute(select(func.count()).select_from(workers)).scalar_one():
        raise InputError(
            f"{file} is not there, but people came in by it; bring it back from a backup "
            "(a new one would lock them out and give them other pseudonyms)"
        )
    return Keys.of(settings.folder)


def check_aggregator(study: Study) -> None:
    """Refuse a name that is no aggregator's."""
    from plurivox.aggregate import methods  # loads no aggregator: names are those of files

    name = study.aggregator.partition("[")[0]
    if name and name not in methods:
        raise unknown(f"aggregator of {STUDY} called", name, methods)
