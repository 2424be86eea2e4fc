"""The pay sheet: exact amounts with reasons, by pseudonym; platform ids only on the command line."""

import csv
import json
import random
import stat
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select

from plurivox.cli.main import main
from plurivox.core.errors import InputError
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.payroll import (
    Payroll,
    compute_pay_line,
    compute_pay_line_by_worker,
    write_pay_sheet_and_return_summary,
)
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.jobs.worker_effort_for_pay import WorkSummary
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots, lift_exclusion
from plurivox.web.store.key_value import kv_get
from plurivox.web.store.report.result_snapshots import is_result_snapshot_stale
from plurivox.web.store.report.stored_pay_sheet import PayLine
from plurivox.web.store.schema import pay, slots, workers
from plurivox.web.study.completion_pay_exclusion_config import Pay
from studies import admitting, fresh_database, plain_study, served, text_tasks

PAPER = {"per_hour": "8", "bonus_per_hour": "1", "currency": "USD"}


def test_pay_rules_set_after_the_last_answer_are_applied(tmp_path: Path) -> None:
    plain, paid = plain_study(), plain_study(pay={"base": "1"})
    with served(tmp_path / "s", plain) as live:
        person = live.enter()
        person.answer(person.slots()[0]["slot"])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(plain)
        assert not live.studio.read_sync(
            lambda c: is_result_snapshot_stale(c, plain.config_digest)
        ) and live.studio.read_sync(lambda c: is_result_snapshot_stale(c, paid.config_digest))


def test_money_is_exact_and_rounded_once() -> None:
    hour = WorkSummary("w", born=0, n_answers=9, active_ms=3_600_000)
    line = compute_pay_line(Pay(**PAPER), replace(hour, matched=9, compared=9))
    assert (line.base, line.bonus, line.total) == ("8.00", "1.00", "9.00")  # as in the paper: at most 9 per hour
    line = compute_pay_line(Pay(base="0.1", bonus_per_match="0.005"), replace(hour, matched=1, compared=3))
    assert (line.base, line.bonus, line.total) == ("0.10", "0.01", "0.11")
    third = compute_pay_line(Pay(bonus_per_hour="1"), replace(hour, matched=1, compared=3))
    assert third.bonus == "0.33" and compute_pay_line(Pay(bonus_per_hour="1"), hour).bonus == "0.00"
    capped = compute_pay_line(Pay(per_hour="8", most_minutes=30), hour)
    assert capped.total == "4.00" and "at most 30 minutes are paid" in capped.reasons
    few = compute_pay_line(Pay(base="5", least_answers=10), hour)
    assert few.total == "0.00" and "fewer than 10 answers: no pay" in few.reasons
    whole = WorkSummary("w", born=100, last=1900, n_answers=1, active_ms=60_000)
    assert compute_pay_line(Pay(per_hour="8", time="total"), whole).total == "4.00"
    for how, total in (("without-bonus", "1.00"), ("nothing", "0.00")):
        work = WorkSummary("w", 0, "too-fast", n_answers=3, matched=3, compared=3)
        out = compute_pay_line(Pay(base="1", bonus_per_match="1", excluded=how), work)
        assert out.total == total and any("excluded by too-fast" in one for one in out.reasons)
    for rules, excluded in ((Pay(per_hour="8", excluded="nothing"), "too-fast"), (Pay(bonus_per_match="1"), "")):
        unpaid = compute_pay_line(rules, replace(hour, excluded=excluded, active_ms=1e8))  # its time is not paid
        assert unpaid.paid_minutes == "0.00" and "at most" not in "; ".join([*unpaid.reasons, *unpaid.explanation])


def run_worker(live: Any, label: str, **way: Any) -> Any:
    person = live.enter(**way)
    for slot in person.slots():
        person.answer(slot["slot"], label, submitted_ms=45_000.0, hidden_ms=0)
    return person


def test_the_sheet_of_a_study_by_pseudonym_and_by_id(tmp_path: Path) -> None:
    study = plain_study(per_task=3, pay=PAPER | {"currency": "=EUR"}, **admitting("st"))
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        ids = [
            {"platform": {"pid": pid, "study": "st", "session": "se"}} for pid in ("=p1", "SecondPerson", "ThirdPerson")
        ]
        # "=" is not allowed in platform ids
        assert live.http.post("/api/enter", json=ids[0]).status_code == 422
        people = [
            run_worker(live, label, **way) for label, way in zip(["cat", "cat", "dog"], [{}, *ids[1:]], strict=True)
        ]
        engine, out = live.studio.engine, tmp_path / "pay.csv"
        told = write_pay_sheet_and_return_summary(engine, study, out)
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert [row["worker"] for row in rows] == sorted(one.entered["me"]["worker"] for one in people)
        assert {row["base"] for row in rows} == {"0.40"} and {row["active_minutes"] for row in rows} == {"3.00"}
        assert sorted(row["bonus"] for row in rows) == ["0.00", "0.05", "0.05"]  # 3 minutes at 1 per hour
        assert sum(Decimal(row["total"]) for row in rows) == Decimal(told["total"]) == Decimal("1.30")
        assert {row["currency"] for row in rows} == {"'=EUR"} and "SecondPerson" not in out.read_text()
        write_pay_sheet_and_return_summary(engine, study, out, only_platform_ids_and_bonuses=True)
        assert out.read_text() == "SecondPerson,0.05\n" and stat.S_IMODE(out.stat().st_mode) == 0o600
        live.sign_in()
        # only the background job computes pay lines, never a request
        assert live.http.get("/api/owner/pay").json()["lines"] == []
        Payroll(engine).update_pay_lines_of_changed_workers(study)
        Payroll(engine).update_pay_lines_of_changed_workers(study)
        page = live.http.get("/api/owner/pay", params={"limit": 2})
        assert len(page.json()["lines"]) == 2 and (page.json()["people"], page.json()["total"]) == (3, "1.30")
        rest = live.http.get("/api/owner/pay", params={"after": page.json()["next"]}).json()
        assert len(rest["lines"]) == 1 and rest["next"] is None and "SecondPerson" not in page.text
        gone = people[1].entered["me"]["worker"]
        live.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", gone)).result()
        assert len(live.look(select(pay))) == 2
        for one in (people[0], people[2]):
            name = one.entered["me"]["worker"]
            live.studio.writer.submit(lambda c, name=name: erase_worker_and_return_audit_line(c, "test", name)).result()
        assert live.http.get("/api/owner/pay").json()["total"] == "0.00"  # no workers are left


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_incremental_sheet_equals_the_whole_one_after_any_events(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    study, rng = plain_study(per_task=6, repeats=1, pay=PAPER | {"base": "0.1"}), random.Random(3)
    with served(tmp_path / "s", study, text_tasks(6), database=database) as live:
        payroll, crowd, write = Payroll(live.studio.engine), [], live.studio.writer.submit

        def check() -> None:
            payroll.update_pay_lines_of_changed_workers(study)
            kept = {row.worker_id: PayLine(**json.loads(row.line)) for row in live.look(select(pay))}
            assert kept == live.studio.read_sync(lambda c: compute_pay_line_by_worker(c, study))
            total = sum((Decimal(line.total) for line in kept.values()), Decimal(0))
            assert live.studio.read_sync(lambda c: kv_get(c, "pay")) == str(total)

        for step in range(6):
            crowd.append(live.enter())
            for slot in crowd[-1].slots()[: 2 + step % 4]:
                crowd[-1].answer(slot["slot"], rng.choice(["cat", "dog"]), submitted_ms=rng.uniform(900, 9000))
            check()
            last = crowd[-1].get("/api/answers").json()["answers"][0]
            crowd[-1].answer(last["slot"]["slot"], "ship", replaces=last["answer"], submitted_ms=100.0)
            check()
        names = [one.entered["me"]["worker"] for one in crowd]
        ids = dict(live.look(select(workers.c.pseudonym, workers.c.id)))
        write(lambda c: exclude_if_active_and_release_slots(c, ids[names[0]], "rule", "")).result()
        check()
        write(lambda c: lift_exclusion(c, "owner", names[0])).result()
        check()
        write(lambda c: erase_worker_and_return_audit_line(c, "test", names[1])).result()
        check()
        assert len(live.look(select(pay))) == 5


def test_only_new_rows_are_read_and_only_changed_lines_are_written(tmp_path: Path) -> None:
    study = plain_study(per_task=9, batch=2, sittings=2, pay=PAPER)
    with served(tmp_path / "s", study, text_tasks(12)) as live:
        people = [run_worker(live, "cat") for _ in range(4)]
        payroll, said = Payroll(live.studio.engine), list[str]()
        assert (
            payroll.update_pay_lines_of_changed_workers(study) == 4
            and payroll.update_pay_lines_of_changed_workers(study) == 0
        )
        listen = lambda *given: said.append(given[2])  # noqa: E731
        event.listen(live.studio.engine, "before_cursor_execute", listen)
        try:
            assert payroll.update_pay_lines_of_changed_workers(study) == 0
            assert not any(one.startswith(("INSERT", "UPDATE", "DELETE")) for one in said)
            del said[:]
            slot = people[0].slots()[0]
            people[0].answer(slot["slot"], "ship")
            touched = len({row.worker_id for row in live.look(same_task(slot))})
            assert 1 <= payroll.update_pay_lines_of_changed_workers(study) <= touched
        finally:
            event.remove(live.studio.engine, "before_cursor_execute", listen)
        read = [one for one in said if "marks" in one and one.startswith("SELECT") and "answers.id > ?" in one]
        assert len(read) == 1  # answers are read once, and only those newer than the last read


def kept(live: Any) -> dict[int, Any]:
    """Return the stored pay lines by worker id."""
    return {row.worker_id: PayLine(**json.loads(row.line)) for row in live.look(select(pay))}


def test_pay_that_could_not_be_written_is_written_in_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plurivox.web.store.report import stored_pay_sheet

    def full(*given: Any, **more: Any) -> None:
        raise OSError("the disk is full")

    study = plain_study(per_task=9, batch=2, pay=PAPER)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        payroll = Payroll(live.studio.engine)
        for _ in range(2):  # the first sheet, then a changed sheet
            run_worker(live, "cat")
            with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
                patch.setattr(stored_pay_sheet, "upsert_pay_lines_and_save_total_and_writer", full)
                payroll.update_pay_lines_of_changed_workers(study)
            # written without new answers, because the last write failed
            assert (
                payroll.update_pay_lines_of_changed_workers(study) > 0
                and payroll.update_pay_lines_of_changed_workers(study) == 0
            )
            assert kept(live) == live.studio.read_sync(lambda c: compute_pay_line_by_worker(c, study))


def test_a_server_that_leads_again_rewrites_the_sheet_of_another(tmp_path: Path) -> None:
    one_way, other_way = plain_study(pay={"base": "1"}), plain_study(pay={"base": "2"})
    with served(tmp_path / "s", one_way, text_tasks(4)) as live:
        run_worker(live, "cat")
        one, other = Payroll(live.studio.engine), Payroll(live.studio.engine)
        for payroll, study in ((one, one_way), (other, other_way), (one, one_way)):
            assert (
                payroll.update_pay_lines_of_changed_workers(study) == 1
                and payroll.update_pay_lines_of_changed_workers(study) == 0
            )
            assert [line.total for line in kept(live).values()] == [f"{study.pay.base}.00"]


def same_task(slot: dict[str, Any]) -> Any:
    """Select the workers of all slots of the same task."""
    mine = select(slots.c.task_id).where(slots.c.id == int(slot["slot"], 16)).scalar_subquery()
    return select(slots.c.worker_id).where(slots.c.task_id == mine)


def test_a_study_without_pay_and_two_platforms_are_errors(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("st", "h"))) as live:
        with pytest.raises(InputError, match=r"\[pay\]"):
            write_pay_sheet_and_return_summary(live.studio.engine, live.studio.study, tmp_path / "x.csv")
        run_worker(live, "cat", platform={"pid": "p1", "study": "st", "session": "se"})
        mturk = {"name": "mturk", "pid": "A1", "study": "h", "session": "a", "submit_to": "https://www.mturk.com"}
        run_worker(live, "cat", platform=mturk)
        with pytest.raises(InputError, match="mturk and prolific"):
            write_pay_sheet_and_return_summary(
                live.studio.engine, plain_study(pay=PAPER), tmp_path / "x.csv", only_platform_ids_and_bonuses=True
            )


def test_pay_on_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner

    study = plain_study(pay=PAPER, exclude={"rules": ["too-fast[seconds=100]"], "least_answers": 1})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        run_worker(live, "cat")
        assert exclude_rule_breakers_and_return_count(live.studio.engine, study) == 1
    words = ["studio", "pay", str(tmp_path / "s"), "-o", str(tmp_path / "pay.csv")]
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 0 and "1 worker, 0.40 USD" in said.output, said.output
    assert "excluded by too-fast[seconds=100]: no bonus" in (tmp_path / "pay.csv").read_text()
