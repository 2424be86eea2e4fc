"""The numbers of the owner's pages, of `studio status` and of the export agree, in a study with everything in it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import plurivox as pv
from plurivox.cli.main import main
from studies import Served, fresh_database, served
from whole_study import LABELS, Crowd, compute, fill_whole_study, whole_study, whole_tasks

KIND_OF = {  # numbers of Overview and `status` -> values of `counted_as` in the table `views`
    "answers": "counts",
    "late": "late",
    "repeats": "repeat",
    "practice": "practice",
    "replaced": "replaced",
    "excluded": "excluded",
}
Told = dict[str, Any]


def call(*words: object) -> str:
    """Run a command and return what it prints."""
    said = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return said.stdout


def read_all(live: Served, name: str, rows: str) -> list[Told]:
    """Return all rows of a list of the owner's API, page by page."""
    found, after = [], ""
    while after is not None:
        page = live.http.get(f"/api/owner/{name}", params={"limit": 5, **({"after": after} if after else {})}).json()
        found, after = found + page[rows], page["next"]
    return found


def collect(live: Served, out: Path) -> Told:
    """Return all numbers that an owner can read: pages, `status --json`, and the exported tables."""
    compute(live)
    settings = live.studio.settings
    where = ["--database", settings.database] if settings.database else []
    told: Told = {
        name: live.http.get(f"/api/owner/{name}").json()
        for name in ("progress", "studies", "snapshot", "times", "agreement", "forms", "flagged", "pay")
    }
    told["status"] = json.loads(call("studio", "status", settings.folder, *where, "--json"))
    told["exported"] = json.loads(
        call("studio", "export", settings.folder, *where, "-o", out, "--json", *(["--force"] if out.exists() else []))
    )
    data = pv.io.read(out)
    assert data.answers is not None and data.items is not None
    told |= {"data": data, "views": data.tables["views"]().to_dicts(), "items": data.items}
    told |= {"arms": data.tables["arms"]().to_dicts()} if "arms" in data.tables else {}
    lists = {"tasks": "tasks", "workers": "workers", "exclusions": "exclusions", "flagged": "flagged", "pay": "lines"}
    told |= {f"all {name}": read_all(live, name, rows) for name, rows in lists.items()}
    told["task pages"] = [live.http.get(f"/api/owner/tasks/{one['task']}").json() for one in told["all tasks"]]
    return told


def check_answers(told: Told) -> None:
    """Every submitted answer is of one kind, and every page counts the same ones."""
    now, views, n = told["progress"], told["views"], len(told["data"].answers)
    kinds = Counter(row["counted_as"] for row in views)
    assert {kind: now[name] for name, kind in KIND_OF.items()} == {kind: kinds[kind] for kind in KIND_OF.values()}
    assert sum(now[name] for name in KIND_OF) == now["all_answers"] == len(views)
    assert now["answers"] + now["late"] + now["repeats"] == n == told["exported"]["answers"]
    assert {name: told["status"][name] for name in (*KIND_OF, "all_answers")} == {
        name: now[name] for name in (*KIND_OF, "all_answers")
    }
    assert told["studies"][0]["answers"] == now["answers"] and told["snapshot"]["answers"] == n
    assert sum(count for _, count in now["per_hour"]) == n  # Answers per hour
    # the table `answers` is the part of `views` that says so
    of = Counter((row["task"], row["worker"]) for row in views if row["counted_as"] in ("counts", "late", "repeat"))
    answers = told["data"].answers
    assert of == Counter(
        zip(answers.tasks[answers.task].tolist(), answers.workers[answers.worker].tolist(), strict=True)
    )
    assert int((answers.repeat_of >= 0).sum()) == now["repeats"] == told["agreement"]["repeats"]


def check_tasks(told: Told) -> None:
    """Tasks and Task add up to Overview, and the soft label says how many answers it is made of."""
    now, views, pages = told["progress"], told["views"], told["task pages"]
    lines, quotas = told["all tasks"], now["quotas"]
    items = pv.io.frame_of(told["items"], "items") if isinstance(told["items"], dict) else told["items"]
    practice = [row for row in items.to_dicts() if row.get("practice")]
    assert (
        len(lines) == told["studies"][0]["tasks"] == sum(one["tasks"] for one in quotas) == len(items) - len(practice)
    )
    assert sum(one["answers"] for one in lines) == now["answers"] == sum(one["given"] for one in quotas)
    assert sum(one["given"] for one in lines) == now["answers"] + sum(one["leased"] for one in quotas)
    assert sum(one["quota"] for one in lines) == now["wanted"] == sum(one["wanted"] for one in quotas)
    shown = [answer for page in pages for answer in page["answers"]]
    of_tasks = [row for row in views if row["kind"] != "practice"]
    assert Counter(one["counted_as"] for one in shown) == Counter(row["counted_as"] for row in of_tasks)
    assert all(one["in_soft_label"] == (one["counted_as"] in ("counts", "late")) for one in shown)
    named = [one for one in shown if one["counted_as"] in ("counts", "late") and one["becomes"]]
    assert sum(page["soft_label_answers"] for page in pages) == len(named)


def check_people(told: Told) -> None:
    """People on Overview are those on Workers; with answers, they are those of the export and of Pay."""
    now, lines, views = told["progress"], told["all workers"], told["views"]
    people = now["workers"]
    assert told["status"]["workers"] == people
    assert sum(people.values()) == len(lines) == told["studies"][0]["workers"] == told["status"]["people"]
    status = Counter(one["status"] for one in lines)
    assert {name: people.get(name, 0) for name in ("excluded", "erased")} == {
        name: status[name] for name in ("excluded", "erased")
    }
    assert people.get("excluded", 0) == sum(one["lifted"] is None for one in told["all exclusions"])
    answered = {one["worker"]: one["answers"] for one in lines if one["answers"]}
    assert now["workers_with_answers"] == len(answered) == told["status"]["workers_with_answers"]
    counted = Counter(row["worker"] for row in views if row["counted_as"] not in ("practice", "replaced"))
    assert answered == dict(counted) == {one["worker"]: one["answers"] for one in told["all pay"]}
    assert told["pay"]["people"] == len(answered)
    active = {one["worker"] for one in lines if one["status"] == "active" and one["answers"]}
    assert active == set(told["data"].answers.workers.tolist())
    done = [one for one in lines if one["status"] == "active" and one["stage"] == "done"]
    assert people.get("turned away", 0) == sum(not one["answers"] for one in done)
    assert [one for one in lines if one["turned_away"]] == [one for one in done if not one["answers"]]
    assert people.get("done", 0) == sum(one["answers"] > 0 for one in done)


def check_snapshot(told: Told) -> None:
    """Charts and flags leave out practice, replaced answers and excluded people."""
    now, views = told["progress"], told["views"]
    counted = {str(row["answer"]): row for row in views if row["counted_as"] in ("counts", "late", "repeat")}
    flagged = told["all flagged"]
    assert {one["answer"] for one in flagged} <= set(counted)
    assert Counter(flag for one in flagged for flag in one["flags"]) == told["flagged"]["counts"]
    assert told["flagged"]["counts"].get("late", 0) == now["late"]
    late = {answer for answer, row in counted.items() if row["counted_as"] == "late"}
    assert {one["answer"] for one in flagged if "late" in one["flags"]} == late
    timed = [row for row in counted.values() if row["submitted_ms"] is not None]
    assert sum(n for _, _, n in told["times"]["by_position"]) == len(timed)
    if told["forms"]["arms"]:
        arms, rows = told["forms"]["arms"], told["arms"]
        assert sum(one["answers"] for one in arms) == now["answers"] + now["late"]
        assert {one["arm"]: one["people"] for one in arms} == dict(
            Counter(row["arm"] for row in rows if row["status"] == "active" and row["arm"])
        )
        assert len(rows) == sum(now["workers"].values())


def check(told: Told) -> None:
    """Check that all numbers agree."""
    check_answers(told)
    check_tasks(told)
    check_people(told)
    check_snapshot(told)


def settled(live: Served, crowd: Crowd, out: Path) -> None:
    """Check all sums as they are, after an exclusion, and after it is lifted."""
    told = collect(live, out)
    check(told)
    before = told["progress"]
    assert all(before[name] for name in KIND_OF) and before["workers"].keys() >= {"turned away", "excluded", "erased"}
    crowd.exclude("bob")
    told = collect(live, out)
    check(told)
    now = told["progress"]
    assert (now["all_answers"], now["practice"]) == (before["all_answers"], before["practice"])
    assert now["excluded"] == before["excluded"] + 5 and now["workers"]["excluded"] == before["workers"]["excluded"] + 1
    assert crowd.name_of("bob") not in told["data"].answers.workers.tolist()
    crowd.lift("bob")
    told = collect(live, out)
    check(told)
    now = told["progress"]
    # the answers are beyond the quota now, since their slots are free for others
    assert (now["excluded"], now["repeats"]) == (before["excluded"], before["repeats"])
    assert now["answers"] + now["late"] == before["answers"] + before["late"] and now["workers"] == before["workers"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_sums_agree_between_pages_status_and_export(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    with served(tmp_path / "s", whole_study(), whole_tasks(), database=database) as live:
        settled(live, fill_whole_study(live), tmp_path / "out")


def test_sums_agree_in_a_study_with_two_forms(tmp_path: Path) -> None:
    def marks(form: str, n: int) -> list[dict[str, str]]:
        typed = {"typed": "100"} if form == "histogram" else {}
        return [{"kind": "named", "label": LABELS[n % 3], **typed}]

    with served(tmp_path / "s", whole_study(forms=["one-label", "histogram"], per_task=2), whole_tasks()) as live:
        settled(live, fill_whole_study(live, marks), tmp_path / "out")


def test_counters_saved_by_an_earlier_version_are_counted_again(tmp_path: Path) -> None:
    from sqlalchemy import delete, insert

    from plurivox.web.store.report import answer_counters
    from plurivox.web.store.schema import tallies

    with served(tmp_path / "s", whole_study(), whole_tasks()) as live:
        fill_whole_study(live)
        right = live.http.get("/api/owner/progress").json()
        old = [
            ("mark", "", 30),
            ("kind", "task", 20),
            ("kind", "extra", 9),
            ("hour", "500000", 30),
            ("given", "easy", 7),
        ]

        def forge(connection: Any) -> None:
            connection.execute(delete(tallies).where(tallies.c.what.in_(["mark", "kind", "hour", "given"])))
            connection.execute(insert(tallies), [{"what": what, "of": of, "n": n} for what, of, n in old])

        live.studio.writer.submit(forge).result()
        assert live.http.get("/api/owner/progress").json() == right
        while live.studio.writer.submit(answer_counters.count_next_answers_and_return_has_more).result():
            pass
        assert live.http.get("/api/owner/progress").json() == right
        assert [row.of for row in live.look(tallies.select().where(tallies.c.what == "mark"))] == ["2"]


def sixty_forty(form: str, n: int) -> list[dict[str, str]]:
    """Return marks of 60 and 40 percent, or of 60 percent alone."""
    named = [{"kind": "named", "label": LABELS[(n + k) % 3], "typed": typed} for k, typed in enumerate(("60", "40"))]
    return named if n % 2 else named[:1]


@pytest.mark.parametrize("width", [1280, 390])
def test_an_owner_sees_the_same_numbers_and_what_answers_became(
    tmp_path: Path, context: Any, barriers: Any, width: int
) -> None:
    with served(tmp_path / "s", whole_study(), whole_tasks()) as live:
        fill_whole_study(live, sixty_forty)
        compute(live)
        now = live.http.get("/api/owner/progress").json()
        page = context(viewport={"width": width, "height": 844}).new_page()
        page.goto(f"{live.url}/owner")
        page.fill("#name", "olga")
        page.fill("#password", "correct horse")
        page.keyboard.press("Enter")
        page.wait_for_selector(".figures")
        cells = page.eval_on_selector_all(
            "[aria-label='All answers'] tbody td:nth-child(2)", "all => all.map((one) => Number(one.textContent))"
        )
        assert cells == [now[name] for name in (*KIND_OF, "all_answers")] and sum(cells[:-1]) == cells[-1]
        people = page.inner_text(".figure:has-text('people')")
        for words in ("14", "10 of them with answers", "1 turned away", "1 excluded", "1 erased", "9 done"):
            assert words in people, people
        assert page.query_selector("text=leave out practice, replaced answers and answers of excluded people")
        [task] = [one for one in live.http.get("/api/owner/tasks").json()["tasks"] if one["name"] == "t0"]
        page.goto(f"{live.url}/owner#/tasks?order=name")
        page.wait_for_selector("h1:has-text('Tasks')")
        assert page.query_selector("text=People: the share of people like these who would give it.")
        bars = page.eval_on_selector_all(".pair dt", "all => all.map((one) => one.textContent)")
        assert bars and bars == ["Truth", "People"] * (len(bars) // 2)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.goto(f"{live.url}/owner#/task/{task['task']}")
        page.wait_for_selector("text=share 10% (gamma = 0.1)")
        detail = live.http.get(f"/api/owner/tasks/{task['task']}").json()
        rows = page.eval_on_selector_all(
            "[aria-label='Answers'] tbody tr", "all => all.map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        for row, one in zip(rows, detail["answers"], strict=True):
            if one["marks"]:
                both, first = len(one["marks"]) == 2, one["becomes"][0]["label"]
                assert f"{first} 60%" in row[1] and row[2].startswith(f"{first} {'54' if both else '60'}%")
                assert ("3 others 3.3% each" if both else "4 others 10% each") in row[2]
            else:
                assert row[1] in ("can't tell", "none of these") and row[2] == "no distribution"
            assert (one["counted_as"] in row[6]) == (one["counted_as"] != "counts")
            assert ("not in the soft label" in row[6]) == (one["counted_as"] not in ("counts", "late"))
        shown = page.eval_on_selector_all(
            "[aria-label='Labels'] tbody td:first-child", "all => all.map((one) => one.textContent)"
        )
        assert shown == [one["label"] for one in detail["labels"]]
        assert f"{detail['labels'][0]['votes']} (" in page.inner_text(
            "[aria-label='Labels'] tbody tr:first-child td:nth-child(2)"
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and not barriers(page)
