"""The demo study: images of handwritten digits with simulated answers, so that every page shows data."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import Connection

from plurivox.core.errors import require_package
from plurivox.core.soft_labels import SoftLabels
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.collect.workers import insert_stage_visits, list_all_worker_ids, set_entry_time_of_all_workers
from plurivox.web.store.database import WRITE_OPTIONS, current_unix_time
from plurivox.web.study.completion_pay_exclusion_config import Completion
from plurivox.web.study.config import Question, Study, Texts
from plurivox.web.study.create_study import import_answers_collected_elsewhere, make_study
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from plurivox.web.study.secret_key import StudySecret
from plurivox.web.study.study_database import open_database
from plurivox.workflows import simulate_crowd

N_TASKS, N_PRACTICE, SEED = 120, 3, 7
# median seconds of a simulated worker
STAGE_SECONDS = {"consent": 14, "instructions": 35, "quiz": 22, "practice": 40, "tasks": 290, "debrief": 8}

STUDY = Study(
    name="digits",
    title="Which digit is it?",
    labels=[str(digit) for digit in range(10)],
    form="top-two",
    per_task=6,
    batch=12,
    repeats=2,
    practice=N_PRACTICE,
    texts=Texts(
        consent="This is a demonstration. You will see handwritten digits and say which digit each one is.\n\n"
        "You may stop at any time. Answers are stored under a pseudonym.",
        debrief="Thank you. All answers are saved.",
    ),
    quiz=[
        Question(
            question="A digit looks like a 3, but some people would see an 8. What do you do?",
            choices=["Pick 3 and give it 100 percent", "Pick 3, then 8, with percents"],
            right=1,
            why="We want to know when people would disagree: pick both digits.",
        )
    ],
    completion=Completion(code="DIGITS-DONE"),
)


def make_demo_study_with_simulated_answers(folder: Path, database: str = "") -> int:
    """Create a study on scikit-learn's digits with simulated answers in a new folder; return the number of answers."""
    digits = require_package("sklearn.datasets", "the demo", "pip install 'plurivox[demo]'").load_digits()
    settings = Settings(folder=folder, database=database)
    make_study(settings, STUDY, demo_tasks(digits))
    names = [f"digit-{i:03d}" for i in range(N_TASKS)]
    truth = SoftLabels.gold(names, [str(one) for one in digits.target[:N_TASKS]], labels=STUDY.labels)
    crowd = simulate_crowd("soft-answers", truth, n_workers=20, feedback=4, sitting=24, repeats=2, seed=SEED)
    engine = open_database(settings)
    try:
        with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            given = crowd.answers
            assert given is not None and given.when is not None and given.position is not None
            began = float(given.when.min() - given.when.max() + current_unix_time() - 600)
            when = given.when - given.when.max() + current_unix_time() - 600  # the last answer was 10 minutes ago
            recent = replace(given, when=when, position=given.position + 1)  # positions start at 1
            n = import_answers_collected_elsewhere(
                connection, STUDY, StudySecret.read_or_create_secret(folder), recent, first_pick_time_fraction=0.35
            )
            set_entry_time_of_all_workers(connection, began)
            insert_stage_visits(connection, list(_yield_simulated_stage_visit_rows(connection, began)))
            return n
    finally:
        engine.dispose()


def _yield_simulated_stage_visit_rows(connection: Connection, start_time: float) -> Iterator[dict[str, Any]]:
    """Yield simulated rows of the table visits: when each worker finished each stage and the milliseconds spent on it."""
    rng = np.random.default_rng(SEED)
    for worker in list_all_worker_ids(connection):
        at = start_time
        for stage, seconds in STAGE_SECONDS.items():
            spent = float(rng.lognormal(np.log(seconds), 0.4))
            at += spent
            yield {"worker_id": worker, "stage": stage, "at": at, "ms": round(1000 * spent), "detail": "{}"}


def demo_tasks(digits: Any) -> Iterator[NewTask]:
    """Yield the first images of scikit-learn's digits as tasks of the demo study, practice tasks last."""
    for i in range(N_TASKS + N_PRACTICE):
        out = io.BytesIO()
        Image.fromarray((digits.images[i] / 16 * 255).astype(np.uint8)).save(out, "PNG")
        name = f"digit-{i:03d}" if i < N_TASKS else f"practice-{i - N_TASKS}"
        medium = validate_image_and_make_displayed_version(out.getvalue(), name, STUDY.image_pixels)
        yield NewTask(name, medium=medium, practice=i >= N_TASKS)
