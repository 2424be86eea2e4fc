"""kill -9 under load: every acknowledged answer is stored once, and no slot is lost."""

from pathlib import Path

import pytest

from interfaces.web.server_kills import Load, check, studied
from interfaces.web.soak import soak
from plurivox.web.server_settings import Settings
from plurivox.web.study.study_database import open_database
from studies import fresh_database, plain_study


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_no_acknowledged_answer_is_lost_when_the_server_is_killed(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    told = soak(kind, database, tmp_path / "s", n_workers=6, n_kills=3)
    assert told.startswith(f"| {kind} | 6 | 3 | 162 | 0 | 0 | 0 |")


@pytest.mark.slow
def test_two_servers_hand_out_no_slot_twice(tmp_path: Path, postgres: str) -> None:
    database = fresh_database(postgres)
    with studied(tmp_path / "s", plain_study(per_task=2, batch=5), 40, database, 2) as (servers, invite):
        for place in (0, 1):
            servers.start(place)
        load = Load([f"http://127.0.0.1:{port}" for port in servers.ports], invite, 16)
        acknowledged = load.finish()
        assert len(acknowledged) == 80
        check(open_database(Settings(folder=tmp_path / "s", database=database)), acknowledged, 16)
