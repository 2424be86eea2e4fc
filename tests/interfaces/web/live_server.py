"""Run a studio on a free port for browser tests."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import select

from plurivox.web.open_study import Studio
from plurivox.web.server.uvicorn_server import serve_in_thread
from plurivox.web.server_settings import Settings
from plurivox.web.services import owner_sign_in
from plurivox.web.store import study_state
from plurivox.web.store.admin import invites
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.random_ids import encode_id
from plurivox.web.store.schema import answers, slots, workers
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from studies import LIMITS

ANIMALS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
QUIZ = [
    {
        "question": "What if you are not sure?",
        "choices": ["Guess and say 100%", "Say how sure I am", "Skip the task"],
        "right": 1,
        "why": "Say how sure you are.",
    },
    {"question": "May two labels share the percents?", "choices": ["Yes", "No"], "right": 0},
]
ALL_AT_ONCE = {"unanswered_share": 1}  # people of most tests ask for tasks and do not answer them
SHORT: dict[str, Any] = {"texts": {"consent": "", "instructions": "", "debrief": ""}, "quiz": [], "practice": 0}


def picture(name: str) -> bytes:
    """Return a small random image, seeded with its name."""
    rng = np.random.default_rng(sum(map(ord, name)) * 7 + 3)
    rough = Image.fromarray(rng.integers(30, 226, (4, 4, 3), dtype=np.uint8))
    out = io.BytesIO()
    rough.resize((32, 32), Image.Resampling.BICUBIC).save(out, "PNG")
    return out.getvalue()


def make_tasks(n: int, kind: str, practice: int = 0) -> Iterator[NewTask]:
    """Yield `n` tasks of one kind, then the practice tasks."""
    for at in range(n + practice):
        name, more = f"t{at:03d}", {"practice": at >= n}
        if kind == "image":
            yield NewTask(name, medium=validate_image_and_make_displayed_version(picture(name), name, 160), **more)
        else:
            text = "The waiter was friendly, but we waited an hour for a cold soup.\n\nWould I go again? Perhaps."
            yield NewTask(name, text=text, text2="Somebody eats." if kind == "pair" else None, **more)


@dataclass
class Running:
    """A running studio: its links, its state and the answers stored so far."""

    base: str
    studio: Studio

    @property
    def join(self) -> str:
        """A new invite link with 1000 uses."""
        return self.invite(1000)

    def invite(self, uses: int) -> str:
        """Return a new invite link with this number of uses."""
        row = self.studio.writer.submit(lambda c: invites.create_invite(c, "test", "", uses)).result()
        return f"{self.base}/join#invite={self.studio.keys.sign('invite', encode_id(row.id))}"

    @property
    def setup(self) -> str:
        """The setup link that the terminal shows at first start; it ends in "None" if an owner exists."""
        token = self.studio.writer.submit(
            lambda c: owner_sign_in.create_setup_token_unless_owner_exists(c, self.studio.keys)
        ).result()
        return f"{self.base}/owner#setup={token}"

    def turn(self, state: str) -> None:
        """Open, pause or close the study."""
        self.studio.writer.submit(lambda c: study_state.set_study_state(c, "test", state)).result()

    def answers(self) -> list[dict[str, Any]]:
        """Return the latest answer of the newest worker in each non-practice slot, in the order the tasks were shown."""
        newest = select(workers.c.id).order_by(workers.c.born.desc()).limit(1).scalar_subquery()
        wanted = select(answers).join(slots, slots.c.answer_id == answers.c.id).where(slots.c.kind != "practice")
        wanted = wanted.where(answers.c.worker_id == newest)
        rows = self.studio.read_sync(lambda c: c.execute(wanted.order_by(slots.c.position)).mappings().all())
        return [{**row, "marks": json.loads(row["marks"]), "events": json.loads(row["events"])} for row in rows]


@contextmanager
def run(folder: Path, make: Callable[[Settings], object], is_leader: bool = False, port: int = 0) -> Iterator[Running]:
    """Create a study in a folder with `make` and serve it; only a leader computes results, which slows tests down."""
    settings = Settings(folder=folder, database="", snapshot_seconds=1, is_leader=is_leader, **LIMITS)
    make(settings)
    with serve_in_thread(settings, port) as (base, app):
        yield Running(base, app.state.studio)


def studio_of(
    n: int = 4, kind: str = "image", whole: bool = False, practice: int = 1, **values: Any
) -> Callable[[Settings], object]:
    """Return a function that creates a study of n tasks, with all stages if `whole`, else with tasks only."""
    stages = {"quiz": QUIZ, "practice": practice} if whole else SHORT
    fields = {"labels": ANIMALS, "form": "also-possible", "title": "Animals and vehicles", "per_task": 20, "batch": n}
    study = Study.model_validate(
        {"name": "animals", "completion": {"code": "C1X7-PLURAL"}, **ALL_AT_ONCE, **stages, **fields, **values}
    )
    return lambda settings: make_study(settings, study, make_tasks(n, kind, practice if whole else 0))
