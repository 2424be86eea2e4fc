"""A study that contains every kind of answer and of person, made through the HTTP API, for tests of numbers that owners see."""

from typing import Any

import httpx
from sqlalchemy import select

from plurivox.core.answers import Answers
from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots
from plurivox.web.store.collect.leases import end_lease_and_release_unanswered_slots
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.schema import sittings, workers
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import import_answers_collected_elsewhere
from studies import Person, Served, plain_study, server_clock

LABELS = ["bird", "cat", "dog", "frog", "ship"]


def whole_study(**values: Any) -> Study:
    """Return the configuration: consent, practice, repeats, pay; 8 tasks, each wanted 3 times."""
    texts = {"consent": "Please agree.", "instructions": "", "debrief": ""}
    fields = {"labels": LABELS, "per_task": 3, "batch": 4, "repeats": 1, "practice": 1, "pay": {"base": "1"}}
    return plain_study(texts=texts, **{**fields, **values})


def whole_tasks() -> list[NewTask]:
    """Return eight tasks in two strata, and one for practice."""
    tasks = [NewTask(f"t{i}", text=f"text {i}", stratum=("easy", "hard")[i % 2]) for i in range(8)]
    return [*tasks, NewTask("warm-up", text="a practice task", practice=True)]


class Crowd:
    """The people of the study by name; each method is what one of them or the owner does."""

    def __init__(self, live: Served, marks: Any = None) -> None:
        self.live, self.people = live, dict[str, Person]()
        self.marks = marks or (lambda form, n: [{"kind": "named", "label": LABELS[n % 3], "typed": "70"}])
        self.n = 0

    def name_of(self, who: str) -> str:
        """Return the pseudonym of a person."""
        return self.people[who].entered["me"]["worker"]

    def come(self, who: str, agree: bool = True) -> Person:
        """Enter the study and agree to take part."""
        person = self.people[who] = self.live.enter()
        if agree and person.entered["me"]["stage"] == "consent":
            assert person.post("/api/me/stage", {"stage": "consent", "agreed": True}).status_code == 200
        return person

    def say(self, who: str, slot: str, **more: Any) -> httpx.Response:
        """Answer one slot, each time differently; the time that it is said to have taken passes at the server first."""
        server_clock.let_pass(more.get("submitted_ms", 0) / 1000)
        person, self.n = self.people[who], self.n + 1
        marks = [] if more.keys() & {"abstain", "none_of_these"} else self.marks(self.form_of(who), self.n)
        said = person.post("/api/answers", {"key": f"key-{self.n:04d}", "slot": slot, "marks": marks, **more})
        assert said.status_code == 200, said.text
        return said

    def form_of(self, who: str) -> str:
        """Return the form that a person is asked in."""
        return self.people[who].entered["me"]["form"]

    def practise(self, who: str) -> list[dict[str, Any]]:
        """Answer the practice task; return the slots of the first sitting."""
        [slot] = self.people[who].slots()
        self.say(who, slot["slot"], submitted_ms=4000)
        return self.people[who].slots()

    def work(self, who: str, n: int = 10) -> list[str]:
        """Enter, practise and answer `n` tasks; return the slots."""
        self.come(who)
        slots = [one["slot"] for one in self.practise(who)]
        for slot in slots[:n]:
            self.say(who, slot, submitted_ms=5000)
        return slots

    def exclude(self, who: str) -> None:
        """Exclude a person as a rule would."""
        [row] = self.live.look(select(workers.c.id).where(workers.c.pseudonym == self.name_of(who)))
        write = self.live.studio.writer.submit
        assert write(lambda c: exclude_if_active_and_release_slots(c, row.id, "too-fast", "in haste")).result()

    def lift(self, who: str) -> None:
        """Lift an exclusion, as an owner."""
        way = f"/api/owner/exclusions/{self.name_of(who)}/lift"
        assert self.live.http.post(way, headers=self.live.owner).status_code == 200

    def expire(self) -> None:
        """End all leases."""
        for row in self.live.look(select(sittings.c.id).where(sittings.c.until > 0)):
            self.live.studio.writer.submit(
                lambda c, one=row.id: end_lease_and_release_unanswered_slots(c, one)
            ).result()

    def fill(self) -> None:
        """Let new people answer until nobody gets a task."""
        while True:
            who = f"filler {len(self.people)}"
            person = self.come(who)
            if person.get("/api/me").json()["stage"] == "done":
                return
            slots = self.practise(who)
            for slot in slots:
                self.say(who, slot["slot"], submitted_ms=6000)

    def bring(self) -> None:
        """Import the answers of two people, one of them with a repeat."""
        task, worker = ["t0", "t1", "t2", "t0", "t0"], ["x", "x", "x", "x", "y"]
        marks = [[("named", "cat", "60"), ("named", "dog", "40")]] * 5
        given = Answers.of(task=task, worker=worker, marks=marks, labels=LABELS, repeat_of=[-1, -1, -1, 0, -1])
        studio = self.live.studio
        job = lambda c: import_answers_collected_elsewhere(c, studio.study, studio.keys, given)  # noqa: E731
        assert studio.writer.submit(job).result() == 5


def fill_whole_study(live: Served, marks: Any = None) -> Crowd:
    """Let everything happen that happens in a study; nobody is excluded at the end but `dan`."""
    crowd = Crowd(live, marks)
    live.sign_in()
    crowd.come("gil")  # agrees and does nothing
    crowd.come("ida", agree=False)  # does not even agree
    first = crowd.work("ann", n=0)
    crowd.say("ann", first[0], abstain=True)
    crowd.say("ann", first[1], none_of_these=True)
    for slot in first[2:]:
        crowd.say("ann", slot, submitted_ms=8000)
    crowd.say("ann", first[2], submitted_ms=9000)  # changes an answer
    crowd.work("bob")
    late = crowd.work("lea", n=1)
    dan, eve = crowd.work("dan", n=3), crowd.work("eve", n=3)
    crowd.say("dan", dan[0])
    crowd.exclude("dan")
    crowd.say("dan", dan[3])  # on screen when excluded
    crowd.exclude("eve")
    crowd.say("eve", eve[3])
    crowd.lift("eve")
    crowd.work("fay")
    live.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", crowd.name_of("fay"))).result()
    crowd.expire()
    if not live.studio.study.arms:  # imported answers have no arm
        crowd.bring()
    crowd.fill()
    for slot in late[1:]:
        crowd.say("lea", slot)
    return crowd


def compute(live: Served) -> None:
    """Compute what the background job computes: a snapshot and the pay sheet."""
    study, engine = live.studio.study, live.studio.engine
    SnapshotComputer(engine).compute_and_publish_snapshot(study)
    Payroll(engine).update_pay_lines_of_changed_workers(study)
