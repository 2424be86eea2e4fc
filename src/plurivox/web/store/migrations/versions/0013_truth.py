"""Add the soft labels for truth beside those for people."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add a column for the probability that each label is right; it is empty until the next snapshot is computed."""
    op.add_column("beliefs", sa.Column("truth", sa.Text(), nullable=False, server_default="[]"))
