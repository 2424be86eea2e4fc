"""Shorthands for the columns of the database tables."""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, Text

AutoincrementId = BigInteger().with_variant(Integer, "sqlite")  # SQLite increments an INTEGER PRIMARY KEY


def primary_key_id_column(autoincrement: bool = False) -> Column[int]:
    """Return the primary key column `id`, with random ids set by the program, or incremented by the database."""
    return Column("id", AutoincrementId, primary_key=True, autoincrement=autoincrement)


def foreign_key_column(referenced_table: str, column_name: str | None = None, *, nullable: bool = False) -> Column[int]:
    """Return a column that references the id of another table, named like `task_id` unless a name is given."""
    return Column(
        column_name or f"{referenced_table.rstrip('s')}_id",
        BigInteger,
        ForeignKey(f"{referenced_table}.id"),
        nullable=nullable,
    )


def text_column(column_name: str, *, nullable: bool = False, **options: object) -> Column[str]:
    """Return a text column, NOT NULL unless `nullable`."""
    return Column(column_name, Text, nullable=nullable, **options)  # type: ignore[arg-type]


def int_column(column_name: str, *, nullable: bool = False) -> Column[int]:
    """Return an integer column, NOT NULL unless `nullable`."""
    return Column(column_name, Integer, nullable=nullable)


def float_column(column_name: str, *, nullable: bool = False) -> Column[float]:
    """Return a double-precision column, NOT NULL unless `nullable`."""
    return Column(column_name, Float(53), nullable=nullable)
