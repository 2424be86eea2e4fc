"""Every response to generated requests is one that the OpenAPI description declares."""

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
from hypothesis import HealthCheck, given, settings

from studies import PATIENCE, Served, fresh_database, plain_study, served, text_tasks

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is missing; run: pip install schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi import checks  # noqa: E402

CHECKS = (
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)
EXAMPLES = int(os.environ.get("PLURIVOX_EXAMPLES", "20"))  # generated requests per route and kind of client


def few(n: int) -> Any:
    return settings(
        max_examples=n, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
    )


def _only(send: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a function with the single argument `case`, which hypothesis needs."""

    def test(case: Any) -> None:
        send(case)

    return test


def _without_tuples(schema: Any) -> Any:
    """Replace tuples by lists in the OpenAPI schema, because schemathesis 4.32 cannot validate tuples."""
    if isinstance(schema, list):
        return [_without_tuples(one) for one in schema]
    if isinstance(schema, dict):
        return {name: _without_tuples(one) for name, one in schema.items() if name != "prefixItems"}
    return schema


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def study(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Any:
    database = "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    folder = tmp_path_factory.mktemp("openapi") / "s"
    with served(folder, plain_study(per_task=500), text_tasks(6), database=database) as one:
        one.sign_in()
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("who", ["owner", "worker"])
def test_every_response_is_declared_in_openapi(study: Served, who: str) -> None:
    schema = schemathesis.openapi.from_dict(_without_tuples(study.http.get("/api/openapi.json").json()))
    schema.config.base_url = study.url
    # generated owner requests may have closed the study
    study.http.post("/api/owner/state", json={"state": "open"}, headers=study.owner)
    person = study.enter()
    slot = person.slots()[0]["slot"]
    headers = study.owner if who == "owner" else person.headers
    cookies = dict(study.http.cookies) if who == "owner" else {}
    seen: Counter[int] = Counter()
    with requests.Session() as session:

        def send(case: Any) -> None:
            if isinstance(case.body, dict) and "slot" in case.body:
                case.body["slot"] = slot  # a valid slot, so that later checks are reached
            said = case.call(headers=headers, cookies=cookies, session=session, timeout=PATIENCE)
            case.validate_response(said, checks=CHECKS)
            seen[said.status_code] += 1

        for operation in schema.get_all_operations():
            path, ours = operation.ok().path, operation.ok().path.startswith("/api/owner") == (who == "owner")
            if path != "/api/owner/logout":  # it would end the session of later requests
                few(EXAMPLES if ours and not study.studio.settings.database else 3)(
                    given(operation.ok().as_strategy())(_only(send))
                )()
    assert seen[200] > 9 and sum(seen[code] for code in (401, 403, 404, 409, 422)) > 20 and seen[500] == 0, seen


def test_only_public_routes_respond_without_authentication(study: Served) -> None:
    for path, ways in study.http.get("/api/openapi.json").json()["paths"].items():
        for way in ways:
            said = httpx.request(way, study.url + path.replace("{", "").replace("}", ""), json={}, timeout=PATIENCE)
            assert said.status_code in {"/health": (200,), "/media/{media}": (404,)}.get(path, (401, 403, 422)), path


def test_every_api_route_declares_its_errors(study: Served) -> None:
    paths = study.http.get("/api/openapi.json").json()["paths"]
    assert len(paths) > 20
    for path, ways in paths.items():
        for way, about in ways.items():
            assert about["summary"] and (path == "/health" or "422" in about["responses"]), (path, way)


def test_a_name_with_a_null_character_is_a_client_error(study: Served) -> None:
    said = study.http.post("/api/owner/login", json={"name": "a\x00b", "password": "x"}, headers={"Origin": study.url})
    assert said.status_code == 422 and said.json()["retry"] is False
