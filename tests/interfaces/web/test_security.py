"""Authorisation, signed links, paths, media types, hashing and security headers."""

import logging
import stat
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from plurivox.core.errors import InputError
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.schema import answers, meta_data, raw_ids, workers
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from plurivox.web.study.read_task_and_answer_files import read_tasks
from plurivox.web.study.secret_key import StudySecret
from studies import PATIENCE, admitting, plain_study, served, text_tasks

SCRIPT = "<script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
PROLIFIC = {"pid": "5f00aaOfSomebody", "study": "st1", "session": "se1"}


def png(size: tuple[int, int] = (8, 8)) -> bytes:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, "PNG")
    return out.getvalue()


def test_scripts_in_texts_labels_and_errors_stay_text_under_a_strict_policy(tmp_path: Path) -> None:
    new = [NewTask(SCRIPT, text=SCRIPT, text2='"><img src=x onerror=alert(1)>')]
    with served(tmp_path / "s", plain_study(labels=[SCRIPT, "cat"]), new) as study:
        person = study.enter()
        given = person.get("/api/tasks")
        assert (
            given.headers["content-type"] == "application/json" and given.json()["slots"][0]["task"]["text"] == SCRIPT
        )
        refused = person.answer(given.json()["slots"][0]["slot"], "<img src=x onerror=alert(2)>")
        assert refused.status_code == 422 and refused.headers["content-type"] == "application/json"
        for said in (given, refused, study.http.get(f"/{SCRIPT}"), study.http.get("/health")):
            policy = said.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe-inline" not in policy and "unsafe-eval" not in policy
            assert said.headers["x-content-type-options"] == "nosniff"
            assert said.headers["referrer-policy"] == "no-referrer"
            assert said.headers["x-frame-options"] == "DENY" and "frame-ancestors 'none'" in policy


def test_media_types_are_detected_from_bytes_and_never_svg_or_html(tmp_path: Path) -> None:
    small, large = (
        validate_image_and_make_displayed_version(png(), "x.svg", 160),
        validate_image_and_make_displayed_version(png((200, 100)), "x.html", 160),
    )
    assert (small.type, small.shown_type, small.width) == ("image/png", "image/png", 160)
    assert large.shown is None and (large.width, large.height) == (200, 100)
    for bad in (SVG, b"<html>", b"", b"\x89PNG\r\n\x1a\n" + b"0" * 50, png()[:40], b"GIF89a<script>"):
        with pytest.raises(InputError, match=r"x.png is not a supported image"):
            validate_image_and_make_displayed_version(bad, "x.png", 160)
    with served(tmp_path / "s", plain_study(), [NewTask("a", medium=small)]) as study:
        address = study.enter().slots()[0]["task"]["media"]
        said = study.http.get(address)
        assert said.headers["content-type"] == "image/png" and said.content == small.shown
        assert said.headers["x-content-type-options"] == "nosniff" and "immutable" in said.headers["cache-control"]


def test_no_path_leads_outside_the_study_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    home = tmp_path / "items"
    home.mkdir()
    (home / "link.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "items2").mkdir()
    (tmp_path / "items2" / "x.png").write_bytes(png())
    for name in (
        "../secret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "../items2/x.png",
        "http://127.0.0.1/x.png",
    ):
        (home / "items.csv").write_text(f"task,file\na,{name}\n")
        with pytest.raises(InputError, match="is not a file in"):
            list(read_tasks(home, plain_study()))
    with served(tmp_path / "s") as study:
        for path in ("..%2f..%2fsecret.key", "../secret.key", "%2e%2e/secret.key", "0", "f" * 16, "a" * 70, "'--"):
            assert study.http.get(f"/media/{path}").status_code in (404, 422)


def test_the_server_fetches_no_address_and_no_route_takes_one(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        described = study.http.get("/api/openapi.json").text.lower()
        assert '"format":"uri"' not in described and '"url"' not in described
        for way in ({"link": "http://127.0.0.1/x"}, {"invite": "https://127.0.0.1/"}):
            assert study.http.post("/api/enter", json=way).status_code == 422


def test_a_worker_cannot_read_or_write_answers_of_another(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        ann, bob = study.enter(), study.enter()
        slot = ann.slots()[0]["slot"]
        ann.answer(slot, key="anns")
        assert bob.answer(slot).status_code == 404
        assert bob.answer(bob.slots()[0]["slot"], replaces="anns").status_code == 404
        assert bob.get("/api/answers").json() == {"answers": []}
        for path in ("/api/me", "/api/tasks", "/api/answers"):
            assert study.http.get(path).status_code == 401
        token, link = ann.entered["token"], ann.entered["personal_link"].split("link=")[1]
        forged = token[:-1] + chr(ord(token[-1]) ^ 1)  # change the last character
        for token in ("x", "a.b", forged, link):
            assert study.http.get("/api/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401
        for path in ("progress", "tasks", "workers", "export", "audit", "invites", "session"):
            assert study.http.get(f"/api/owner/{path}", headers=ann.headers).status_code == 401


def test_the_study_secret_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    keys = StudySecret.read_or_create_secret(one)
    assert stat.S_IMODE((one / "secret.key").stat().st_mode) == 0o600
    assert (
        StudySecret.read_or_create_secret(one).sign("a", "x")
        == keys.sign("a", "x")
        != StudySecret.read_or_create_secret(other).sign("a", "x")
    )
    assert keys.verify("a", keys.sign("a", "x")) == "x" and keys.verify("b", keys.sign("a", "x")) is None
    (one / "secret.key").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        StudySecret.read_or_create_secret(one)


def test_entering_needs_a_signed_invite_with_uses_left(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        invite = study.invite(uses=2)
        assert [study.http.post("/api/enter", json={"invite": invite}).status_code for _ in range(3)] == [200, 200, 403]
        for bad in ("1", invite[:-1] + ("A" if invite[-1] != "A" else "B"), "x." + invite.split(".")[1]):
            assert study.http.post("/api/enter", json={"invite": bad}).status_code == 403
        for body in ({}, {"invite": invite, "link": "x"}, {"debug": True}, {"admin": 1, "invite": invite}):
            assert study.http.post("/api/enter", json=body).status_code == 422
        assert (
            study.http.post(
                "/api/owner/setup", json={"token": "x", "name": "me", "password": "long enough 1"}
            ).status_code
            == 403
        )


def test_a_platform_id_belongs_to_the_first_worker_who_used_it(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("st1"))) as study:
        person = study.enter(platform=PROLIFIC)
        again = study.http.post("/api/enter", json={"platform": PROLIFIC})
        assert again.status_code == 409 and again.json()["error"] == "begun-elsewhere"
        thief = study.http.post("/api/enter", json={"platform": PROLIFIC | {"session": "se2"}})
        assert thief.status_code == 409
        same = study.http.post("/api/enter", json={"platform": PROLIFIC}, headers=person.headers)
        assert same.status_code == 200 and same.json()["me"]["worker"] == person.entered["me"]["worker"]
        other = study.enter(platform=PROLIFIC | {"pid": "other"})
        assert study.http.post("/api/enter", json={"platform": PROLIFIC}, headers=other.headers).status_code == 409
        link = person.entered["personal_link"].split("#link=")[1]
        phone = study.enter(link=link)
        assert phone.entered["me"]["worker"] == person.entered["me"]["worker"]
        assert phone.slots() == person.slots()


def test_entering_again_with_the_same_key_after_a_lost_response(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("st1"))) as study:
        invite, key = study.invite(uses=1), "k" * 20
        for way in ({"invite": invite}, {"platform": PROLIFIC}):
            people = [study.enter(**way, key=key).entered["me"]["worker"] for _ in range(2)]
            assert people[0] == people[1]
            assert study.http.post("/api/enter", json={**way, "key": "x" * 20}).status_code in (403, 409)
        assert study.http.post("/api/enter", json={"invite": study.invite(), "key": "short"}).status_code == 422
        assert len(study.look(select(workers))) == 2


def test_platform_ids_are_only_in_the_table_raw_ids(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served(tmp_path / "s", plain_study(**admitting("st1"))) as study:
        person = study.enter(platform=PROLIFIC)
        person.answer(person.slots()[0]["slot"])
        study.http.get("/join", params={"PROLIFIC_PID": PROLIFIC["pid"]})
        assert [row.raw for row in study.look(select(raw_ids))] == [PROLIFIC["pid"]]
        for table in meta_data.sorted_tables:
            if table is not raw_ids:
                assert PROLIFIC["pid"] not in repr(study.look(select(table))), table
        name = study.look(select(workers.c.pseudonym))[0][0]
        assert name == person.entered["me"]["worker"] and PROLIFIC["pid"] not in name
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not any(PROLIFIC["pid"] in text or person.entered["token"] in text for text in ours)


def test_workers_get_no_cookie_and_only_platforms_may_embed_pages(tmp_path: Path) -> None:
    made = plain_study(frame_ancestors=["https://app.prolific.com"])
    with served(tmp_path / "s", made) as study:
        said = study.http.post("/api/enter", json={"invite": study.invite()})
        assert "set-cookie" not in said.headers
        assert "frame-ancestors https://app.prolific.com" in said.headers["content-security-policy"]
        assert "x-frame-options" not in said.headers
        owners = study.http.get("/api/owner/session")
        assert "frame-ancestors 'none'" in owners.headers["content-security-policy"]
        assert (
            "access-control-allow-origin"
            not in study.http.get("/health", headers={"Origin": "https://evil.test"}).headers
        )


def test_owner_writes_need_the_studio_origin_and_the_csrf_token(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        assert study.http.get("/api/owner/session").json()["name"] == "olga"
        cookie = study.http.cookies.jar
        flags = next(iter(cookie))
        assert flags.has_nonstandard_attr("HttpOnly") and flags.get_nonstandard_attr("SameSite") == "strict"
        body, token = {"state": "closed"}, study.owner["X-Plurivox-Token"]
        for headers in (
            {}, {"Origin": study.url}, {"X-Plurivox-Token": token}, {"Origin": study.url, "X-Plurivox-Token": token[:-1]},
            {"Origin": "https://evil.test", "X-Plurivox-Token": token}, {"Origin": "null", "X-Plurivox-Token": token},
            {"Origin": study.url + ".evil.test", "X-Plurivox-Token": token},
        ):  # fmt: skip
            assert study.http.post("/api/owner/state", json=body, headers=headers).status_code == 403, headers
        assert study.http.get("/api/owner/progress").json()["state"] == "open"
        assert study.http.post("/api/owner/state", json=body, headers=study.owner).json()["state"] == "closed"
        assert study.http.post("/api/owner/logout", headers=study.owner).status_code == 204
        assert study.http.get("/api/owner/progress").status_code == 401


def test_the_setup_token_works_once_and_passwords_are_hashed(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        stored = study.look(select(meta_data.tables["owners"].c.password))[0][0]
        assert stored.startswith("$argon2id$")
        fresh = httpx.Client(base_url=study.url, headers={"Origin": study.url}, timeout=PATIENCE)
        body = {"name": "olga", "password": "wrong wrong wrong"}
        assert [fresh.post("/api/owner/login", json=body | {"name": name}).status_code for name in ("olga", "x")] == [
            401,
            401,
        ]
        assert fresh.post("/api/owner/login", json=body | {"password": "correct horse"}).status_code == 200
        assert fresh.post("/api/owner/setup", json={"token": "x" * 32, **body}).status_code == 403
        fresh.close()


def test_an_answer_is_only_acknowledged_once_it_is_on_disk(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        import sqlite3

        person.answer(slot, key="kept")
        with sqlite3.connect(tmp_path / "s" / "study.db") as other:  # visible to another connection, so it is committed
            assert other.execute("SELECT key FROM answers").fetchall() == [("kept",)]
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.close()
        connection = study.studio.engine.raw_connection()
        # 2 is FULL: every commit is synced to disk
        assert connection.cursor().execute("PRAGMA synchronous").fetchone() == (2,)
        connection.close()
        assert len(study.look(select(answers))) == 1


def test_tasks_are_shown_without_their_names(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        assert "t000" not in study.enter().get("/api/tasks?n=10").text
