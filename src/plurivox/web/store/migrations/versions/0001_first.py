"""Create the first version of the tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the first version of the tables."""
    op.create_table(
        "facts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_facts")),
    )
    op.create_table(
        "invites",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("is_open", sa.Integer(), nullable=False),
        sa.Column("born", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invites")),
    )
    op.create_table(
        "leaders",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leaders")),
    )
    op.create_table(
        "media",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.Column("shown_type", sa.Text(), nullable=False),
        sa.Column("shown", sa.LargeBinary(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media")),
    )
    op.create_table(
        "owners",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owners")),
        sa.UniqueConstraint("name", name=op.f("uq_owners_name")),
    )
    op.create_table(
        "plans",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("given", sa.Integer(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=True),
        sa.Column("rank", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
        sa.UniqueConstraint("name", name=op.f("uq_plans_name")),
    )
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.create_index("ix_plans_queue", ["queue", "given", "rank"], unique=False)

    op.create_table(
        "snapshots",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("last_answer", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("door", sa.Text(), nullable=True),
        sa.Column("born", sa.Float(precision=53), nullable=False),
        sa.Column("seen", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
        sa.UniqueConstraint("door", name=op.f("uq_workers_door")),
        sa.UniqueConstraint("pseudonym", name=op.f("uq_workers_pseudonym")),
    )
    op.create_table(
        "raw_ids",
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("study", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_raw_ids_worker_id")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_raw_ids")),
        sa.UniqueConstraint("platform", "raw", name=op.f("uq_raw_ids_platform_raw")),
    )
    op.create_table(
        "sessions",
        sa.Column("hidden", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_sessions_owner_id")),
        sa.PrimaryKeyConstraint("hidden", name=op.f("pk_sessions")),
    )
    op.create_table(
        "sittings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.BigInteger(), nullable=True),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Float(precision=53), nullable=False),
        sa.Column("until", sa.Float(precision=53), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name=op.f("fk_sittings_plan_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_sittings_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sittings")),
        sa.UniqueConstraint("worker_id", "number", name=op.f("uq_sittings_worker_id_number")),
    )
    with op.batch_alter_table("sittings", schema=None) as batch_op:
        batch_op.create_index("ix_sittings_until", ["until"], unique=False)

    op.create_table(
        "tasks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("text2", sa.Text(), nullable=True),
        sa.Column("media_id", sa.BigInteger(), nullable=True),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("practice", sa.Integer(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("given", sa.Integer(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=True),
        sa.Column("rank", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["media_id"], ["media.id"], name=op.f("fk_tasks_media_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("name", name=op.f("uq_tasks_name")),
    )
    with op.batch_alter_table("tasks", schema=None) as batch_op:
        batch_op.create_index("ix_tasks_queue", ["queue", "given", "rank"], unique=False)

    op.create_table(
        "visits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("ms", sa.Float(precision=53), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_visits_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visits")),
    )
    with op.batch_alter_table("visits", schema=None) as batch_op:
        batch_op.create_index("ix_visits_worker_id", ["worker_id"], unique=False)

    op.create_table(
        "beliefs",
        sa.Column("task_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entropy", sa.Float(precision=53), nullable=False),
        sa.Column("soft", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_beliefs_task_id")),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_beliefs")),
    )
    with op.batch_alter_table("beliefs", schema=None) as batch_op:
        batch_op.create_index("ix_beliefs_entropy", ["entropy"], unique=False)

    op.create_table(
        "plan_tasks",
        sa.Column("plan_id", sa.BigInteger(), nullable=False),
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name=op.f("fk_plan_tasks_plan_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_plan_tasks_task_id")),
        sa.PrimaryKeyConstraint("plan_id", "task_id", name=op.f("pk_plan_tasks")),
    )
    op.create_table(
        "slots",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("sitting_id", sa.BigInteger(), nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("repeat_of", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("answer_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["repeat_of"], ["slots.id"], name=op.f("fk_slots_repeat_of")),
        sa.ForeignKeyConstraint(["sitting_id"], ["sittings.id"], name=op.f("fk_slots_sitting_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_slots_task_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_slots_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slots")),
        sa.UniqueConstraint("task_id", "number", name=op.f("uq_slots_task_id_number")),
    )
    with op.batch_alter_table("slots", schema=None) as batch_op:
        batch_op.create_index("ix_slots_sitting_id_position", ["sitting_id", "position"], unique=False)
        batch_op.create_index("ix_slots_worker_id_task_id", ["worker_id", "task_id"], unique=False)

    op.create_table(
        "answers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("worker_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("slot_id", sa.BigInteger(), nullable=False),
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.Float(precision=53), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("marks", sa.Text(), nullable=False),
        sa.Column("abstain", sa.Integer(), nullable=False),
        sa.Column("none_of_these", sa.Integer(), nullable=False),
        sa.Column("extra", sa.Integer(), nullable=False),
        sa.Column("replaces", sa.BigInteger(), nullable=True),
        sa.Column("shown_at", sa.Float(precision=53), nullable=True),
        sa.Column("first_input_ms", sa.Float(precision=53), nullable=True),
        sa.Column("submitted_ms", sa.Float(precision=53), nullable=True),
        sa.Column("hidden_ms", sa.Float(precision=53), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("label_order", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["slot_id"], ["slots.id"], name=op.f("fk_answers_slot_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_answers_task_id")),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_answers_worker_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("worker_id", "key", name=op.f("uq_answers_worker_id_key")),
    )
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.create_index("ix_answers_task_id", ["task_id"], unique=False)
