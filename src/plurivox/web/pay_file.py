"""The pay sheet as a file: by pseudonym to read, or by the platform's ids to upload there."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from plurivox.core.errors import InputError
from plurivox.core.files import whole_file
from plurivox.web.exporting import inert
from plurivox.web.paying import sheet, total_of
from plurivox.web.store.paying import platform_ids
from plurivox.web.study import Study

COLUMNS = ("worker", "answers", "active_minutes", "total_minutes", "matched", "compared", "base", "bonus", "total")


def write_pay(engine: Engine, study: Study, out: Path, with_ids: bool = False) -> dict[str, Any]:
    """Write the sheet; how many people and how much. With ids it is `id,amount` a line, of bonuses above zero: what
    Prolific's bulk bonus takes; what is paid for taking part is paid there by approving."""
    if not study.pay.says_something:
        raise InputError("the study pays nothing; say what in [pay] of its study.toml, such as per_hour = 8")
    with engine.connect() as connection:
        lines = sheet(connection, study)
        ids = platform_ids(connection) if with_ids else {}
    told = {"people": len(lines), "total": str(total_of(lines.values())), "currency": study.pay.currency}
    rows = _bonuses(lines, ids, told) if with_ids else _lines(lines, study.pay.currency)
    with whole_file(out) as part:
        if with_ids:
            part.chmod(0o600)
        with part.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows(rows)
    if with_ids and out.is_file():
        out.chmod(0o600)  # it leads back to people
    return told


def _lines(lines: dict[int, dict[str, Any]], currency: str) -> list[Sequence[Any]]:
    head = (*COLUMNS, "currency", "reasons")
    rows = sorted(lines.values(), key=lambda line: str(line["worker"]))
    return [
        head,
        *((*(line[name] for name in COLUMNS), inert(currency), inert("; ".join(line["reasons"]))) for line in rows),
    ]


def _bonuses(
    lines: dict[int, dict[str, Any]], ids: dict[int, tuple[str, str]], told: dict[str, Any]
) -> list[Sequence[Any]]:
    platforms = {platform for worker, (platform, _) in ids.items() if worker in lines}
    if len(platforms) > 1:
        raise InputError(f"people came from {' and '.join(sorted(platforms))}; one file cannot go to both")
    told["without_id"] = sum(worker not in ids for worker in lines)
    paid = [(inert(ids[worker][1]), line["bonus"]) for worker, line in lines.items() if worker in ids]
    return [*sorted(pair for pair in paid if float(pair[1]) > 0)]
