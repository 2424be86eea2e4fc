"""A study of version 0.1.0, which had one soft label per task, gets soft labels for truth and for people."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import plurivox as pv
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.open_study import Studio
from plurivox.web.server_settings import Settings
from plurivox.web.study.export import export_study

OLD_STUDY = Path(__file__).parents[2] / "fixtures" / "0.1.0" / "studies" / "today"


@pytest.mark.parametrize(
    ("aggregator", "quantity"), [("vote-shares", ""), ("dawid-skene", "truth"), ("vote-shares", "people")]
)
def test_an_older_study_gets_both_soft_labels(tmp_path: Path, aggregator: str, quantity: str) -> None:
    """By the defaults, but for what its aggregator estimates; its last labels are not exported as those of people if they
    are not."""
    folder = shutil.copytree(OLD_STUDY, tmp_path / "study")
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    named = f'aggregator = "{aggregator if quantity else ""}"'
    (folder / "study.toml").write_text(toml.replace('aggregator = ""', named), encoding="utf-8")
    with closing(sqlite3.connect(folder / "study.db")) as connection, connection:
        by = '"by": "vote-shares"', f'"by": "{aggregator}"'
        assert connection.execute("UPDATE snapshots SET body = replace(body, ?, ?)", by).rowcount == 1
    (folder / "secret.key").chmod(0o600)  # git does not store this mode
    out = tmp_path / "out"

    def exported(live: Studio) -> list[str]:
        export_study(live.engine, live.study, out, replace=True)
        found = [one for one in ("truth", "people") if (out / f"labels_{one}.parquet").exists()]
        assert [pv.read_soft(out / f"labels_{one}.parquet").estimates for one in found] == found
        return found

    with Studio.open_study(Settings(folder=folder, database="")) as live:
        assert exported(live) == ([] if quantity == "truth" else ["people"])
        SnapshotComputer(live.engine).compute_and_publish_snapshot(live.study)
        assert exported(live) == ["truth", "people"]
    made = pv.aggregate.DEFAULT_METHODS | ({quantity: aggregator} if quantity else {})
    told = f"labels_truth by {made['truth']}, labels_people by {made['people']}. Truth: "
    assert told in (out / "dataset.toml").read_text(encoding="utf-8")
