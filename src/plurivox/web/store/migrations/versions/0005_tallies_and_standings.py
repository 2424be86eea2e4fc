"""Add running counters, soft labels (beliefs) per snapshot and worker scores; sort task names by bytes on PostgreSQL."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"


def upgrade() -> None:
    """Create tallies, standings and beliefs; delete former beliefs and snapshots, which are computed again."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column(
            "tasks", "name", type_=sa.Text(collation="C")
        )  # as in SQLite, so that prefix searches use the index
    op.create_table(
        "tallies",
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("of", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("what", "of", name=op.f("pk_tallies")),
    )
    op.create_table(
        "standings",
        sa.Column("worker_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(precision=53), nullable=True),
        sa.Column("flags", sa.Integer(), nullable=False),
        sa.Column("seen", sa.Float(precision=53), nullable=False),
        sa.Column("agreement_with_rest", sa.Float(precision=53), nullable=True),
        sa.Column("repeat_consistency", sa.Float(precision=53), nullable=True),
        sa.Column("too_fast", sa.Float(precision=53), nullable=True),
        sa.ForeignKeyConstraint(["worker_id"], ["workers.id"], name=op.f("fk_standings_worker_id")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_standings")),
    )
    op.drop_table("beliefs")  # and the snapshots: both are computed again
    op.execute("DELETE FROM snapshots")
    op.create_table(
        "beliefs",
        sa.Column("task_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("sure", sa.Float(precision=53), nullable=False),
        sa.Column("soft", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_beliefs_task_id")),
        sa.PrimaryKeyConstraint("task_id", "since", name=op.f("pk_beliefs")),
    )
    op.create_index("ix_beliefs_sure", "beliefs", ["sure", "task_id"])
    op.create_index("ix_beliefs_n", "beliefs", ["n", "task_id"])
    op.create_index("ix_beliefs_until", "beliefs", ["until"])
    _fill()


def _fill() -> None:
    """Insert beliefs and counters of the existing tasks."""
    op.execute(
        f"INSERT INTO beliefs (task_id, since, until, n, sure, soft) "
        f"SELECT id, 0, {1 << 62}, 0, 1.0, '[]' FROM tasks WHERE practice = 0"
    )
    for what, sum_ in (("tasks", "COUNT(*)"), ("wanted", "SUM(quota)")):
        op.execute(
            f"INSERT INTO tallies (what, of, n) SELECT '{what}', stratum, {sum_} FROM tasks "
            "WHERE practice = 0 GROUP BY stratum"
        )
