"""The database tables. Answers, visits and audit are append-only; only a withdrawal of consent deletes rows, and lines of
audit about refused sign-ins are deleted after 90 days.

Tables and columns whose meaning the name does not tell:

    beliefs      soft labels of tasks (a row is valid from snapshot `since` to before snapshot `until`)
    beliefs.sure       minus the entropy of `soft` in nats; 1 before any answer (`report/soft_labels.py` converts it)
    beliefs.soft       what people would say: the share of people who would give each label, with intervals
    beliefs.truth      what is right: the probability of each label
    plans        batches of tasks fixed by a file
    standings    scores of workers, as of the latest snapshot
    tallies      running counters of answers
    facts        key-value pairs of a study, with JSON values
    leaders      the lease of the leading server
    report_jobs  reports that owners have asked for, under the lease of the process that makes them
    report_pages reports as they were made, one for each question
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


def _primary_key_id_column(autoincrement: bool = False) -> Column[int]:
    """Return the primary key column `id`, with random ids set by the program, or incremented by the database."""
    return Column("id", AutoincrementId, primary_key=True, autoincrement=autoincrement)


def _foreign_key_column(
    referenced_table: str, column_name: str | None = None, *, nullable: bool = False
) -> Column[int]:
    """Return a column that references the id of another table, named like `task_id` unless a name is given."""
    return Column(
        column_name or f"{referenced_table.rstrip('s')}_id",
        BigInteger,
        ForeignKey(f"{referenced_table}.id"),
        nullable=nullable,
    )


def _text_column(column_name: str, *, nullable: bool = False, **options: object) -> Column[str]:
    """Return a text column, NOT NULL unless `nullable`."""
    return Column(column_name, Text, nullable=nullable, **options)  # type: ignore[arg-type]


def _int_column(column_name: str, *, nullable: bool = False) -> Column[int]:
    """Return an integer column, NOT NULL unless `nullable`."""
    return Column(column_name, Integer, nullable=nullable)


def _float_column(column_name: str, *, nullable: bool = False) -> Column[float]:
    """Return a double-precision column, NOT NULL unless `nullable`."""
    return Column(column_name, Float(53), nullable=nullable)


facts = Table("facts", meta_data, Column("name", Text, primary_key=True), _text_column("value"))

media = Table(
    "media",
    meta_data,
    _primary_key_id_column(),
    _text_column("type"),
    Column("bytes", LargeBinary, nullable=False),  # as imported
    _text_column("shown_type"),
    Column("shown", LargeBinary),  # enlarged, if the original was small
    _int_column("width"),
    _int_column("height"),
)

tasks = Table(
    "tasks",
    meta_data,
    _primary_key_id_column(),
    Column("name", Text().with_variant(Text(collation="C"), "postgresql"), unique=True, nullable=False),
    _text_column("kind"),  # see TaskKind
    _text_column("text", nullable=True),
    _text_column("text2", nullable=True),
    _foreign_key_column("media", "media_id", nullable=True),
    _text_column("stratum"),
    _int_column("practice"),
    _int_column("quota"),
    _int_column("given"),  # slots that are leased or done
    _text_column(
        "queue", nullable=True
    ),  # its queue of open tasks (a stratum, or ""); null if it is full or for practice
    _text_column("gold", nullable=True),  # the correct label, if known, for checks; never shown to workers
    _float_column(
        "rank"
    ),  # random place in the queue, drawn again whenever a slot is given, so that no query sorts all tasks
    _float_column(
        "gain", nullable=True
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
    _primary_key_id_column(autoincrement=True),
    _text_column("name", unique=True),
    _int_column("given"),
    _text_column("queue", nullable=True),
    _float_column("rank"),
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
    "arms", meta_data, Column("name", Text, primary_key=True), _int_column("left")
)
arm_tasks = Table(  # quota and slots given of each task in each arm
    "arm_tasks",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True),
    Column("arm", Text, primary_key=True),
    _int_column("quota"),
    _int_column("given"),
    _text_column("queue", nullable=True),
    _text_column("home"),  # its queue while it is below its quota in the arm
    _float_column("rank"),
    Index("ix_arm_tasks_queue", "arm", "queue", "given", "rank"),
)

workers = Table(
    "workers",
    meta_data,
    _primary_key_id_column(),
    _text_column("pseudonym", unique=True),
    _int_column("seed"),  # of this worker's order of labels
    _text_column("stage"),
    _text_column("status"),  # active, excluded, erased
    _text_column("arm", server_default=""),  # drawn once; empty if the study has one form
    _text_column("door", nullable=True, unique=True),  # the key of the worker's client, as a keyed hash
    _float_column("born"),
    _float_column("seen"),
)
raw_ids = Table(  # the only table that maps a pseudonym to a person; may be emptied at any time
    "raw_ids",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True),
    _text_column("platform"),
    _text_column("raw"),
    _text_column("study"),
    _text_column("session"),
    _text_column("submit_to", nullable=True),  # where MTurk expects the form at the end
    UniqueConstraint("platform", "raw"),
)
visits = Table(
    "visits",
    meta_data,
    _primary_key_id_column(autoincrement=True),
    _foreign_key_column("workers"),
    _text_column("stage"),
    _float_column("at"),
    _float_column("ms", nullable=True),
    _text_column("detail"),
    Index("ix_visits_worker_id", "worker_id"),
)

sittings = Table(
    "sittings",
    meta_data,
    _primary_key_id_column(autoincrement=True),
    _foreign_key_column("workers"),
    _int_column("number"),  # 0: practice
    _foreign_key_column("plans", nullable=True),
    _int_column("total"),
    _int_column("done"),
    _float_column("begun"),
    _float_column("until", nullable=True),  # when the lease ends; null if everything is answered or the lease has ended
    UniqueConstraint("worker_id", "number"),
    Index("ix_sittings_until", "until"),
)
slots = Table(
    "slots",
    meta_data,
    _primary_key_id_column(),
    _foreign_key_column("sittings"),
    _foreign_key_column("workers"),
    _foreign_key_column("tasks"),
    _int_column(
        "number", nullable=True
    ),  # 1 to the task's quota while it counts; null for repeats, practice, late answers
    _text_column("kind"),  # task, repeat, practice
    _int_column("position"),
    _foreign_key_column("slots", "repeat_of", nullable=True),
    _text_column("state"),  # leased, done, expired, extra (late, beyond the quota), excluded
    Column("answer_id", BigInteger),  # the latest answer
    _float_column("handed_out", nullable=True),  # when it was first sent to the worker; never changed
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
    _primary_key_id_column(autoincrement=True),
    _foreign_key_column("workers"),
    _text_column("key"),  # made by the client; an answer sent twice with one key is stored once
    _foreign_key_column("slots"),
    _foreign_key_column("tasks"),
    _float_column("received"),
    _text_column("form"),
    _text_column("marks"),
    _int_column("abstain"),
    _int_column("none_of_these"),
    _int_column("extra"),
    Column("replaces", BigInteger),
    _float_column("shown_at", nullable=True),
    _float_column("first_input_ms", nullable=True),
    _float_column("submitted_ms", nullable=True),
    _float_column("hidden_ms"),
    _text_column("mode"),
    _text_column("label_order"),
    _text_column("events"),
    UniqueConstraint("worker_id", "key"),
    Index("ix_answers_task_id", "task_id"),
    Index("ix_answers_slot_id", "slot_id"),  # without it, erasing a worker reads all answers for every slot
)
drafts = Table(  # the unfinished answer of a worker, at most one; deleted with the answer, never counted
    "drafts",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _foreign_key_column("slots"),
    _float_column("at"),
    _text_column("body"),
)

platform_studies = Table(  # studies at Prolific and HITs at MTurk whose people are admitted
    "platform_studies",
    meta_data,
    Column("platform", Text, primary_key=True),
    Column("study", Text, primary_key=True),
    _float_column("at"),
)
invites = Table(
    "invites",
    meta_data,
    _primary_key_id_column(),
    _text_column("note"),
    _int_column("uses"),
    _int_column("used"),
    _int_column("is_open"),
    _float_column("born"),
)
owners = Table(
    "owners",
    meta_data,
    _primary_key_id_column(autoincrement=True),
    _text_column("name", unique=True),
    _text_column("password"),
)
sessions = Table(
    "sessions",
    meta_data,
    Column("hidden", Text, primary_key=True),
    _foreign_key_column("owners"),
    _text_column("csrf"),
    _float_column("until"),
)
# addresses from which owners have signed in, as keyed hashes: failed logins from elsewhere do not lock owners out there
places = Table(
    "places",
    meta_data,
    Column("owner_id", BigInteger, ForeignKey("owners.id"), primary_key=True, autoincrement=False),
    Column("hidden", Text, primary_key=True),
    _float_column("seen"),
)

leaders = Table(
    "leaders", meta_data, Column("name", Text, primary_key=True), _text_column("holder"), _float_column("until")
)
snapshots = Table(
    "snapshots",
    meta_data,
    _primary_key_id_column(autoincrement=True),
    _float_column("at"),
    Column("last_answer", BigInteger),
    _text_column("body"),
)
OPEN_END = 1 << 62  # the `until` of soft labels that are valid now
# one valid row per task except practice; a new row ends the former one, so that a list keeps its order while it is read
soft_labels = Table(
    "beliefs",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True, autoincrement=False),
    Column("since", BigInteger, primary_key=True, autoincrement=False),  # the first snapshot in which it is valid, or 0
    Column("until", BigInteger, nullable=False),  # the first snapshot in which it is no longer valid
    _int_column("n"),  # answers it is computed from
    _float_column("sure"),
    _text_column("soft"),
    _text_column("truth", server_default="[]"),
    Index("ix_beliefs_sure", "sure", "task_id"),
    Index("ix_beliefs_n", "n", "task_id"),
    Index("ix_beliefs_until", "until"),
)
standings = Table(  # badness of workers by each score in the latest snapshot, higher is worse
    "standings",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _int_column("n"),
    _float_column("seconds", nullable=True),
    _int_column("flags"),
    _float_column("seen"),
    _float_column("agreement_with_rest", nullable=True),  # 1 - agreement
    _float_column("repeat_consistency", nullable=True),  # 1 - consistency: share of repeats with another label
    Column("repeats", Integer, nullable=False, server_default="0"),  # of which the share is: both answers name a label
    _float_column("too_fast", nullable=True),
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
    _text_column("flags"),
)
audit = Table(
    "audit",
    meta_data,
    _primary_key_id_column(autoincrement=True),
    _float_column("at"),
    _text_column("who"),
    _text_column("what"),
    _text_column("detail"),
)
exclusions = (
    Table(  # excluded workers and the rule; lifted exclusions stay, so that no rule excludes these workers again
        "exclusions",
        meta_data,
        _primary_key_id_column(autoincrement=True),
        _foreign_key_column("workers"),
        _text_column("rule"),
        _text_column("reason"),
        _float_column("at"),
        _float_column("lifted", nullable=True),
        Index("ix_exclusions_worker_id", "worker_id"),
    )
)
pay = Table(
    "pay",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    _text_column("line"),
)
report_jobs = Table(  # at most one for each question; it is deleted when its page is stored
    "report_jobs",
    meta_data,
    Column("question", Text, primary_key=True),  # truth, people
    _text_column("asked_by"),
    _float_column("asked"),
    _text_column("maker", nullable=True),  # the process that makes it
    _float_column("begun", nullable=True),
    _float_column("until", nullable=True),  # when the lease of its process ends
    _int_column("tries"),
    _int_column("step"),
    _int_column("steps"),
    _text_column("failure"),  # what failed and what to do; empty unless it failed
)
report_pages = Table(
    "report_pages",
    meta_data,
    Column("question", Text, primary_key=True),
    _float_column("made"),
    _float_column("read_at"),  # when its votes were read
    _int_column("answers"),
    _int_column("people"),
    _int_column("excluded"),  # people whose answers are left out
    Column("last_answer", BigInteger, nullable=False),  # the highest id of an answer at that time
    _int_column("recounted"),  # see `count_exclusions_plus_reinstatements`, at that time
    Column("page", LargeBinary, nullable=False),  # HTML, compressed by gzip
)
