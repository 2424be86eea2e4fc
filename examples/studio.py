"""A whole study: created, served, answered over HTTP by simulated workers, exported, converted into votes, aggregated.

Real people would open the invite link in a browser; the rest would be the same.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import plurivox as pv
from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.server.uvicorn_server import serve_in_thread
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin.invites import create_invite
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.export import export_study

STUDY = Study(name="remarks", labels=["praise", "blame", "neither"], per_task=5, batch=10, repeats=1)
N_TASKS, N_WORKERS = 40, 20


def run_study(out: Path) -> pv.SoftLabels:
    """Create, run, export and aggregate the study in the folder `out`; return its soft labels."""
    shutil.rmtree(out / "study", ignore_errors=True)
    settings = Settings(folder=out / "study", database="", is_leader=False)
    make_study(settings, STUDY, (NewTask(f"remark-{i:02d}", text=f"remark number {i}") for i in range(N_TASKS)))
    with serve_in_thread(settings) as (url, app):
        studio = app.state.studio
        row = studio.writer.submit(lambda connection: create_invite(connection, "example", "", N_WORKERS)).result()
        clients = run_async(simulate_workers(url, studio.keys.sign("invite", f"{row.id:x}"), N_WORKERS))
        n = sum(len(client.acknowledged) for client in clients)
        print(f"{N_WORKERS} simulated workers gave {n} answers to {N_TASKS} tasks over HTTP, repeats included")
        export_study(studio.engine, STUDY, out / "remarks", replace=True)
    answers = pv.read(out / "remarks").answers
    assert answers is not None and answers.repeat_of is not None
    votes = pv.elicit_votes(answers.where(answers.repeat_of < 0), "top-two").votes
    print(f"exported: {answers}\nconverted: {votes}")
    return pv.fit(votes, "vote-shares").soft


def main() -> None:
    """Run the study, and print its first soft label."""
    with tempfile.TemporaryDirectory() as place:
        soft = run_study(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place))
    print(f"{len(soft.tasks)} soft labels; the first:")
    for label, p in zip(soft.labels.tolist(), soft.prob[0].tolist(), strict=True):
        print(f"  {label:8} {p:.3f}")


if __name__ == "__main__":
    main()
