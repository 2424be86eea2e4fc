"""The database tables. Answers, visits and audit are append-only; only a withdrawal of consent deletes rows.

Tables and columns whose meaning the name does not tell:

    beliefs      soft labels of tasks (a row is valid from snapshot `since` to before snapshot `until`)
    beliefs.sure       minus the entropy in nats; 1 before any answer (`report/soft_labels.py` converts it)
    plans        batches of tasks fixed by a file
    standings    scores of workers, as of the latest snapshot
    tallies      running counters of answers
    facts        key-value pairs of a study, with JSON values
    leaders      the lease of the leading server
    raw_ids      the ids of workers at their platforms
    places       addresses from which owners have signed in
    workers.door       the key of the worker's client, as a keyed hash
    sittings.until     when the lease of the sitting's slots ends
    tasks.gain         expected information gain of one more answer in nats, by which next-best orders the queue
    slots.number       which of the task's quota of answers the slot is: 1, 2, ...
"""

from typing import Literal

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

meta_data = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
TaskKind = Literal["image", "audio", "text", "pair"]  # of the column tasks.kind
AutoincrementId = BigInteger().with_variant(Integer, "sqlite")  # SQLite increments an INTEGER PRIMARY KEY


def _id(autoincrement: bool = False) -> Column[int]:
    """Return a primary key column `id`: a random id set by the code, or incremented by the database."""
    return Column("id", AutoincrementId, primary_key=True, autoincrement=autoincrement)


def _foreign_key(table: str, name: str | None = None, *, null: bool = False) -> Column[int]:
    return Column(name or f"{table.rstrip('s')}_id", BigInteger, ForeignKey(f"{table}.id"), nullable=null)


def _text(name: str, *, null: bool = False, **options: object) -> Column[str]:
    return Column(name, Text, nullable=null, **options)  # type: ignore[arg-type]


def _int(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=null)


def _float(name: str, *, null: bool = False) -> Column[float]:
    return Column(name, Float(53), nullable=null)


facts = Table("facts", meta_data, Column("name", Text, primary_key=True), _text("value"))

media = Table(
    "media",
    meta_data,
    _id(),
    _text("type"),
    Column("bytes", LargeBinary, nullable=False),  # as imported
    _text("shown_type"),
    Column("shown", LargeBinary),  # enlarged, if the original was small
    _int("width"),
    _int("height"),
)

tasks = Table(
    "tasks",
    meta_data,
    _id(),
    Column("name", Text().with_variant(Text(collation="C"), "postgresql"), unique=True, nullable=False),
    _text("kind"),  # see TaskKind
    _text("text", null=True),
    _text("text2", null=True),
    _foreign_key("media", "media_id", null=True),
    _text("stratum"),
    _int("practice"),
    _int("quota"),
    _int("given"),  # slots that are leased or done
    _text("queue", null=True),  # its queue of open tasks (a stratum, or ""); null if it is full or for practice
    _text("gold", null=True),  # the correct label, if known, for checks; never shown to workers
    _float("rank"),  # random place in the queue, drawn again whenever a slot is given, so that no query sorts all tasks
    _float(
        "gain", null=True
    ),  # expected information gain of one more answer, in nats; only with the assigner next-best
    Index("ix_tasks_queue", "queue", "given", "rank"),
)
GAIN_INDEX = Index(
    "ix_tasks_gain",
    tasks.c.queue,
    tasks.c.gain,
    tasks.c.rank,
    sqlite_where=tasks.c.gain.is_not(None),
    postgresql_where=tasks.c.gain.is_not(None),
)

plans = Table(  # batches fixed by a file
    "plans",
    meta_data,
    _id(autoincrement=True),
    _text("name", unique=True),
    _int("given"),
    _text("queue", null=True),
    _float("rank"),
    Index("ix_plans_queue", "queue", "given", "rank"),
)
plan_tasks = Table(
    "plan_tasks",
    meta_data,
    Column("plan_id", BigInteger, ForeignKey("plans.id"), primary_key=True),
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True),
    Index("ix_plan_tasks_task_id", "task_id"),
)

arms = Table(  # of a study with several forms: how often each is left in the block that workers draw from
    "arms", meta_data, Column("name", Text, primary_key=True), _int("left")
)
arm_tasks = Table(  # quota and slots given of each task in each arm
    "arm_tasks",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True),
    Column("arm", Text, primary_key=True),
    _int("quota"),
    _int("given"),
    _text("queue", null=True),
    _text("home"),  # its queue while it is below its quota in the arm
    _float("rank"),
    Index("ix_arm_tasks_queue", "arm", "queue", "given", "rank"),
)

workers = Table(
    "workers",
    meta_data,
    _id(),
    _text("pseudonym", unique=True),
    _int("seed"),  # of this worker's order of labels
    _text("stage"),
    _text("status"),  # active, excluded, erased
    _text("arm", server_default=""),  # drawn once; empty if the study has one form
    _text("door", null=True, unique=True),  # the key of the worker's client, as a keyed hash
    _float("born"),
    _float("seen"),
)
raw_ids = Table(  # the only table that maps a pseudonym to a person; may be emptied at any time
    "raw_ids",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True),
    _text("platform"),
    _text("raw"),
    _text("study"),
    _text("session"),
    _text("submit_to", null=True),  # where MTurk expects the form at the end
    UniqueConstraint("platform", "raw"),
)
visits = Table(
    "visits",
    meta_data,
    _id(autoincrement=True),
    _foreign_key("workers"),
    _text("stage"),
    _float("at"),
    _float("ms", null=True),
    _text("detail"),
    Index("ix_visits_worker_id", "worker_id"),
)

sittings = Table(
    "sittings",
    meta_data,
    _id(autoincrement=True),
    _foreign_key("workers"),
    _int("number"),  # 0: practice
    _foreign_key("plans", null=True),
    _int("total"),
    _int("done"),
    _float("begun"),
    _float("until", null=True),  # when the lease ends; null if everything is answered or the lease has ended
    UniqueConstraint("worker_id", "number"),
    Index("ix_sittings_until", "until"),
)
slots = Table(
    "slots",
    meta_data,
    _id(),
    _foreign_key("sittings"),
    _foreign_key("workers"),
    _foreign_key("tasks"),
    _int("number", null=True),  # 1 to the task's quota while it counts; null for repeats, practice, extras
    _text("kind"),  # task, repeat, practice
    _int("position"),
    _foreign_key("slots", "repeat_of", null=True),
    _text("state"),  # leased, done, expired, extra, excluded
    Column("answer_id", BigInteger),  # the latest answer
    UniqueConstraint("task_id", "number"),  # no two workers have the same slot
    Index("ix_slots_worker_id_task_id", "worker_id", "task_id"),
    Index("ix_slots_sitting_id_position", "sitting_id", "position"),
)
REPEAT_INDEX = Index(  # for erasing a worker: the database checks whether other slots point to a deleted one
    "ix_slots_repeat_of",
    slots.c.repeat_of,
    sqlite_where=slots.c.repeat_of.is_not(None),
    postgresql_where=slots.c.repeat_of.is_not(None),
)
answers = Table(
    "answers",
    meta_data,
    _id(autoincrement=True),
    _foreign_key("workers"),
    _text("key"),  # made by the client; an answer sent twice with one key is stored once
    _foreign_key("slots"),
    _foreign_key("tasks"),
    _float("received"),
    _text("form"),
    _text("marks"),
    _int("abstain"),
    _int("none_of_these"),
    _int("extra"),
    Column("replaces", BigInteger),
    _float("shown_at", null=True),
    _float("first_input_ms", null=True),
    _float("submitted_ms", null=True),
    _float("hidden_ms"),
    _text("mode"),
    _text("label_order"),
    _text("events"),
    UniqueConstraint("worker_id", "key"),
    Index("ix_answers_task_id", "task_id"),
    Index("ix_answers_slot_id", "slot_id"),  # without it, erasing a worker reads all answers for every slot
)
drafts = Table(  # the unfinished answer of a worker, at most one; deleted with the answer, never counted
    "drafts",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _foreign_key("slots"),
    _float("at"),
    _text("body"),
)

invites = Table("invites", meta_data, _id(), _text("note"), _int("uses"), _int("used"), _int("is_open"), _float("born"))
owners = Table("owners", meta_data, _id(autoincrement=True), _text("name", unique=True), _text("password"))
sessions = Table(
    "sessions",
    meta_data,
    Column("hidden", Text, primary_key=True),
    _foreign_key("owners"),
    _text("csrf"),
    _float("until"),
)
# addresses from which owners have signed in, as keyed hashes: failed logins from elsewhere do not lock owners out there
places = Table(
    "places",
    meta_data,
    Column("owner_id", BigInteger, ForeignKey("owners.id"), primary_key=True, autoincrement=False),
    Column("hidden", Text, primary_key=True),
    _float("seen"),
)

leaders = Table("leaders", meta_data, Column("name", Text, primary_key=True), _text("holder"), _float("until"))
snapshots = Table(
    "snapshots", meta_data, _id(autoincrement=True), _float("at"), Column("last_answer", BigInteger), _text("body")
)
OPEN_END = 1 << 62  # the `until` of soft labels that are valid now
# one valid row per task except practice; a new row ends the former one, so that a list keeps its order while it is read
soft_labels = Table(
    "beliefs",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True, autoincrement=False),
    Column("since", BigInteger, primary_key=True, autoincrement=False),  # the first snapshot in which it is valid, or 0
    Column("until", BigInteger, nullable=False),  # the first snapshot in which it is no longer valid
    _int("n"),  # answers it is computed from
    _float("sure"),
    _text("soft"),
    Index("ix_beliefs_sure", "sure", "task_id"),
    Index("ix_beliefs_n", "n", "task_id"),
    Index("ix_beliefs_until", "until"),
)
standings = Table(  # scores of workers in the latest snapshot
    "standings",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _int("n"),
    _float("seconds", null=True),
    _int("flags"),
    _float("seen"),
    _float("agreement_with_rest", null=True),
    _float("repeat_consistency", null=True),
    _float("too_fast", null=True),
)
tallies = Table(  # counts of all answers up to an id, updated by the leader; later answers are counted by each request
    "tallies",
    meta_data,
    Column("what", Text, primary_key=True),
    Column("of", Text, primary_key=True),
    Column("n", BigInteger, nullable=False),
)
flags = Table(
    "flags",
    meta_data,
    Column("answer_id", BigInteger, ForeignKey("answers.id"), primary_key=True, autoincrement=False),
    _text("flags"),
)
audit = Table("audit", meta_data, _id(autoincrement=True), _float("at"), _text("who"), _text("what"), _text("detail"))
exclusions = (
    Table(  # excluded workers and the rule; lifted exclusions stay, so that no rule excludes these workers again
        "exclusions",
        meta_data,
        _id(autoincrement=True),
        _foreign_key("workers"),
        _text("rule"),
        _text("reason"),
        _float("at"),
        _float("lifted", null=True),
        Index("ix_exclusions_worker_id", "worker_id"),
    )
)
pay = Table(
    "pay",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _text("line"),
)
