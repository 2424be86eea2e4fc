"""Several studies on one server: each has its own URL, data, sessions and limits."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text

from plurivox.core.errors import InputError
from plurivox.web.open_study import open_existing_study
from plurivox.web.server.multi_study import (
    database_url_by_study_folder,
    find_study_folders,
    settings_with_own_base_url_per_study,
)
from plurivox.web.server_settings import Settings
from plurivox.web.store.schema import answers, workers
from plurivox.web.study.backup import back_up_study_and_count_rows, restore_study_and_count_rows
from plurivox.web.study.create_study import make_study
from studies import LIMITS, PATIENCE, Served, fresh_database, plain_study, running_multi_study, text_tasks

NAMES = ("pets", "ships")


def made(folder: Path, name: str, database: str = "", **settings: Any) -> Settings:
    """Create a study of this name and return its settings."""
    about = Settings(folder=folder / name, database=database, **{"is_leader": False, **LIMITS, **settings})
    make_study(about, plain_study(name=name, title=f"About {name}", platforms=["prolific"]), text_tasks(6))
    return about


@contextmanager
def serve_studies(studies: list[Settings], base_url: str = "") -> Iterator[dict[str, Served]]:
    """Serve the studies; yield them by name, with the start page under the key ""."""
    with ExitStack() as stack:
        url, built = stack.enter_context(running_multi_study(studies, base_url))
        http = {
            name: stack.enter_context(httpx.Client(base_url=f"{url}/{name}", timeout=PATIENCE))
            for name in ("", *built.studies)
        }
        found = {name: Served(url, app.state.studio, http[name], app) for name, app in built.studies.items()}
        yield {"": Served(url, None, http[""], built.front), **found}  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    folder, url = tmp_path_factory.mktemp("studies"), ""
    if request.param == "postgresql":
        url = fresh_database(request.getfixturevalue("postgres"), empty=True)
    where = [f"{url}&schema={name}" if url else "" for name in NAMES]
    with serve_studies([made(folder, name, database) for name, database in zip(NAMES, where, strict=True)]) as served:
        yield served


def test_answers_of_one_study_stay_in_it(two: dict[str, Served]) -> None:
    pets, ships = two["pets"], two["ships"]
    before = len(ships.look(select(answers)))
    person = pets.enter()
    assert person.entered["personal_link"].startswith(f"{pets.url}/pets/join#link=")
    slot = person.slots()[0]["slot"]
    assert person.answer(slot).status_code == 200
    assert len(ships.look(select(answers))) == before and len(pets.look(select(workers))) >= 1
    link, invite = person.entered["personal_link"].split("=")[1], pets.invite()
    for path in ("/api/me", "/api/tasks", "/api/answers"):
        assert ships.http.get(path, headers=person.headers).status_code == 401
    assert ships.http.post("/api/answers", json={}, headers=person.headers).status_code in (401, 422)
    for way in ({"invite": invite}, {"link": link}):
        assert ships.http.post("/api/enter", json=way).status_code == 403


def test_an_owner_of_one_study_has_no_access_to_another(two: dict[str, Served]) -> None:
    pets, ships, front = two["pets"], two["ships"], two[""]
    pets.sign_in()
    (cookie,) = pets.http.cookies.jar
    assert (cookie.name, cookie.path) == ("plurivox_owner_pets", "/pets")
    assert pets.http.get("/api/owner/studies").json()[0]["title"] == "About pets"
    for name in ("plurivox_owner_pets", "plurivox_owner_ships", "plurivox_owner"):
        said = ships.http.get("/api/owner/progress", headers={"Cookie": f"{name}={cookie.value}"})
        assert said.status_code == 401
    made = pets.http.post("/api/owner/invites", json={"note": "", "uses": 3}, headers=pets.owner).json()
    assert made["address"].startswith(f"{front.url}/pets/join#invite=")
    assert pets.http.get("/api/owner/invites").json()["prolific"].startswith(f"{front.url}/pets/join?PROLIFIC_PID=")
    token = pets.http.get("/api/owner/session").json()["csrf"]
    writing = {"Origin": front.url, "X-Plurivox-Token": token}
    assert ships.http.post("/api/owner/state", json={"state": "closed"}, headers=writing).status_code == 401
    assert pets.http.post("/api/owner/logout", headers=pets.owner).status_code == 204
    assert not list(pets.http.cookies.jar)


def test_the_names_of_studies_are_not_revealed(two: dict[str, Served]) -> None:
    front = two[""].http
    for path in ("/owner", "/health", "/", "/nobody/owner", "/api/openapi.json", "/api/owner/studies", "/join"):
        said = front.get(path)
        assert not any(name in said.text + str(said.headers) for name in NAMES), path
    assert front.get("/health").json()["status"] == "ok"
    codes = [front.get(path).status_code for path in ("/owner", "/nobody/owner", "/join", "/petsx/owner")]
    assert codes == [200, 404, 404, 404]
    policy = front.get("/owner").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy


def test_pages_and_redirects_stay_under_their_address(two: dict[str, Served]) -> None:
    front, pets = two[""].http, two["pets"].http
    ways = {"/": "/owner", "/owner/": "/owner", "/pets": "/pets/owner", "/pets/": "/pets/owner"}
    ways |= {"/pets/owner/": "/pets/owner", "/pets/join/?PROLIFIC_PID=a%20b": "/pets/join?PROLIFIC_PID=a%20b"}
    assert {path: front.get(path).headers["location"] for path in ways} == ways
    for path in ("/join", "/owner", "/api"):
        said = pets.get(path)
        assert said.status_code == 200 and 'href="/' not in said.text and 'src="/' not in said.text
    assert 'data-studies="../owner"' in pets.get("/owner").text
    assert pets.get("/static/work.js").status_code == 200 and front.get("/static/studies.js").status_code == 200
    described = pets.get("/api/openapi.json").json()
    assert described["servers"] == [{"url": "/pets"}] and "/api/answers" in described["paths"]


def test_limits_of_one_study_do_not_affect_another(tmp_path: Path, still: None) -> None:
    with serve_studies([made(tmp_path, name, enters_per_minute=2) for name in NAMES]) as two:
        codes = {
            name: [two[name].http.post("/api/enter", json={"invite": two[name].invite()}).status_code for _ in range(3)]
            for name in NAMES
        }
    assert codes == {name: [200, 200, 429] for name in NAMES}


def test_studies_are_found_one_by_one_or_in_a_folder(tmp_path: Path) -> None:
    pets, ships = made(tmp_path, "pets"), made(tmp_path, "ships")
    (tmp_path / "notes").mkdir()
    assert (
        find_study_folders([tmp_path]) == find_study_folders([pets.folder, ships.folder]) == [pets.folder, ships.folder]
    )
    assert find_study_folders([pets.folder]) == [pets.folder] and find_study_folders([tmp_path / "notes"]) == [
        tmp_path / "notes"
    ]
    urls = [one.base_url for one in settings_with_own_base_url_per_study([pets, ships], "https://lab.example/all")]
    assert urls == ["https://lab.example/all/pets", "https://lab.example/all/ships"]


def test_studies_with_the_same_name_or_secret_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    pets, other = made(tmp_path, "pets"), made(tmp_path / "b", "pets")
    with pytest.raises(InputError, match=r"have the same name, https://x/pets; change `name` in .*b/pets"):
        settings_with_own_base_url_per_study([pets, other], "https://x")
    with pytest.raises(InputError, match="/owner is reserved"):
        settings_with_own_base_url_per_study([made(tmp_path, "owner"), pets], "https://x")
    with pytest.raises(InputError, match="/pets is reserved"):
        settings_with_own_base_url_per_study([pets], "https://x/pets")
    back_up_study_and_count_rows(pets, tmp_path / "copy")
    copied = (tmp_path / "copy" / "study.toml").read_text().replace('"pets"', '"cats"')
    (tmp_path / "copy" / "study.toml").write_text(copied)
    with pytest.raises(InputError, match="one is a copy of the other"):
        settings_with_own_base_url_per_study([pets, Settings(folder=tmp_path / "copy")], "https://x")


def test_every_study_has_its_own_schema_or_database(tmp_path: Path) -> None:
    folders = [made(tmp_path, name).folder for name in NAMES]
    found = database_url_by_study_folder(["postgresql://h/all?sslmode=require", "ships=postgresql://h/own"], folders)
    assert list(found.values()) == ["postgresql://h/all?sslmode=require&schema=pets", "postgresql://h/own"]
    assert (
        list(database_url_by_study_folder([], folders, "postgresql://h/all").values())[1]
        == "postgresql://h/all?schema=ships"
    )
    assert list(database_url_by_study_folder([], folders).values()) == ["", ""]
    with pytest.raises(InputError, match="--database names 'dogs', but the studies are 'pets', 'ships'"):
        database_url_by_study_folder(["dogs=postgresql://h/x"], folders)


def test_schemas_separate_studies_and_the_default_schema_stays_empty(tmp_path: Path, postgres: str) -> None:
    database = fresh_database(postgres, empty=True)
    alone, pets = made(tmp_path, "alone", database), made(tmp_path, "Pets.x-1", f"{database}&schema=Pets.x-1")
    with pytest.raises(InputError, match=r"already contains a study; .*schema=more"):
        made(tmp_path, "more", database)
    with pytest.raises(InputError, match="no tables in its schema 'nowhere'"):
        open_existing_study(alone.model_copy(update={"database": f"{database}&schema=nowhere"}))
    with pytest.raises(InputError, match="schema=a b is not a valid name"):
        open_existing_study(alone.model_copy(update={"database": f"{database}&schema=a b"}))
    studio = open_existing_study(pets)
    try:
        told = "SELECT table_schema, count(*) FROM information_schema.tables WHERE table_name = 'answers' GROUP BY 1"
        assert dict(studio.read_sync(lambda c: list(c.execute(text(told))))) == {"public": 1, "Pets.x-1": 1}
        assert studio.read_sync(lambda c: c.execute(text("SHOW search_path")).scalar()) == '"Pets.x-1"'
    finally:
        studio.close()
    back_up_study_and_count_rows(pets, tmp_path / "copy")
    back = Settings(folder=tmp_path / "back", database=f"{database}&schema=back")
    assert restore_study_and_count_rows(tmp_path / "copy", back)["tasks"] == 6
