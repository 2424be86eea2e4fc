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
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from plurivox.web.store.column_types import (
    float_column,
    foreign_key_column,
    int_column,
    primary_key_id_column,
    text_column,
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

facts = Table("facts", meta_data, Column("name", Text, primary_key=True), text_column("value"))

media = Table(
    "media",
    meta_data,
    primary_key_id_column(),
    text_column("type"),
    Column("bytes", LargeBinary, nullable=False),  # as imported
    text_column("shown_type"),
    Column("shown", LargeBinary),  # enlarged, if the original was small
    int_column("width"),
    int_column("height"),
)

tasks = Table(
    "tasks",
    meta_data,
    primary_key_id_column(),
    Column("name", Text().with_variant(Text(collation="C"), "postgresql"), unique=True, nullable=False),
    text_column("kind"),  # see TaskKind
    text_column("text", nullable=True),
    text_column("text2", nullable=True),
    foreign_key_column("media", "media_id", nullable=True),
    text_column("stratum"),
    int_column("practice"),
    int_column("quota"),
    int_column("given"),  # slots that are leased or done
    text_column(
        "queue", nullable=True
    ),  # its queue of open tasks (a stratum, or ""); null if it is full or for practice
    text_column("gold", nullable=True),  # the correct label, if known, for checks; never shown to workers
    float_column(
        "rank"
    ),  # random place in the queue, drawn again whenever a slot is given, so that no query sorts all tasks
    float_column(
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
    primary_key_id_column(autoincrement=True),
    text_column("name", unique=True),
    int_column("given"),
    text_column("queue", nullable=True),
    float_column("rank"),
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
    "arms", meta_data, Column("name", Text, primary_key=True), int_column("left")
)
arm_tasks = Table(  # quota and slots given of each task in each arm
    "arm_tasks",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True),
    Column("arm", Text, primary_key=True),
    int_column("quota"),
    int_column("given"),
    text_column("queue", nullable=True),
    text_column("home"),  # its queue while it is below its quota in the arm
    float_column("rank"),
    Index("ix_arm_tasks_queue", "arm", "queue", "given", "rank"),
)

workers = Table(
    "workers",
    meta_data,
    primary_key_id_column(),
    text_column("pseudonym", unique=True),
    int_column("seed"),  # of this worker's order of labels
    text_column("stage"),
    text_column("status"),  # active, excluded, erased
    text_column("arm", server_default=""),  # drawn once; empty if the study has one form
    text_column("door", nullable=True, unique=True),  # the key of the worker's client, as a keyed hash
    float_column("born"),
    float_column("seen"),
)
raw_ids = Table(  # the only table that maps a pseudonym to a person; may be emptied at any time
    "raw_ids",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True),
    text_column("platform"),
    text_column("raw"),
    text_column("study"),
    text_column("session"),
    text_column("submit_to", nullable=True),  # where MTurk expects the form at the end
    UniqueConstraint("platform", "raw"),
)
visits = Table(
    "visits",
    meta_data,
    primary_key_id_column(autoincrement=True),
    foreign_key_column("workers"),
    text_column("stage"),
    float_column("at"),
    float_column("ms", nullable=True),
    text_column("detail"),
    Index("ix_visits_worker_id", "worker_id"),
)

sittings = Table(
    "sittings",
    meta_data,
    primary_key_id_column(autoincrement=True),
    foreign_key_column("workers"),
    int_column("number"),  # 0: practice
    foreign_key_column("plans", nullable=True),
    int_column("total"),
    int_column("done"),
    float_column("begun"),
    float_column("until", nullable=True),  # when the lease ends; null if everything is answered or the lease has ended
    UniqueConstraint("worker_id", "number"),
    Index("ix_sittings_until", "until"),
)
slots = Table(
    "slots",
    meta_data,
    primary_key_id_column(),
    foreign_key_column("sittings"),
    foreign_key_column("workers"),
    foreign_key_column("tasks"),
    int_column(
        "number", nullable=True
    ),  # 1 to the task's quota while it counts; null for repeats, practice, late answers
    text_column("kind"),  # task, repeat, practice
    int_column("position"),
    foreign_key_column("slots", "repeat_of", nullable=True),
    text_column("state"),  # leased, done, expired, extra (late, beyond the quota), excluded
    Column("answer_id", BigInteger),  # the latest answer
    float_column("handed_out", nullable=True),  # when it was first sent to the worker; never changed
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
    primary_key_id_column(autoincrement=True),
    foreign_key_column("workers"),
    text_column("key"),  # made by the client; an answer sent twice with one key is stored once
    foreign_key_column("slots"),
    foreign_key_column("tasks"),
    float_column("received"),
    text_column("form"),
    text_column("marks"),
    int_column("abstain"),
    int_column("none_of_these"),
    int_column("extra"),
    Column("replaces", BigInteger),
    float_column("shown_at", nullable=True),
    float_column("first_input_ms", nullable=True),
    float_column("submitted_ms", nullable=True),
    float_column("hidden_ms"),
    text_column("mode"),
    text_column("label_order"),
    text_column("events"),
    UniqueConstraint("worker_id", "key"),
    Index("ix_answers_task_id", "task_id"),
    Index("ix_answers_slot_id", "slot_id"),  # without it, erasing a worker reads all answers for every slot
)
drafts = Table(  # the unfinished answer of a worker, at most one; deleted with the answer, never counted
    "drafts",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    foreign_key_column("slots"),
    float_column("at"),
    text_column("body"),
)

platform_studies = Table(  # studies at Prolific and HITs at MTurk whose people are admitted
    "platform_studies",
    meta_data,
    Column("platform", Text, primary_key=True),
    Column("study", Text, primary_key=True),
    float_column("at"),
)
invites = Table(
    "invites",
    meta_data,
    primary_key_id_column(),
    text_column("note"),
    int_column("uses"),
    int_column("used"),
    int_column("is_open"),
    float_column("born"),
)
owners = Table(
    "owners",
    meta_data,
    primary_key_id_column(autoincrement=True),
    text_column("name", unique=True),
    text_column("password"),
)
sessions = Table(
    "sessions",
    meta_data,
    Column("hidden", Text, primary_key=True),
    foreign_key_column("owners"),
    text_column("csrf"),
    float_column("until"),
)
# addresses from which owners have signed in, as keyed hashes: failed logins from elsewhere do not lock owners out there
places = Table(
    "places",
    meta_data,
    Column("owner_id", BigInteger, ForeignKey("owners.id"), primary_key=True, autoincrement=False),
    Column("hidden", Text, primary_key=True),
    float_column("seen"),
)

leaders = Table(
    "leaders", meta_data, Column("name", Text, primary_key=True), text_column("holder"), float_column("until")
)
snapshots = Table(
    "snapshots",
    meta_data,
    primary_key_id_column(autoincrement=True),
    float_column("at"),
    Column("last_answer", BigInteger),
    text_column("body"),
)
OPEN_END = 1 << 62  # the `until` of soft labels that are valid now
# one valid row per task except practice; a new row ends the former one, so that a list keeps its order while it is read
soft_labels = Table(
    "beliefs",
    meta_data,
    Column("task_id", BigInteger, ForeignKey("tasks.id"), primary_key=True, autoincrement=False),
    Column("since", BigInteger, primary_key=True, autoincrement=False),  # the first snapshot in which it is valid, or 0
    Column("until", BigInteger, nullable=False),  # the first snapshot in which it is no longer valid
    int_column("n"),  # answers it is computed from
    float_column("sure"),
    text_column("soft"),
    text_column("truth", server_default="[]"),
    Index("ix_beliefs_sure", "sure", "task_id"),
    Index("ix_beliefs_n", "n", "task_id"),
    Index("ix_beliefs_until", "until"),
)
standings = Table(  # badness of workers by each score in the latest snapshot, higher is worse
    "standings",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    int_column("n"),
    float_column("seconds", nullable=True),
    int_column("flags"),
    float_column("seen"),
    float_column("agreement_with_rest", nullable=True),  # 1 - agreement
    float_column("repeat_consistency", nullable=True),  # 1 - consistency: share of repeats with another label
    Column("repeats", Integer, nullable=False, server_default="0"),  # of which the share is: both answers name a label
    float_column("too_fast", nullable=True),
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
    text_column("flags"),
)
audit = Table(
    "audit",
    meta_data,
    primary_key_id_column(autoincrement=True),
    float_column("at"),
    text_column("who"),
    text_column("what"),
    text_column("detail"),
)
exclusions = (
    Table(  # excluded workers and the rule; lifted exclusions stay, so that no rule excludes these workers again
        "exclusions",
        meta_data,
        primary_key_id_column(autoincrement=True),
        foreign_key_column("workers"),
        text_column("rule"),
        text_column("reason"),
        float_column("at"),
        float_column("lifted", nullable=True),
        Index("ix_exclusions_worker_id", "worker_id"),
    )
)
pay = Table(
    "pay",
    meta_data,
    Column("worker_id", BigInteger, ForeignKey("workers.id"), primary_key=True, autoincrement=False),
    text_column("line"),
)
report_jobs = Table(  # at most one for each question; it is deleted when its page is stored
    "report_jobs",
    meta_data,
    Column("question", Text, primary_key=True),  # truth, people
    text_column("asked_by"),
    float_column("asked"),
    text_column("maker", nullable=True),  # the process that makes it
    float_column("begun", nullable=True),
    float_column("until", nullable=True),  # when the lease of its process ends
    int_column("tries"),
    int_column("step"),
    int_column("steps"),
    text_column("failure"),  # what failed and what to do; empty unless it failed
)
report_pages = Table(
    "report_pages",
    meta_data,
    Column("question", Text, primary_key=True),
    float_column("made"),
    float_column("read_at"),  # when its votes were read
    int_column("answers"),
    int_column("people"),
    int_column("excluded"),  # people whose answers are left out
    Column("last_answer", BigInteger, nullable=False),  # the highest id of an answer at that time
    int_column("recounted"),  # see `count_exclusions_plus_reinstatements`, at that time
    Column("page", LargeBinary, nullable=False),  # HTML, compressed by gzip
)
