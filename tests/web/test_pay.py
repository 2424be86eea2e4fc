"""The pay sheet: exact, with its reasons, by pseudonym; platform ids only on the command line."""

import csv
import stat
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from plurivox.cli.main import main
from plurivox.core.errors import InputError
from plurivox.web.aggregating import compute
from plurivox.web.background import is_stale
from plurivox.web.excluding import apply_rules
from plurivox.web.pay_file import write_pay
from plurivox.web.paying import Work, compute_pay, matches, pay_line
from plurivox.web.store.erasing import erase
from plurivox.web.store.tables import pay
from plurivox.web.terms import Pay
from web.studios import plain_study, served, text_tasks

PAPER = {"per_hour": "8", "bonus_per_hour": "1", "currency": "USD"}


def test_terms_that_are_said_after_the_last_answer_are_computed_too(tmp_path: Path) -> None:
    plain, paid = plain_study(), plain_study(pay={"base": "1"})
    with served(tmp_path / "s", plain) as live:
        person = live.enter()
        person.answer(person.slots()[0]["slot"])
        compute(live.studio.engine, plain)
        assert not live.studio.look(lambda c: is_stale(c, plain)) and live.studio.look(lambda c: is_stale(c, paid))


def test_money_is_exact_and_rounded_once() -> None:
    hour = Work("w", born=0, n_answers=9, active_ms=3_600_000)
    line = pay_line(Pay(**PAPER), hour, matched=9, compared=9)
    assert (line["base"], line["bonus"], line["total"]) == ("8.00", "1.00", "9.00")  # as the paper: up to 9 an hour
    line = pay_line(Pay(base="0.1", bonus_per_match="0.005"), hour, matched=1, compared=3)
    assert (line["base"], line["bonus"], line["total"]) == ("0.10", "0.01", "0.11")
    third = pay_line(Pay(bonus_per_hour="1"), hour, matched=1, compared=3)
    assert third["bonus"] == "0.33" and pay_line(Pay(bonus_per_hour="1"), hour, 0, 0)["bonus"] == "0.00"
    capped = pay_line(Pay(per_hour="8", most_minutes=30), hour, 0, 0)
    assert capped["total"] == "4.00" and "30 minutes are paid at most" in capped["reasons"]
    few = pay_line(Pay(base="5", least_answers=10), hour, 0, 0)
    assert few["total"] == "0.00" and "fewer than 10 answers: no pay" in few["reasons"]
    whole = Work("w", born=100, last=1900, n_answers=1, active_ms=60_000)
    assert pay_line(Pay(per_hour="8", time="total"), whole, 0, 0)["total"] == "4.00"
    for how, total in (("without-bonus", "1.00"), ("nothing", "0.00")):
        out = pay_line(Pay(base="1", bonus_per_match="1", excluded=how), Work("w", 0, "too-fast", n_answers=3), 3, 3)
        assert out["total"] == total and any("excluded by too-fast" in one for one in out["reasons"])


def test_matching_leaves_the_person_out_and_lets_ties_count() -> None:
    from collections import Counter

    crowd = {1: Counter(cat=2, dog=1), 2: Counter(cat=1, dog=1), 3: Counter(cat=1)}
    me = Work("w", 0, said={1: "cat", 2: "dog", 3: "cat"})
    assert matches(me, crowd) == (1, 2)  # 1: cat and dog tie without me; 2: only cat is left; 3: nobody else
    assert matches(Work("w", 0, "rule", said={1: "cat", 2: ""}), crowd) == (1, 2)  # not in the crowd; can't tell


def walk(live: Any, label: str, **way: Any) -> Any:
    person = live.enter(**way)
    for slot in person.slots():
        person.answer(slot["slot"], label, submitted_ms=45_000.0, hidden_ms=0)
    return person


def test_the_sheet_of_a_study_by_pseudonym_and_by_id(tmp_path: Path) -> None:
    study = plain_study(per_task=3, pay=PAPER | {"currency": "=EUR"})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        ids = [
            {"platform": {"pid": pid, "study": "st", "session": "se"}} for pid in ("=p1", "SecondPerson", "ThirdPerson")
        ]
        assert live.http.post("/api/enter", json=ids[0]).status_code == 422  # nor does such an id get in
        people = [walk(live, label, **way) for label, way in zip(["cat", "cat", "dog"], [{}, *ids[1:]], strict=True)]
        engine, out = live.studio.engine, tmp_path / "pay.csv"
        told = write_pay(engine, study, out)
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert [row["worker"] for row in rows] == sorted(one.entered["me"]["worker"] for one in people)
        assert {row["base"] for row in rows} == {"0.40"} and {row["active_minutes"] for row in rows} == {"3.00"}
        assert sorted(row["bonus"] for row in rows) == ["0.00", "0.05", "0.05"]  # 3 minutes of 1 an hour
        assert sum(Decimal(row["total"]) for row in rows) == Decimal(told["total"]) == Decimal("1.30")
        assert {row["currency"] for row in rows} == {"'=EUR"} and "SecondPerson" not in out.read_text()
        write_pay(engine, study, out, with_ids=True)
        assert out.read_text() == "SecondPerson,0.05\n" and stat.S_IMODE(out.stat().st_mode) == 0o600
        live.sign_in()
        assert live.http.get("/api/owner/pay").json()["lines"] == []  # no request computes it
        compute_pay(engine, study)
        compute_pay(engine, study)
        page = live.http.get("/api/owner/pay", params={"limit": 2})
        assert len(page.json()["lines"]) == 2 and (page.json()["people"], page.json()["total"]) == (3, "1.30")
        rest = live.http.get("/api/owner/pay", params={"after": page.json()["next"]}).json()
        assert len(rest["lines"]) == 1 and rest["next"] is None and "SecondPerson" not in page.text
        gone = people[1].entered["me"]["worker"]
        live.studio.writer.submit(lambda c: erase(c, "test", gone)).result()
        assert len(live.look(select(pay))) == 2


def test_a_study_that_pays_nothing_says_so_and_two_platforms_need_two_files(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(platforms=["prolific", "mturk"])) as live:
        with pytest.raises(InputError, match=r"\[pay\]"):
            write_pay(live.studio.engine, live.studio.study, tmp_path / "x.csv")
        walk(live, "cat", platform={"pid": "p1", "study": "st", "session": "se"})
        mturk = {"name": "mturk", "pid": "A1", "study": "h", "session": "a", "submit_to": "https://www.mturk.com"}
        walk(live, "cat", platform=mturk)
        with pytest.raises(InputError, match="mturk and prolific"):
            write_pay(live.studio.engine, plain_study(pay=PAPER), tmp_path / "x.csv", with_ids=True)


def test_pay_on_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner

    study = plain_study(pay=PAPER, exclude={"rules": ["too-fast[seconds=100]"], "least_answers": 1})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        walk(live, "cat")
        assert apply_rules(live.studio.engine, study) == 1
    words = ["studio", "pay", str(tmp_path / "s"), "-o", str(tmp_path / "pay.csv")]
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 0 and "1 worker, 0.40 USD" in said.output, said.output
    assert "excluded by too-fast[seconds=100]: no bonus" in (tmp_path / "pay.csv").read_text()
