"""Reads and writes of a Studio: read jobs run in read-only transactions."""

from pathlib import Path

import pytest
from sqlalchemy import Connection

from plurivox.web.store.errors import Unavailable
from plurivox.web.store.key_value import kv_get, kv_set
from studies import fresh_database, served


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_job_that_reads_cannot_write(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))

    def job(connection: Connection) -> None:
        kv_set(connection, "colour", "red")

    with served(tmp_path / "s", database=database) as study:
        studio = study.studio
        for _ in range(10):  # more often than the pool has connections, so each is reused
            with pytest.raises(Unavailable) as cause:
                studio.read_sync(job)
            assert "read" in str(cause.value.__cause__)  # "readonly database" or "read-only transaction"
            assert studio.read_sync(lambda connection: kv_get(connection, "colour")) is None
        studio.writer.submit(job).result()
        assert studio.read_sync(lambda connection: kv_get(connection, "colour")) == "red"
        person = study.enter()
        assert person.answer(person.slots()[0]["slot"]).status_code == 200
