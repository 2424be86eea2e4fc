"""Who may enter: strangers are refused, admitted studies of platforms enter, and visitors cannot take all tasks from others.

The attacks are made by a client that is written from the OpenAPI document alone.
"""

import shutil
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import event, func, select, update

from interfaces.web.live_server import run, studio_of
from interfaces.web.openapi_client import OpenApiClient, Reply
from interfaces.web.page_actions import answer, saved, shown
from plurivox.cli.main import main
from plurivox.web.api.http_errors import ApiError
from plurivox.web.api.rate_limit import ip_or_ipv6_network
from plurivox.web.api.route_dependencies import ADDRESSES_PER_NETWORK, RateLimits, enforce_arrival_limit
from plurivox.web.server_settings import Settings
from plurivox.web.services.next_tasks import get_or_lease_next_task_slots
from plurivox.web.store.admin.platform_studies import admit_platform_study
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.key_value import kv_set
from plurivox.web.store.schema import answers, audit, facts, sittings, slots, tasks, workers
from plurivox.web.study.backup import restore_study_and_count_rows
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from studies import Served, fresh_database, plain_study, served, server_clock, text_tasks

OLD_BACKUP = Path(__file__).parents[2] / "fixtures" / "0.1.0" / "studies" / "backup"
DEFAULT: dict[str, Any] = {"name": "pets", "labels": ["cat", "dog", "ship"]}
PINNED: dict[str, Any] = {"platforms": ["prolific"], "prolific_studies": ["64study"]}


def person(pid: str, study: str = "64study") -> dict[str, Any]:
    return {"pid": pid, "study": study, "session": f"{pid}s"}


def go_on_to_tasks(client: OpenApiClient, entered: Reply, n: int = 10) -> Reply:
    """Agree to everything until the tasks, then ask for them, as a stranger's program would."""
    token, me = f"Bearer {entered.body['token']}", entered.body["me"]
    while me["stage"] not in ("practice", "tasks", "done"):
        me = client.call("POST /api/me/stage", authorization=token, stage=me["stage"], agreed=True).body["me"]
    return client.call("GET /api/tasks", authorization=token, n=n)


def leased(study: Served) -> int:
    return int(study.look(select(func.count()).where(slots.c.state == "leased"))[0][0])


# ---- who may enter


def test_strangers_cannot_lease_the_tasks_of_a_default_study(tmp_path: Path) -> None:
    with served(tmp_path / "s", Study(**DEFAULT), text_tasks(12)) as study, OpenApiClient(study.url) as client:
        for i in range(6):
            said = client.call("POST /api/enter", platform={"pid": f"invented{i}"})
            assert said.status == 403
            assert said.body["detail"] == "This study is by invitation. Please use the link that you were sent."
        assert study.look(select(workers.c.id)) == [] and leased(study) == 0
        invited = client.call("POST /api/enter", invite=study.invite(1))
        assert invited.status == 200 and len(go_on_to_tasks(client, invited).body["slots"]) == 10


def test_a_pinned_study_admits_its_own_people_only(tmp_path: Path) -> None:
    made = plain_study(**PINNED | {"platforms": ["prolific", "mturk"], "mturk_hits": ["3HIT"]})
    with served(tmp_path / "s", made) as study, OpenApiClient(study.url) as client:
        assert client.call("POST /api/enter", platform=person("p1")).status == 200
        said = client.call("POST /api/enter", platform=person("p2", "65other"))
        assert said.status == 403 and "another study at Prolific" in said.body["detail"]
        mturk = {"name": "mturk", "pid": "A1", "session": "3A", "submit_to": "https://www.mturk.com"}
        assert client.call("POST /api/enter", platform=mturk | {"study": "3OTHER"}).status == 403
        assert client.call("POST /api/enter", platform=mturk | {"study": "3HIT"}).status == 200
        assert client.call("GET /api/preview").status == 200
        assert len(study.look(select(workers.c.id))) == 2


def test_a_platform_without_ids_admits_nobody_and_says_so(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(platforms=["prolific"])) as study:
        said = study.http.post("/api/enter", json={"platform": person("p1")})
        assert said.status_code == 403 and "does not admit people from Prolific yet" in said.json()["detail"]
        study.sign_in()
        [access] = study.http.get("/api/owner/invites").json()["platforms"]
        assert access["studies"] == [] and not access["admits_everyone"]
        assert study.http.get("/api/owner/snapshot").json()["troubles"] == []


def test_people_who_entered_may_come_back_after_their_study_was_removed(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(platforms=["prolific"])) as study:
        study.sign_in()
        pinned = {"platform": "prolific", "study": "64study"}
        for path in ("platform-studies", "platform-studies", "platform-studies/remove"):  # adding twice changes nothing
            if path.endswith("remove"):
                known = study.enter(platform=person("p1"), key="k" * 20)
            assert study.http.post(f"/api/owner/{path}", json=pinned, headers=study.owner).status_code == 200
        assert study.enter(platform=person("p1"), key="k" * 20).entered["me"] == known.entered["me"]
        assert study.http.post("/api/enter", json={"platform": person("p2")}).status_code == 403
        actions = study.look(select(audit.c.who, audit.c.what).where(audit.c.what.like("platform%")))
        assert actions == [("olga", "platform study admitted"), ("olga", "platform study removed")]
        said = study.http.post("/api/owner/platform-studies/remove", json=pinned, headers=study.owner)
        assert said.status_code == 404


def test_owners_cannot_admit_a_platform_that_is_off_or_remove_an_id_of_study_toml(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**PINNED)) as study:
        study.sign_in()
        off = {"platform": "mturk", "study": "3HIT"}
        said = study.http.post("/api/owner/platform-studies", json=off, headers=study.owner)
        assert said.status_code == 422 and 'platforms = ["mturk"]' in said.json()["detail"]
        fixed = {"platform": "prolific", "study": "64study"}
        said = study.http.post("/api/owner/platform-studies/remove", json=fixed, headers=study.owner)
        assert said.status_code == 409 and "study.toml" in said.json()["detail"]
        assert study.http.post("/api/owner/platform-studies", json=fixed).status_code == 403  # without the CSRF token


@pytest.mark.parametrize("pid", ["{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "PROLIFIC_PID", "{{", ""])
def test_unfilled_placeholders_are_refused_in_plain_words(tmp_path: Path, pid: str) -> None:
    with served(tmp_path / "s", plain_study(**PINNED)) as study:
        for ids in (person("p1") | {"pid": pid}, person("p1") | {"study": pid or "null"}):
            said = study.http.post("/api/enter", json={"platform": ids})
            assert said.status_code == 422
            assert ("has not filled in this link" if pid else "lacks an ID that the platform adds") in said.json()[
                "detail"
            ]
            assert "body" not in said.json()["detail"]


def test_ids_of_a_platform_that_is_off_are_an_error_in_study_toml() -> None:
    with pytest.raises(ValueError, match="prolific_studies is set"):
        Study(**DEFAULT, platforms=[], prolific_studies=["64study"])


def test_ids_switch_their_platform_on_if_study_toml_does_not_name_platforms() -> None:
    assert Study(**DEFAULT, prolific_studies=["64study"]).platforms == ["prolific"]
    assert Study(**DEFAULT, mturk_hits=["3HIT"]).platforms == ["mturk"]
    assert Study(**DEFAULT).platforms == []


# ---- studies made before ids were required


def older(folder: Path, **values: Any) -> None:
    """Create a study as an older version did: its platforms admit everyone."""
    settings = Settings(folder=folder, database="")
    make_study(settings, plain_study(**values), text_tasks(4))
    with served(folder) as study:
        study.studio.writer.submit(lambda c: kv_set(c, "platforms_without_ids", True)).result()


def test_an_older_study_keeps_admitting_with_an_alert_until_it_is_pinned(tmp_path: Path) -> None:
    older(tmp_path / "s", platforms=["prolific", "mturk"])
    mturk = {"name": "mturk", "pid": "A1", "study": "3HIT", "session": "3A", "submit_to": "https://www.mturk.com"}
    with served(tmp_path / "s") as study:
        study.enter(platform=person("p1", "any"))
        study.sign_in()
        [one, _] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "by a link of Prolific, with an invented ID" in one["what"] and "Invitations" in one["to_do"]
        pinned = {"platform": "prolific", "study": "64study"}
        assert study.http.post("/api/owner/platform-studies", json=pinned, headers=study.owner).status_code == 200
        assert study.http.post("/api/enter", json={"platform": person("p2", "any")}).status_code == 403
        [one] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "MTurk" in one["what"]  # it was not pinned: its people still enter
        study.enter(platform=mturk)
        study.http.post("/api/owner/platform-studies/remove", json=pinned, headers=study.owner)
        assert study.http.post("/api/enter", json={"platform": person("p2", "any")}).status_code == 403  # stays pinned


def test_an_older_study_that_does_not_mention_platforms_still_admits_prolific(tmp_path: Path) -> None:
    older(tmp_path / "s")
    file = tmp_path / "s" / "study.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("platforms")]
    file.write_text("\n".join(lines))
    with served(tmp_path / "s") as study:
        study.enter(platform=person("p1", "any"))
        study.sign_in()
        [alert] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "write platforms = [] in study.toml" in alert["to_do"]  # to remove a line would change nothing
        add = "/api/owner/platform-studies"
        added = study.http.post(add, json={"platform": "prolific", "study": "64study"}, headers=study.owner)
        assert added.status_code == 200, added.text
    with served(tmp_path / "s") as study:  # Prolific stays on after a restart, for the admitted study only
        study.enter(platform=person("p3", "64study"))
        assert study.http.post("/api/enter", json={"platform": person("p4", "any")}).status_code == 403
    file.write_text("platforms = []\n" + file.read_text())
    for text in (file.read_text(), file.read_text().replace("[]", '["prolific"]', 1)):  # off, then on: ids are required
        file.write_text(text)
        with served(tmp_path / "s") as study:
            assert study.http.post("/api/enter", json={"platform": person("p2", "any")}).status_code == 403


def test_only_a_server_decides_which_platforms_of_an_older_study_stay_open(tmp_path: Path) -> None:
    older(tmp_path / "s", platforms=["prolific"])
    file = tmp_path / "s" / "study.toml"
    before = file.read_text()
    with served(tmp_path / "s") as study:
        file.write_text(before.replace('["prolific"]', "[]", 1))
        said = CliRunner().invoke(main, ["studio", "status", str(tmp_path / "s")], catch_exceptions=False)
        assert said.exit_code == 0, said.output
        study.enter(platform=person("p1", "any"))  # the server has not read the new study.toml


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_restored_backup_of_version_0_1_0_still_admits_prolific_until_it_is_pinned(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    shutil.copytree(OLD_BACKUP, tmp_path / "backup")
    (tmp_path / "backup" / "secret.key").chmod(0o600)
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"), empty=True)
    restore_study_and_count_rows(tmp_path / "backup", Settings(folder=tmp_path / "s", database=database))
    with served(tmp_path / "s", database=database) as study:
        assert study.look(select(facts.c.value).where(facts.c.name == "platforms_without_ids")) == [('["prolific"]',)]
        assert {row[0] for row in study.look(select(slots.c.handed_out))} == {None}
        study.enter(platform=person("new1", "any"))
        admit = partial(admit_platform_study, audit_actor="olga", platform="prolific", study="64study")
        study.studio.writer.submit(admit).result()
        assert study.http.post("/api/enter", json={"platform": person("new2", "any")}).status_code == 403


# ---- how many


def test_new_people_per_address_are_limited_but_known_and_invited_people_are_not(tmp_path: Path, still: Any) -> None:
    del still
    with served(tmp_path / "s", plain_study(**PINNED), arrivals_per_hour=3, behind_proxy="127.0.0.1") as study:
        came = {"X-Forwarded-For": "192.0.2.1"}

        def enter(pid: str, headers: dict[str, str] = came) -> httpx.Response:
            return study.http.post("/api/enter", json={"platform": person(pid), "key": pid * 20}, headers=headers)

        assert study.http.post("/api/enter", json={"platform": person("x", "other")}, headers=came).status_code == 403
        assert [enter(pid).status_code for pid in "abcd"] == [200, 200, 200, 429]
        said = enter("d")
        assert int(said.headers["Retry-After"]) in range(1100, 1300) and said.json()["error"] == "many-arrivals"
        assert "Please open the link again in 20 minutes." in said.json()["detail"]
        assert enter("a").status_code == 200  # entered before
        assert study.http.post("/api/enter", json={"invite": study.invite()}, headers=came).status_code == 200
        assert enter("d", {"X-Forwarded-For": "192.0.2.2"}).status_code == 200
        network = [enter(pid, {"X-Forwarded-For": f"2001:db8::{ord(pid):x}"}).status_code for pid in "efgh"]
        assert network == [200, 200, 200, 429]


def test_arrivals_from_a_network_of_ipv6_are_limited_too() -> None:
    limits = RateLimits.rate_limits_from_settings(Settings(arrivals_per_hour=2))
    for n in range(2 * ADDRESSES_PER_NETWORK):  # a customer of a provider has many networks
        enforce_arrival_limit(limits, ip_or_ipv6_network(f"2001:db8:1:{n}::1"))
    with pytest.raises(ApiError, match="from your network"):
        enforce_arrival_limit(limits, ip_or_ipv6_network("2001:db8:1:99::1"))
    enforce_arrival_limit(limits, ip_or_ipv6_network("2001:db8:2::1"))


def test_visits_while_the_study_is_paused_are_no_arrivals(tmp_path: Path, still: Any) -> None:
    del still
    with served(tmp_path / "s", plain_study(**PINNED), arrivals_per_hour=3) as study:
        study.sign_in()
        for state, expected in (("paused", [409] * 5), ("open", [200])):
            said = study.http.post("/api/owner/state", json={"state": state}, headers=study.owner)
            assert said.status_code == 200
            came = [study.http.post("/api/enter", json={"platform": person("a")}) for _ in expected]
            assert [one.status_code for one in came] == expected


def test_the_limit_of_arrivals_is_divided_among_processes(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(), arrivals_per_hour=30, processes=3) as study:
        assert study.app.state.limits.arrivals.capacity == 10


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_people_without_an_answer_hold_half_of_the_slots_at_most(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = fresh_database(request.getfixturevalue("postgres")) if kind == "postgresql" else ""
    made = Study(**DEFAULT | PINNED)
    with served(tmp_path / "s", made, text_tasks(12), database=database) as study, OpenApiClient(study.url) as client:
        found = [
            go_on_to_tasks(client, client.call("POST /api/enter", platform=person(f"p{i}"))).body for i in range(6)
        ]
        assert [len(one["slots"]) for one in found] == [10, 10, 10, 0, 0, 0] and leased(study) == 36
        assert all(one["waiting"]["others_begin"] and one["waiting"]["again_seconds"] == 5 for one in found[3:])
        assert "as soon as one of them has given an answer" in found[3]["waiting"]["text"]
        assert found[3]["waiting"]["until"] - time.time() < 5 * 60


def test_who_waits_begins_as_soon_as_one_of_the_others_has_answered(tmp_path: Path) -> None:
    made = plain_study(**PINNED, per_task=6, unanswered_share=0.5)
    with served(tmp_path / "s", made, text_tasks(4)) as study:
        first, second, third, fourth = (study.enter(platform=person(f"p{i}")) for i in range(4))
        held = first.slots()
        assert [len(one.slots()) for one in (second, third, fourth)] == [4, 4, 0]
        assert first.answer(held[0]["slot"]).status_code == 200
        assert len(fourth.slots()) == 0  # 23 answers are wanted: 12 are more than half
        second.answer(second.slots()[0]["slot"])
        assert len(fourth.slots()) == 4


def test_one_sitting_can_always_begin_and_people_with_answers_never_wait(tmp_path: Path) -> None:
    made = plain_study(per_task=2, batch=4, sittings=2, unanswered_share=0.01)
    with served(tmp_path / "s", made, text_tasks(8)) as study:
        proven, visitor = study.enter(), study.enter()
        for slot in proven.slots():
            proven.answer(slot["slot"])
        assert len(visitor.slots()) == 4
        assert study.enter().slots() == []
        assert len(proven.slots()) == 4


def test_nobody_waits_for_a_lease_that_is_over_but_not_yet_released(tmp_path: Path) -> None:
    made = plain_study(per_task=3, unanswered_share=0.01)
    with served(tmp_path / "s", made, text_tasks(4)) as study:
        first, second = study.enter(), study.enter()
        assert len(first.slots()) == 4
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        assert len(second.slots()) == 4  # ends the first lease
        waiting = first.get("/api/tasks").json()["waiting"]
        assert waiting["others_begin"] and waiting["until"] > time.time()
        overdue = update(sittings).where(sittings.c.until > 0).values(until=time.time() - 1)
        study.studio.writer.submit(lambda c: c.execute(overdue)).result()
        assert len(first.slots()) == 4


def test_each_arm_has_its_own_limit(tmp_path: Path) -> None:
    made = plain_study(per_task=4, forms=["one-label", "top-two"], unanswered_share=0.5)
    with served(tmp_path / "s", made, text_tasks(4)) as study:  # 16 slots in each arm: two people of each can begin
        begun = [person for person in (study.enter() for _ in range(10)) if person.slots()]
        forms = sorted(person.entered["me"]["form"] for person in begun)
        assert forms == ["one-label", "one-label", "top-two", "top-two"]


def test_the_limit_holds_when_servers_begin_sittings_at_the_same_time(
    tmp_path: Path, postgres: str, at_once: Callable[..., list[Any]]
) -> None:
    database, made = fresh_database(postgres), plain_study(per_task=6, unanswered_share=0.5)
    with (
        served(tmp_path / "s", made, text_tasks(12), database=database) as one,
        served(tmp_path / "s", database=database) as two,
    ):
        people = [server.enter() for server in (one, two) for _ in range(12)]
        found = at_once([person.slots for person in people])
        assert sum(map(len, found)) == leased(one) == 36


def test_people_who_begin_at_two_servers_do_not_deadlock_with_those_who_go_on(tmp_path: Path, postgres: str) -> None:
    """One server leases tasks to people who have answered, then to a new one, while another begins at the other server."""
    database, made = fresh_database(postgres), plain_study(per_task=6, sittings=2, unanswered_share=0.5)
    with (
        served(tmp_path / "s", made, text_tasks(8), database=database) as one,
        served(tmp_path / "s", database=database) as two,
    ):
        proven, new, other = [one.enter(), one.enter()], one.enter(), two.enter()
        for person in proven:  # each answers half of the tasks, then leases the other half
            for slot in person.slots():
                person.answer(slot["slot"])
        failed: list[str] = []
        for server in (one, two):
            event.listen(server.studio.engine, "handle_error", lambda said: failed.append(str(said.original_exception)))
        queued, has_rows = threading.Event(), threading.Event()

        def let_the_other_server_take_the_lock(_: Any) -> None:
            has_rows.set()
            time.sleep(0.5)

        ask = [
            partial(get_or_lease_next_task_slots, study=made, worker=worker_id(who), max_slots=4)
            for who in (*proven, new)
        ]
        one.studio.writer.submit(lambda _: queued.wait(10))
        found = [one.studio.writer.submit(job) for job in (*ask[:2], let_the_other_server_take_the_lock, ask[2])]
        queued.set()  # the four are one transaction
        assert has_rows.wait(10)
        assert len(other.slots()) == 4
        assert [len(found[place].result(10).slots) for place in (0, 1, 3)] == [4, 4, 4]
        assert failed == [] and leased(one) == 16


def worker_id(who: Any) -> int:
    return int(who.entered["token"].split(".")[0], 16)


@pytest.fixture
def at_once() -> Callable[..., list[Any]]:
    """Return a function that runs calls in threads at the same time and returns their results."""
    from concurrent.futures import ThreadPoolExecutor

    def run(calls: list[Callable[[], Any]]) -> list[Any]:
        with ThreadPoolExecutor(len(calls)) as pool:
            return [one.result() for one in [pool.submit(call) for call in calls]]

    return run


# ---- the lease before the first answer


def ends_in(study: Served) -> list[float]:
    """Return in how many seconds each running lease ends, by worker."""
    rows = study.look(select(sittings.c.until).where(sittings.c.until > 0).order_by(sittings.c.id))
    return [row.until - time.time() for row in rows]


def test_the_first_lease_is_short_and_the_first_answer_makes_it_longer(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1), text_tasks(4)) as study:
        someone = study.enter()
        slot = someone.slots()[0]["slot"]
        assert 290 < ends_in(study)[0] <= 300
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=sittings.c.until - 100))).result()
        someone.slots()
        assert ends_in(study)[0] <= 200  # looking again is not working
        assert study.http.put("/api/draft", json={"slot": slot, "body": "{}"}, headers=someone.headers).json()["kept"]
        assert 290 < ends_in(study)[0] <= 300
        write = study.studio.writer.submit
        write(lambda c: c.execute(update(sittings).values(begun=sittings.c.begun - 13 * 60, until=time.time() + 60)))
        study.http.put("/api/draft", json={"slot": slot, "body": "{}"}, headers=someone.headers)
        assert 100 < ends_in(study)[0] <= 120  # a quarter of an hour after the beginning
        someone.answer(slot)
        assert 590 < ends_in(study)[0] <= 600
        write(lambda c: c.execute(update(sittings).values(until=sittings.c.until - 500))).result()
        someone.slots()
        assert ends_in(study)[0] <= 100  # after an answer either


def test_a_lease_that_is_over_is_taken_again_although_no_job_has_ended_it(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1), text_tasks(4)) as study:
        someone = study.enter()
        someone.answer(someone.slots()[0]["slot"])
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        assert len(someone.slots()) == 3 and 290 < ends_in(study)[0] <= 300


def test_drafts_alone_do_not_hold_tasks_for_long(tmp_path: Path) -> None:
    """A draft every four minutes held the tasks for an hour."""
    with served(tmp_path / "s", plain_study(per_task=1), text_tasks(4)) as study:
        visitor, worker = study.enter(), study.enter()
        draft = {"slot": visitor.slots()[0]["slot"], "body": "{}"}
        kept = []
        for _ in range(5):
            server_clock.let_pass(4 * 60)
            study.studio.writer.submit(end_some_overdue_leases_and_return_count).result()
            kept.append(study.http.put("/api/draft", json=draft, headers=visitor.headers).json()["kept"])
        assert kept == [True, True, True, False, False]
        assert len(worker.slots()) == 4


def test_the_first_lease_is_never_longer_than_the_others() -> None:
    study = plain_study(lease_minutes=2, first_answer_minutes=30)
    assert study.first_answer_seconds == study.longest_first_answer_seconds == study.lease_seconds == 120


def test_slots_of_a_visitor_go_to_others_and_the_late_answer_is_kept(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1), text_tasks(4)) as study:
        visitor, worker = study.enter(), study.enter()
        late = visitor.slots()
        assert worker.slots() == []
        study.studio.writer.submit(
            lambda c: c.execute(update(sittings).values(until=sittings.c.until - 301, begun=sittings.c.begun - 301))
        ).result()
        mine = worker.slots()
        assert len(mine) == 4
        for slot in mine[:3]:
            assert worker.answer(slot["slot"]).json()["extra"] is False
        assert visitor.answer(late[0]["slot"]).json()["extra"] is True  # kept as an extra: another person has the task
        assert len(study.look(select(answers.c.id))) == 4
        assert {row.given for row in study.look(select(tasks.c.given))} == {1}


def test_a_late_first_answer_counts_if_its_task_is_still_open(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=2), text_tasks(4)) as study:
        visitor, worker = study.enter(), study.enter()
        late = visitor.slots()
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        assert len(worker.slots()) == 4  # ends the lease
        assert visitor.answer(late[0]["slot"]).json()["extra"] is False
        assert len(visitor.slots()) == 3 and 290 < ends_in(study)[0] <= 300  # leased again, until the next answer


# ---- in a browser


def open_invitations(page: Any, live: Any) -> None:
    page.goto(live.setup)
    page.fill("#name", "ada")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".figures")
    page.click("nav a[data-key='invites']")
    page.wait_for_selector("main[data-shows='invites']")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_an_owner_admits_a_study_at_prolific_and_the_next_visitor_enters(
    tmp_path: Path, context: Any, size: tuple[int, int]
) -> None:
    with run(tmp_path / "s", studio_of(n=2, kind="text", platforms=["prolific", "mturk"])) as live:
        visitor, owner = context().new_page(), context(viewport={"width": size[0], "height": size[1]}).new_page()
        link = f"{live.base}/join?PROLIFIC_PID=p1&STUDY_ID=64f0aa&SESSION_ID=x1"
        visitor.goto(link)
        visitor.get_by_text("This study does not admit people from Prolific yet.").wait_for()
        open_invitations(owner, live)
        card = owner.get_by_role("region", name="Prolific", exact=True)
        card.get_by_text("Nobody from Prolific can enter yet.").wait_for()
        card.get_by_label("ID of a study at Prolific").fill("https://app.prolific.com/researcher/studies/64f0aa/setup")
        card.get_by_role("button", name="Admit").click()
        card.get_by_role("cell", name="64f0aa", exact=True).wait_for()
        assert owner.evaluate("document.documentElement.scrollWidth <= innerWidth")
        visitor.goto(link)
        visitor.wait_for_selector("main.task")
        card.get_by_role("button", name="Remove 64f0aa").click()
        card.get_by_text("Nobody from Prolific can enter yet.").wait_for()
        visitor.reload()
        visitor.wait_for_selector("main.task")  # who has entered may go on
        other = context().new_page()
        other.goto(link.replace("=p1", "=p2"))
        other.get_by_text("This study does not admit people from Prolific yet.").wait_for()


def test_visitors_read_why_they_are_refused(tmp_path: Path, context: Any) -> None:
    with run(tmp_path / "s", studio_of(n=2, kind="text")) as live:
        page = context().new_page()
        page.goto(f"{live.base}/join?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1")
        page.get_by_role("heading", name="This link does not open the study").wait_for()
        assert "This study is by invitation. Please use the link that you were sent." in page.inner_text("main")
        fields = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        page.goto(f"{live.base}/join?{fields}")
        page.get_by_text("The platform has not filled in this link.").wait_for()
        page.get_by_role("heading", name="This link does not open the study").wait_for()
        open_invitations(page, live)
        assert "This study is by invitation only." in page.inner_text("main")


def test_the_page_waits_while_others_begin_and_goes_on_after_their_first_answer(tmp_path: Path, context: Any) -> None:
    with run(tmp_path / "s", studio_of(n=2, per_task=2, kind="text", unanswered_share=0.5)) as live:
        first, second = context().new_page(), context().new_page()
        first.goto(live.join)
        shown(first)
        second.goto(live.join)
        second.get_by_text("You can start as soon as one of them has given an answer.").wait_for()
        answer(first, "1", "Enter")
        saved(first)
        second.get_by_role("button", name="Check now").click()
        shown(second)


def test_the_owner_of_an_older_study_sees_on_every_page_that_anyone_can_enter(tmp_path: Path, context: Any) -> None:
    older(tmp_path / "s", platforms=["prolific"])
    with run(tmp_path / "s", lambda _: None) as live:
        page = context().new_page()
        open_invitations(page, live)
        note = page.locator(".trouble")
        assert "Anyone can enter this study by a link of Prolific, with an invented ID too." in note.inner_text()
        assert "since" not in note.inner_text()
        page.get_by_label("ID of a study at Prolific").fill("64f0aa")
        page.get_by_role("button", name="Admit").click()
        page.get_by_role("cell", name="64f0aa", exact=True).wait_for()
        assert note.count() == 0
        page.click("nav a[data-key='audit']")
        page.get_by_text("admitted people of the Prolific study 64f0aa").wait_for()
