"""The API as it describes itself: whatever is sent, the server has an answer, and it is one that it has announced."""

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

from web.studios import Served, plain_study, served, text_tasks

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is missing; run: pip install schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402

FEW = settings(
    max_examples=int(os.environ.get("PLURIVOX_EXAMPLES", "3")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


def _only(send: Callable[[Any], None]) -> Callable[[Any], None]:
    """A function of one argument, as hypothesis wants it."""

    def test(case: Any) -> None:
        send(case)

    return test


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("openapi") / "s"
    with served(folder, plain_study(per_task=500), text_tasks(6)) as one:
        one.sign_in()
        yield one


def test_nothing_that_fits_the_description_is_a_server_error(study: Served) -> None:
    schema = schemathesis.openapi.from_dict(study.http.get("/api/openapi.json").json())
    schema.config.base_url = study.url
    person = study.enter()
    slot = person.slots()[0]["slot"]
    seen: Counter[int] = Counter()

    def send(case: Any, headers: dict[str, str]) -> None:
        if isinstance(case.body, dict) and "slot" in case.body:
            case.body["slot"] = slot  # so that more than the first check is reached
        said = case.call(headers=headers, cookies=dict(study.http.cookies) if headers else {})
        case.validate_response(said, checks=(not_a_server_error,))
        seen[said.status_code] += 1

    ours = {**person.headers, **study.owner}
    for operation in schema.get_all_operations():
        if operation.ok().path == "/api/owner/logout":  # nothing would be tried after it
            continue
        FEW(given(operation.ok().as_strategy())(_only(partial(send, headers=ours))))()
    assert seen[200] > 10 and sum(seen[code] for code in (400, 404, 409, 422)) > 3 and seen[500] == 0


def test_nothing_but_the_open_doors_answers_a_stranger(study: Served) -> None:
    for path, ways in study.http.get("/api/openapi.json").json()["paths"].items():
        for way in ways:
            said = httpx.request(way, study.url + path.replace("{", "").replace("}", ""), json={})
            assert said.status_code in {"/health": (200,), "/media/{media}": (404,)}.get(path, (401, 403, 422)), path


def test_every_route_but_the_pages_is_described_with_its_faults(study: Served) -> None:
    paths = study.http.get("/api/openapi.json").json()["paths"]
    assert len(paths) > 20
    for path, ways in paths.items():
        for way, about in ways.items():
            assert about["summary"] and (path == "/health" or "422" in about["responses"]), (path, way)
