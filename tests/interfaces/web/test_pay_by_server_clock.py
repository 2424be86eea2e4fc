"""Pay and times follow the server's clock: a client written from the OpenAPI document alone cannot be paid for more."""

import csv
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

import plurivox as pv
from interfaces.web.openapi_client import OpenApiClient
from interfaces.web.page_actions import fits
from plurivox.cli.main import main
from plurivox.io.dataset import Dataset
from plurivox.web.jobs.payroll import Payroll, compute_pay_line_by_worker, write_pay_sheet_and_return_summary
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.report.answer_cache import read_answers_that_count_latest_per_slot
from plurivox.web.store.report.stored_pay_sheet import PayLine
from plurivox.web.store.schema import pay, sittings, slots
from plurivox.web.study.export import export_study
from studies import Served, fresh_database, plain_study, served, server_clock, text_tasks

TEN_HOURS = 36_000_000.0  # milliseconds
PAY = {"per_hour": "8", "currency": "EUR"}
STAGES = {"consent": "Agree?", "instructions": "Look.", "debrief": "Bye."}
OLD_STUDY = Path(__file__).parents[2] / "fixtures" / "0.1.0" / "studies" / "today"


class Stranger:
    """A worker's client that knows an invitation and the OpenAPI document, nothing else."""

    def __init__(self, live: Served) -> None:
        self.api, self.answered = OpenApiClient(live.url), 0
        entered = self.api.call("POST /api/enter", invite=live.invite())
        assert entered.status == 200, entered.body
        self.api.http.headers["Authorization"] = f"Bearer {entered.body['token']}"
        self.labels, self.name = entered.body["me"]["labels"], entered.body["me"]["worker"]

    def slots(self, n: int) -> list[dict[str, Any]]:
        """Return the next `n` slots; none after the last answer."""
        return list(self.api.call("GET /api/tasks", n=n).body.get("slots", ()))

    def answer(self, slot: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Answer a slot with the first label; return the acknowledgement. The keys look like those of imported answers."""
        self.answered += 1
        marks = [{"kind": "named", "label": self.labels[0], "typed": "100"}]
        key = f"import-{self.answered}"
        reply = self.api.call("POST /api/answers", key=key, slot=slot["slot"], marks=marks, **more)
        assert reply.status == 200, reply.body
        return dict(reply.body)

    def answer_all(self, **more: Any) -> None:
        """Answer every task that the server has for this worker."""
        while slots := self.slots(10):
            for slot in slots:
                self.answer(slot, **more)

    def finish(self, stage: str, ms: float) -> None:
        """Finish a stage without tasks, claiming to have spent `ms` on it."""
        reply = self.api.call("POST /api/me/stage", stage=stage, ms=ms, agreed=True)
        assert reply.status == 200, reply.body


@contextmanager
def stranger_in(live: Served) -> Iterator[Stranger]:
    """Let a stranger enter by an invitation."""
    stranger = Stranger(live)
    with stranger.api:
        yield stranger


def results(live: Served, *pages: str) -> list[Any]:
    """Run the background jobs once and return pages of the owner."""
    SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
    Payroll(live.studio.engine).update_pay_lines_of_changed_workers(live.studio.study)
    if not live.owner:
        live.sign_in()
    return [live.http.get(f"/api/owner/{page}").json() for page in pages]


def export_of(live: Served, folder: Path) -> Dataset:
    """Export a study and read the export."""
    export_study(live.studio.engine, live.studio.study, folder / "export")
    return pv.read(folder / "export")


def line_of(live: Served, name: str) -> dict[str, Any]:
    """Return the line of a worker on the page Pay."""
    (page,) = results(live, "pay")
    return next(line for line in page["lines"] if line["worker"] == name)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_client_that_claims_ten_hours_per_answer_is_paid_for_the_servers_time(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Such a client was paid 1,600 EUR for the 0.00 minutes that it took."""
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    study = plain_study(per_task=1, batch=20, pay=PAY | {"most_minutes": 0})
    with served(tmp_path / "s", study, text_tasks(20), database=database) as live:
        with stranger_in(live) as stranger:
            stranger.answer_all(submitted_ms=TEN_HOURS, first_input_ms=TEN_HOURS)
        pay, times, flagged, workers = results(live, "pay", "times", "flagged", "workers")
        task = live.http.get("/api/owner/tasks").json()["tasks"][0]["task"]
        (answer,) = live.http.get(f"/api/owner/tasks/{task}").json()["answers"]
        export_study(live.studio.engine, study, tmp_path / "out")
    (line,) = pay["lines"]
    assert Decimal(line["active_minutes"]) <= Decimal(line["total_minutes"]) < 2
    assert Decimal(line["total"]) <= 8 * Decimal(line["total_minutes"]) / 60 + Decimal("0.01")
    assert line["impossible_answers"] == 20 and line["claimed_minutes"] == "12000.00"
    assert "20 answers claimed more time than the server saw" in "; ".join(line["explanation"])
    assert flagged["counts"]["impossible-time"] == 20
    assert times["impossible"] == 20 and times["active"] is None and times["first_input"] is None
    assert times["by_position"] == [] and workers["workers"][0]["median_seconds"] is None
    assert answer["seconds"] is None and "impossible-time" in answer["flags"]
    views = pl.read_parquet(tmp_path / "out" / "views.parquet")
    assert views["impossible_time"].all() and set(views["submitted_ms"]) == {TEN_HOURS}  # as sent
    answers = pl.read_parquet(tmp_path / "out" / "answers.parquet")
    assert "seconds" not in answers.columns or answers["seconds"].fill_nan(None).null_count() == 20


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_slots_of_an_ended_lease_that_was_taken_again_are_paid_for_the_servers_time(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Ten slots are sent, the lease ends, one slot is asked for again: the other nine were paid 720 EUR for 0.01 minutes."""
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    study = plain_study(per_task=1, batch=10, pay=PAY | {"most_minutes": 0})
    with served(tmp_path / "s", study, text_tasks(10), database=database) as live, stranger_in(live) as stranger:
        (first, *others) = stranger.slots(10)
        live.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        assert live.studio.writer.submit(end_some_overdue_leases_and_return_count).result() == 1
        assert stranger.slots(1) == [first]
        for slot in others:
            stranger.answer(slot, submitted_ms=TEN_HOURS)
        line = line_of(live, stranger.name)
        (times,) = results(live, "times")
        assert line["impossible_answers"] == times["impossible"] == 9 and times["active"] is None
        assert Decimal(line["active_minutes"]) <= Decimal(line["total_minutes"]) < 2
        assert Decimal(line["total"]) <= 8 * Decimal(line["total_minutes"]) / 60 + Decimal("0.01")


def test_keys_of_imported_answers_are_refused(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1), text_tasks(4)) as live, stranger_in(live) as stranger:
        (slot,) = stranger.slots(1)
        marks = [{"kind": "named", "label": stranger.labels[0], "typed": "100"}]
        said = stranger.api.call("POST /api/answers", key="import:1", slot=slot["slot"], marks=marks)
        assert said.status == 422


def test_slots_sent_by_an_earlier_version_are_limited_too(tmp_path: Path) -> None:
    """Such slots do not record when they were sent; a key like those of imported answers does not make them imported."""
    study = plain_study(per_task=1, batch=4, pay=PAY | {"most_minutes": 0})
    with served(tmp_path / "s", study, text_tasks(4)) as live, stranger_in(live) as stranger:
        sent = stranger.slots(4)
        live.studio.writer.submit(lambda c: c.execute(update(slots).values(handed_out=None))).result()
        for slot in sent:
            stranger.answer(slot, submitted_ms=TEN_HOURS)
        line = line_of(live, stranger.name)
        assert line["impossible_answers"] == 4 and Decimal(line["active_minutes"]) < 2


def test_an_answer_kept_offline_while_its_lease_ended_keeps_its_time(tmp_path: Path) -> None:
    """The draft exists in the browser only; the page asks for its tasks again before it sends the answer."""
    study = plain_study(per_task=1, batch=4, pay=PAY)
    with served(tmp_path / "s", study, text_tasks(4)) as live, stranger_in(live) as stranger:
        slot = stranger.slots(2)[0]
        server_clock.let_pass(600)
        live.studio.writer.submit(end_some_overdue_leases_and_return_count).result()
        assert stranger.slots(2)[0] == slot
        stranger.answer(slot, submitted_ms=590_000.0)
        line = line_of(live, stranger.name)
        assert line["impossible_answers"] == 0 and line["active_minutes"] == "9.83"


def test_slots_sent_ahead_are_not_paid_three_times(tmp_path: Path) -> None:
    study = plain_study(per_task=1, batch=3, pay=PAY | {"most_minutes": 0})
    with served(tmp_path / "s", study, text_tasks(3)) as live, stranger_in(live) as stranger:
        slots = stranger.slots(3)
        server_clock.let_pass(600)
        for slot in slots:
            stranger.answer(slot, submitted_ms=600_000.0)
        line = line_of(live, stranger.name)
        assert Decimal(10) <= Decimal(line["active_minutes"]) <= Decimal(line["total_minutes"]) < Decimal("10.5")
        assert line["impossible_answers"] == 0 and line["claimed_minutes"] == "30.00"  # each of them is possible alone
        assert any("several tasks at once" in one for one in line["explanation"])


@pytest.mark.parametrize("time", ["active", "total"])
def test_time_after_the_tasks_is_not_paid_by_changing_an_answer(tmp_path: Path, time: str) -> None:
    study = plain_study(per_task=1, batch=3, pay=PAY | {"time": time})
    with served(tmp_path / "s", study, text_tasks(3)) as live, stranger_in(live) as stranger:
        slots = stranger.slots(3)
        for slot in slots:
            server_clock.let_pass(20)
            stranger.answer(slot, submitted_ms=20_000.0)
        server_clock.let_pass(3600)
        stranger.answer(slots[0], submitted_ms=3_600_000.0)
        line = line_of(live, stranger.name)
    assert Decimal("0.9") <= Decimal(line[f"{time}_minutes"]) <= Decimal("1.1"), line["explanation"]
    left_out = "time until an answer was changed after the tasks does not count: 59.00 minutes left out"
    assert (left_out in line["explanation"]) == (time == "active")


def test_people_who_were_offline_keep_their_times(tmp_path: Path) -> None:
    study = plain_study(per_task=1, batch=10, pay=PAY)
    with served(tmp_path / "s", study, text_tasks(10)) as live, stranger_in(live) as stranger:
        slots, times = stranger.slots(10), [20_000.0 + 1000 * i for i in range(10)]
        server_clock.let_pass(sum(times) / 1000 + 5)
        for slot, ms in zip(slots, times, strict=True):
            stranger.answer(slot, submitted_ms=ms)
        # a correction that was made offline too: it is sent right after the answer that it corrects
        stranger.answer(slots[-1], submitted_ms=4000.0, replaces=f"import-{stranger.answered}")
        line = line_of(live, stranger.name)
        (found,) = results(live, "times")
        assert line["active_minutes"] == line["claimed_minutes"] == str(Decimal(sum(times) + 4000) / 60_000)[:4]
        assert line["impossible_answers"] == 0 and found["impossible"] == 0
        with live.studio.engine.connect() as connection:
            held = read_answers_that_count_latest_per_slot(connection, study.labels).answers
        assert held.seconds is not None
        assert sorted(held.seconds.tolist()) == pytest.approx([4, *(ms / 1000 for ms in times[:-1])])


def test_answers_are_also_received_in_the_acknowledgement_of_the_one_before(tmp_path: Path) -> None:
    """A slot that comes with an acknowledgement is handed out then, not when the sitting began."""
    study = plain_study(per_task=1, batch=3, pay=PAY)
    with served(tmp_path / "s", study, text_tasks(3)) as live, stranger_in(live) as stranger:
        (slot,) = stranger.slots(1)
        for ms in (60_000.0, 60_000.0, 120_000.0):  # the last claims the time of the one before as well
            server_clock.let_pass(60)
            (slot,) = stranger.answer(slot, submitted_ms=ms, ahead=1)["slots"] or (None,)
        line = line_of(live, stranger.name)
        assert line["impossible_answers"] == 1 and line["claimed_minutes"] == "4.00"
        assert Decimal("3.00") <= Decimal(line["active_minutes"]) <= Decimal("3.10")


def test_times_of_pages_are_limited_too(tmp_path: Path) -> None:
    study = plain_study(per_task=1, batch=1, pay=PAY | {"most_minutes": 0}, texts=STAGES)
    with served(tmp_path / "s", study, text_tasks(2)) as live:
        with stranger_in(live) as liar, stranger_in(live) as honest:
            for stranger, ms in ((honest, 30_000.0), (liar, TEN_HOURS)):
                for stage in ("consent", "instructions"):
                    server_clock.let_pass(30)
                    stranger.finish(stage, ms)
                stranger.answer_all(submitted_ms=0.0)
                server_clock.let_pass(30)
                stranger.finish("debrief", ms)
            names = honest.name, liar.name
        (pay, times) = results(live, "pay", "times")
        lines = {line["worker"]: line for line in pay["lines"]}
        right, wrong = (lines[name] for name in names)
    assert right["active_minutes"] == right["claimed_minutes"] == "1.50"
    assert wrong["claimed_minutes"] == "1800.00" and Decimal(wrong["active_minutes"]) <= Decimal(wrong["total_minutes"])
    assert any("3 pages claimed more time than the server saw" in one for one in wrong["explanation"])
    assert {times["stages"][stage] for stage in STAGES} == {30.0}  # medians of the believable ones


def test_each_page_counts_for_ten_minutes_at_most_and_the_sheet_says_so(tmp_path: Path) -> None:
    """A consent page left open for two hours was paid with 16 EUR."""
    study = plain_study(per_task=1, batch=1, pay=PAY, texts=STAGES)
    with served(tmp_path / "s", study, text_tasks(1)) as live, stranger_in(live) as stranger:
        for stage, minutes in (("consent", 120), ("instructions", 2)):
            server_clock.let_pass(60 * minutes)
            stranger.finish(stage, 60_000.0 * minutes)
        stranger.answer_all(submitted_ms=0.0)
        line = line_of(live, stranger.name)
        stages = export_of(live, tmp_path).tables["stages"]()
    assert line["active_minutes"] == "12.00" and line["total"] == "1.60"
    assert (
        "12.00 of the active minutes are from pages besides the tasks, such as the instructions" in line["explanation"]
    )
    assert "at most 10 minutes of each page count: 110.00 minutes left out" in line["explanation"]
    assert line["impossible_pages"] == 0 and not any(stages["impossible_time"])


def test_all_tries_of_the_check_are_one_page(tmp_path: Path) -> None:
    quiz = [{"question": "Which?", "choices": ["this", "that"], "right": 1}]
    study = plain_study(batch=1, pay=PAY, quiz=quiz)
    with served(tmp_path / "s", study, text_tasks(1)) as live, stranger_in(live) as stranger:
        for choice in (0, 0, 0, 1):
            server_clock.let_pass(360)
            body = {"stage": "quiz", "quiz": [choice], "ms": 360_000.0}
            assert stranger.api.call("POST /api/me/stage", **body).status == 200
        stranger.answer_all(submitted_ms=0.0)
        line = line_of(live, stranger.name)
    assert line["active_minutes"] == "10.00" and line["total"] == "1.33"
    assert "at most 10 minutes of each page count: 14.00 minutes left out" in line["explanation"]


def test_total_time_ends_soon_after_the_tasks(tmp_path: Path) -> None:
    study = plain_study(batch=1, pay=PAY | {"time": "total"}, texts=STAGES)
    with served(tmp_path / "s", study, text_tasks(1)) as live, stranger_in(live) as stranger:
        for stage in ("consent", "instructions"):
            stranger.finish(stage, 0.0)
        stranger.answer_all()
        server_clock.let_pass(3600)
        stranger.finish("debrief", 0.0)
        line = line_of(live, stranger.name)
    assert Decimal(10) <= Decimal(line["total_minutes"]) < Decimal(11)
    assert any("at most 10 minutes after the tasks count" in one for one in line["explanation"])


@pytest.mark.parametrize(
    "times", [{"submitted_ms": 1000.0, "hidden_ms": 5000.0}, {"first_input_ms": 90_000.0}, {"hidden_ms": 90_000.0}]
)
def test_times_that_contradict_each_other_are_impossible(tmp_path: Path, times: dict[str, float]) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, pay=PAY), text_tasks(4)) as live, stranger_in(live) as stranger:
        slots = stranger.slots(2)
        server_clock.let_pass(10)
        stranger.answer(slots[0], **times)
        stranger.answer(slots[1], submitted_ms=2000.0, hidden_ms=500.0)
        times_page, flagged = results(live, "times", "flagged")
        assert times_page["impossible"] == flagged["counts"]["impossible-time"] == 1
        assert times_page["active"] == 1.5
        assert "too-fast" not in flagged["counts"]  # the server saw 10 seconds


def test_impossible_times_do_not_hide_fast_answers_from_the_rules(tmp_path: Path) -> None:
    rules = {"rules": ["too-fast[seconds=2,share=0.5]"], "least_answers": 2}
    study = plain_study(per_task=1, exclude=rules)
    with served(tmp_path / "s", study, text_tasks(4)) as live, stranger_in(live) as stranger:
        stranger.answer_all(submitted_ms=TEN_HOURS)
        assert SnapshotComputer(live.studio.engine).exclude_workers_by_rules(study) == 1


def test_answers_without_times_are_as_fast_as_the_server_saw(tmp_path: Path) -> None:
    study = plain_study(per_task=1, batch=4, exclude={"rules": ["too-fast[share=0.5]"], "least_answers": 2})
    with served(tmp_path / "s", study, text_tasks(8)) as live:
        with stranger_in(live) as fast, stranger_in(live) as slow:
            fast.answer_all()
            for slot in slow.slots(4):
                server_clock.let_pass(5)
                slow.answer(slot)
        (flagged,) = results(live, "flagged")
        assert {one["worker"] for one in flagged["flagged"]} == {fast.name} and flagged["counts"] == {"too-fast": 4}
        assert SnapshotComputer(live.studio.engine).exclude_workers_by_rules(study) == 1


def test_the_parts_of_the_sheet_add_up_and_say_why(tmp_path: Path) -> None:
    rules = PAY | {"base": "0.505", "bonus_per_hour": "1.111", "bonus_per_match": "0.0333", "most_minutes": 3}
    study, rng = plain_study(per_task=5, batch=6, pay=rules), np.random.default_rng(0)
    with served(tmp_path / "s", study, text_tasks(6)) as live:
        for _ in range(4):
            person = live.enter()
            for slot in person.slots():
                person.answer(slot["slot"], str(rng.choice(study.labels)), submitted_ms=float(rng.uniform(5e3, 6e4)))
        with stranger_in(live) as stranger:
            stranger.answer_all(submitted_ms=TEN_HOURS)
        write_pay_sheet_and_return_summary(live.studio.engine, study, tmp_path / "pay.csv")
        (page,) = results(live, "pay")
    rows = list(csv.DictReader((tmp_path / "pay.csv").read_text().splitlines()))
    for row, line in zip(rows, page["lines"], strict=True):
        amount = {name: Decimal(row[name]) for name in row if name.startswith(("base", "bonus", "total"))}
        assert amount["base_fixed"] + amount["base_time"] == amount["base"]
        assert amount["bonus_matches"] + amount["bonus_time"] == amount["bonus"]
        assert amount["base"] + amount["bonus"] == amount["total"] and Decimal(row["paid_minutes"]) <= 3
        base, bonus = row["explanation"].split("; ")[:2]
        assert base.startswith(f"base {row['base']} = {row['base_fixed']} for taking part + {row['base_time']} for ")
        assert bonus.startswith(f"bonus {row['bonus']} = {row['bonus_matches']} for {row['matched']} of ")
        assert "; ".join(line["explanation"]) == row["explanation"]
        assert all(str(line[name]) == row[name] for name in row if name in line and isinstance(line[name], (str, int)))
    assert any("at most 3 minutes are paid, of " in row["explanation"] for row in rows)
    assert sum(Decimal(row["total"]) for row in rows) == Decimal(page["total"])


def test_honest_people_are_paid_as_before(tmp_path: Path) -> None:
    """Where client and server agree, the pay is the client's time without hidden time, as computed by hand."""
    study = plain_study(per_task=3, batch=4, pay=PAY)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        person = live.enter()
        for slot in person.slots():
            person.answer(slot["slot"], submitted_ms=60_000.0, hidden_ms=15_000.0, first_input_ms=700.0)
        (line,) = results(live, "pay")[0]["lines"]
    assert (line["active_minutes"], line["claimed_minutes"], line["impossible_answers"]) == ("3.00", "3.00", 0)
    assert line["total"] == "0.40" and line["explanation"] == ["base 0.40 for 3.00 active minutes at 8.00 per hour"]


def test_an_old_study_still_gets_its_sheet(tmp_path: Path) -> None:
    """Answers from before slots recorded when they were handed out count from the begin of their sitting."""
    folder = Path(shutil.copytree(OLD_STUDY, tmp_path / "old"))
    (folder / "secret.key").chmod(0o600)
    with served(folder) as live:
        old_lines = [PayLine(**json.loads(row.line)) for row in live.look(select(pay))]
        assert old_lines and all(line.explanation == [] for line in old_lines)
        live.studio.writer.submit(lambda c: c.execute(update(sittings).values(begun=sittings.c.begun - 60))).result()
        lines = live.studio.read_sync(lambda c: compute_pay_line_by_worker(c, live.studio.study))
        assert sorted(line.worker for line in lines.values()) == sorted(line.worker for line in old_lines)
        by_name = {line.worker: line for line in lines.values()}
        assert all(by_name[old.worker].total == old.total and by_name[old.worker].explanation for old in old_lines)


def test_a_study_pays_two_hours_at_most_unless_its_owner_says_otherwise(tmp_path: Path) -> None:
    assert plain_study(pay=PAY).pay.most_minutes == 120
    assert not plain_study(pay={"base": "1", "most_minutes": 0}).pay.pays_time_without_limit
    assert plain_study(pay=PAY | {"most_minutes": 0}).pay.pays_time_without_limit


def sign_in(page: Any, live: Served) -> None:
    """Sign in on the owner's pages."""
    page.goto(f"{live.url}/owner")
    page.fill("#name", "olga")
    page.fill("#password", "correct horse")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("main[data-shows]")


def test_the_owner_sees_how_the_pay_came_about_and_what_was_left_out(
    tmp_path: Path, context: Any, barriers: Any
) -> None:
    study = plain_study(per_task=3, pay=PAY | {"base": "0.50", "most_minutes": 0})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        with stranger_in(live) as stranger:
            stranger.answer_all(submitted_ms=TEN_HOURS)
        person = live.enter()
        for slot in person.slots():
            person.answer(slot["slot"], submitted_ms=30_000.0)
        results(live)
        page = context().new_page()
        sign_in(page, live)
        page.get_by_role("link", name="Pay", exact=True).click()
        page.wait_for_selector("main[data-shows=pay]")
        assert "Time is paid without limit" in page.inner_text(".note.endless")
        row = page.locator("tbody tr", has_text=stranger.name)
        row.locator("summary").click()
        assert "4 answers claimed more time than the server saw" in row.inner_text()
        assert "of 2400.00" in row.inner_text() and "impossible time" in row.inner_text()
        honest = page.locator("tbody tr", has_text=person.entered["me"]["worker"])
        honest.locator("summary").click()
        assert "base 0.77 = 0.50 for taking part + 0.27 for 2.00 active minutes at 8.00 per hour" in honest.inner_text()
        assert barriers(page) == []
        fits(page)
        page.get_by_role("link", name="Times").click()
        page.wait_for_selector("main[data-shows=times]")
        assert "4 answers are left out here" in page.inner_text(".note.impossible")
        assert "30 s" in page.inner_text(".figures")
        assert barriers(page) == []


def test_serve_warns_of_time_paid_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plurivox.web.server import uvicorn_server

    for limit, warned in ((0, True), (60, False)):
        with served(tmp_path / f"s{limit}", plain_study(pay=PAY | {"most_minutes": limit}), text_tasks(2)):
            pass
        monkeypatch.setattr(uvicorn_server, "serve", lambda *_: None)
        said = CliRunner().invoke(main, ["studio", "serve", str(tmp_path / f"s{limit}"), "--port", "0"])
        assert said.exit_code == 0, said.output
        assert ("pays time without limit" in said.output) is warned
