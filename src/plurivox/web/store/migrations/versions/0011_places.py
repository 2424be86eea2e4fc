"""Add a table of addresses from which owners have signed in."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add a table of addresses from which owners have signed in."""
    op.create_table(
        "places",
        sa.Column("owner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hidden", sa.Text(), nullable=False),
        sa.Column("seen", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_places_owner_id")),
        sa.PrimaryKeyConstraint("owner_id", "hidden", name=op.f("pk_places")),
    )
