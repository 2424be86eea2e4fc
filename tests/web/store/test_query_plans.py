"""Query plans: no request scans a table that grows with the study."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from studies import Served, plain_study, served, text_tasks

LARGE = r"answers|slots|tasks|arm_tasks|beliefs|visits|flags|media"
ORDERS = ("name", "entropy", "given")
PAGES = ("session", "studies", "progress", "workers", "agreement", "times", "forms", "flagged", "snapshot", "invites")
PAGES += ("audit", "report", "exclusions", "pay", "preview", *(f"tasks?order={order}" for order in ORDERS))


@contextmanager
def heard(engine: Engine) -> Iterator[dict[str, tuple[object, ...]]]:
    """Record every SQL statement executed in the block, with its parameters."""
    said: dict[str, tuple[object, ...]] = {}

    def listen(*given: object) -> None:
        statement, values = given[2], given[3]
        if isinstance(statement, str) and isinstance(values, tuple):
            said[statement] = values

    event.listen(engine, "before_cursor_execute", listen)
    try:
        yield said
    finally:
        event.remove(engine, "before_cursor_execute", listen)


def ask_all(study: Served) -> None:
    """Send every kind of request that workers and owners send while a study runs."""
    person = study.enter()
    for slot in person.slots():
        assert person.answer(slot["slot"]).status_code == 200
    last = person.get("/api/answers").json()["answers"][0]
    assert person.answer(last["slot"]["slot"], "dog", replaces=last["answer"]).status_code == 200
    person.slots()
    assert person.get("/api/me").status_code == 200
    for page in PAGES:
        assert study.http.get(f"/api/owner/{page}").status_code == 200, page
    task = study.http.get("/api/owner/tasks").json()["tasks"][0]["task"]
    assert study.http.get(f"/api/owner/tasks/{task}").status_code == 200


@pytest.mark.parametrize("way", [{}, {"assign": "next-best"}, {"forms": ["top-two", "also-possible"]}], ids=str)
def test_no_request_scans_a_large_table(tmp_path: Path, way: dict[str, object]) -> None:
    made = plain_study(per_task=3, batch=4, sittings=3, pay={"base": "1"}, unanswered_share=0.9, **way)
    with served(tmp_path / "s", made, text_tasks(12)) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        for _ in range(3):  # in both arms someone has not answered yet
            study.enter().slots()
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(made)
        Payroll(study.studio.engine).update_pay_lines_of_changed_workers(made)
        with heard(study.studio.engine) as said:
            ask_all(study)
        assert len(said) > 40  # the listener recorded statements
        assert any("sum(sittings.total)" in one for one in said) and any("sum(tallies.n)" in one for one in said)
        with study.studio.engine.connect() as connection:
            for statement, values in said.items():
                if statement.startswith(("SELECT", "UPDATE", "DELETE")):
                    plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
                    whole = [step for step in plan if re.match(rf"SCAN ({LARGE})\b", step)]
                    by_steps = "LIMIT" in statement and not any("TEMP B-TREE" in step for step in plan)
                    assert not whole or by_steps, (plan, statement)
