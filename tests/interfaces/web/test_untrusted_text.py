"""Untrusted text is shown as text on every page; other input is rejected."""

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from interfaces.web.live_server import Running, run
from interfaces.web.page_actions import answer, shown
from interfaces.web.test_owner_pages import PAGES, go, sign_in
from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.report.study_progress import study_progress
from plurivox.web.store.schema import tasks
from plurivox.web.study.config import Study, parse_study
from plurivox.web.study.create_study import insert_tasks_and_batches, make_study
from plurivox.web.study.read_task_and_answer_files import read_tasks
from plurivox.web.study.study_database import open_database
from studies import fresh_database, plain_study

HOSTILE = [
    "<script>window.hit=1</script>",
    '"><img src=x onerror=window.hit=1>',
    "javascript:window.hit=1//",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "\u202egnip\u202c \u2066x\u2069",
    "=HYPERLINK(1)",
    "</title></style></textarea><svg onload=window.hit=1>",
    "'; DROP TABLE answers; -- \\ %00 \ufeff",
]
ALL = "\n\n".join(HOSTILE)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    quiz = [{"question": ALL, "choices": [HOSTILE[0], HOSTILE[1]], "right": 1, "why": HOSTILE[0]}]
    texts = {"consent": ALL, "instructions": ALL, "debrief": ALL, "closed": ALL}
    completion = {"code": HOSTILE[1]}
    study = Study.model_validate(
        {
            "name": "hostile",
            "title": HOSTILE[0],
            "labels": HOSTILE,
            "quiz": quiz,
            "texts": texts,
            "completion": completion,
        }
        | {"per_task": 5, "batch": 3, "practice": 0, "phrase": {"top": HOSTILE[1]}}
    )
    new = [
        NewTask(HOSTILE[0], text=ALL),
        NewTask(HOSTILE[1], text=ALL, text2=HOSTILE[0], stratum=HOSTILE[1]),
        NewTask("../../../" + HOSTILE[5], text="long " * 20_000),
    ]
    folder = tmp_path_factory.mktemp("hostile") / "s"
    with run(folder, lambda settings: make_study(settings, study, new), is_leader=True) as running:
        yield running


def unharmed(page: Any) -> str:
    """Assert that no injected markup took effect; return the text of the page."""
    assert page.evaluate("window.hit === undefined && !document.querySelector('img[src=x], main script, #app script')")
    said = page.inner_text("body")
    assert not any(word in said for word in ("49 49", "[object Object]", "undefined", "&lt;"))
    return said


def take_part(page: Any, live: Running) -> None:
    """Take part as a worker (consent, quiz, three answers, comment) in a study full of hostile text."""
    before = live.studio.read_sync(study_progress).answers
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(live.join)
    for heading in ("Before you begin", "How it works", "A short check"):
        page.wait_for_selector(f"text={heading}")
        assert HOSTILE[0] in unharmed(page) and HOSTILE[0] in page.title()
        if heading == "Before you begin":
            page.check("input[type=checkbox]")
        if heading == "A short check":
            page.check("input[type=radio] >> nth=0")
            page.click("button.main")
            page.wait_for_selector("text=Not quite.")  # the explanation of the wrong answer is hostile text too
            unharmed(page)
            page.check("input[type=radio] >> nth=1")
        page.click("button.main")
    for _ in range(3):
        shown(page)
        said = unharmed(page)
        assert all(label.split()[0] in said for label in HOSTILE[:4])
        answer(page, "1", "2", "7", "0", "Enter")
    page.wait_for_selector("textarea")
    page.fill("textarea", ALL)
    unharmed(page)
    page.click("button.main")
    page.wait_for_selector(f"text={HOSTILE[1]}")
    unharmed(page)
    assert page.url.startswith(live.base)
    assert live.studio.read_sync(study_progress).answers == before + 3


def test_worker_pages_show_hostile_text_as_text(live: Running, context: Any) -> None:
    take_part(context().new_page(), live)


def test_the_preview_shows_hostile_text_as_text(live: Running, context: Any) -> None:
    page = context().new_page()
    sign_in(page, live)
    page.goto(f"{live.base}/owner-preview")
    page.wait_for_selector(".previewbar")
    for stage in ("consent", "instructions", "quiz", "tasks", "debrief", "done"):
        page.click(f".previewbar [data-stage={stage}]")
        if stage == "tasks":
            answer(page, "1", "2", "7", "0", "Enter")
            shown(page)
        unharmed(page)
    page.wait_for_selector(".answers td")
    assert HOSTILE[1] in unharmed(page)


@pytest.mark.slow
def test_owner_pages_show_hostile_text_as_text(live: Running, context: Any) -> None:
    if not live.studio.read_sync(study_progress).answers:  # soft labels are shown only if there are answers
        take_part(context().new_page(), live)
    one = context(accept_downloads=True)
    page = one.new_page()
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    sign_in(page, live)
    made = page.evaluate(
        """async (note) => { const { csrf } = await (await fetch("/api/owner/session")).json();
        const headers = { "Content-Type": "application/json", "X-Plurivox-Token": csrf };
        return (await fetch("/api/owner/invites", { method: "POST", headers, body: JSON.stringify({ note }) })).status; }""",
        HOSTILE[0] + HOSTILE[1],
    )
    assert made == 200
    page.wait_for_selector("text=Soft labels of")
    for name in PAGES:
        go(page, name)
        unharmed(page)
    go(page, "invites")
    assert HOSTILE[0] in unharmed(page)
    go(page, "tasks")
    assert HOSTILE[0] in unharmed(page)
    for place in range(3):
        go(page, "tasks")
        page.click(f"main table a >> nth={place}")
        page.wait_for_selector(".plot .people", state="attached")
        unharmed(page)
    for odd in (*HOSTILE, "tasks/" + HOSTILE[0], "tasks?order=" + HOSTILE[0], "__proto__", "constructor"):
        page.goto(f"{live.base}/owner#/{odd}")
        page.wait_for_selector("main[data-shows]")
        unharmed(page)
    for address in ("/join#invite=", "/join#link=", "/join?PROLIFIC_PID=", "/api#", "/owner?x="):
        page.goto(live.base + address + HOSTILE[0])
        page.wait_for_selector("h1, h2, main")
        unharmed(page)
    _read_export(one.request.get(f"{live.base}/api/owner/export?form=csv"))


def _read_export(said: Any) -> None:
    assert said.headers["content-disposition"] == 'attachment; filename="hostile.zip"'
    with zipfile.ZipFile(io.BytesIO(said.body())) as files:
        assert all(name.startswith("hostile/") and ".." not in name for name in files.namelist())
        tables = {name: files.read(name).decode() for name in files.namelist() if name.endswith(".csv")}
    assert len(tables) >= 4
    csv.field_size_limit(10_000_000)
    for name, text in tables.items():
        rows = list(csv.reader(io.StringIO(text)))
        assert all(len(row) == len(rows[0]) for row in rows), name
        risky = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert set(risky) <= {"-1"}, name  # the number that means "not a repeat"
    assert any(HOSTILE[0] in text for text in tables.values())


def test_invalid_text_is_rejected(tmp_path: Path, live: Running) -> None:
    base = live.studio.study.model_dump()
    for field, value in {
        "labels": ["cat", "a\x00b"],
        "title": "a\x00b",
        "texts": {"consent": "\x00"},
        "completion": {"redirect": "javascript:alert(1)"},
        "frame_ancestors": ["https://a.test 'unsafe-inline'"],
        "name": "a\r\nSet-Cookie: x",
    }.items():
        with pytest.raises(InputError, match=field):
            parse_study({**base, field: value})
    (tmp_path / "big.txt").write_text("x" * 1_000_000)
    with pytest.raises(InputError, match="longer than 100,000"):
        list(read_tasks(tmp_path / "big.txt", live.studio.study))


def test_no_page_runs_foreign_scripts(live: Running, browser: Any) -> None:
    """The Content Security Policy blocks injected scripts, frames and requests, and reports them."""
    one = browser.new_context()
    for address in ("/owner", "/api", "/join"):
        page = one.new_page()
        page.goto(live.base + address)
        page.wait_for_selector("h1, h2, main")
        tried = page.evaluate(
            """async () => { const seen = []; addEventListener("securitypolicyviolation", (event) => {
              event.stopImmediatePropagation(); seen.push(event.effectiveDirective); }, true);
            try { document.body.innerHTML = "<img src=x onerror='window.hit=1'>"; } catch { seen.push("innerHTML refused"); }
            const script = document.createElement("script");
            try { script.textContent = "window.hit = 1"; document.body.append(script); } catch { seen.push("script refused"); }
            try { setTimeout("window.hit = 1", 0); } catch { seen.push("string refused"); }
            const frame = document.createElement("iframe"); frame.src = "https://evil.test"; document.body.append(frame);
            await fetch("https://evil.test").catch(() => seen.push("fetch refused"));
            for (let n = 0; n < 2400 && !seen.includes("frame-src"); n++) await new Promise((go) => setTimeout(go, 50));
            return seen; }"""
        )
        assert page.evaluate("window.hit") is None
        assert {"innerHTML refused", "script refused", "fetch refused", "frame-src"} <= set(tried), tried
        page.close()
    one.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_task_texts_with_copy_syntax_are_stored_unchanged(tmp_path: Path, kind: str, postgres: str) -> None:
    words = [
        "\\N",
        "\\.",
        "a\tb",
        "a\\tb",
        "a\r\nb\n",
        "\\",
        "\\x00",
        "'; DROP TABLE tasks; --",
        "",
        "\U0001f40d" * 9,
        "x" * 100_000,
    ]
    new = [
        NewTask(f"{i} \\N {word[:9]!r}", text=word, text2=word[::-1], stratum=word[:99]) for i, word in enumerate(words)
    ]
    settings = Settings(folder=tmp_path / "s", database=fresh_database(postgres) if kind == "postgresql" else "")
    assert make_study(settings, plain_study(), new) == len(words)
    engine = open_database(settings)
    with engine.connect() as connection:
        rows = connection.execute(select(tasks.c.name, tasks.c.text, tasks.c.text2, tasks.c.stratum)).all()
    assert sorted(map(tuple, rows)) == sorted((one.name, one.text, one.text2, one.stratum) for one in new)
    if kind == "postgresql":
        with pytest.raises(InputError, match="could not be written, no task was added"):
            insert_tasks_and_batches(
                settings, plain_study(), [NewTask("fine", text="fine"), NewTask("t", text="a\x00b")]
            )
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(tasks)).scalar_one() == len(words)
    engine.dispose()
