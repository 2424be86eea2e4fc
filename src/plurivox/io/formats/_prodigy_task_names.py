"""Names of the inputs that were annotated in Prodigy: an id, the text itself, or Prodigy's hash of the input."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few

INPUT_HASH = "_input_hash"  # the same input has the same hash, whoever annotates it
ID_FIELDS = ("id", "text_id", "doc_id", "document_id", "item_id")  # of the record or its meta
SHOWN_FIELDS = ("text", "image", "html", "audio", "video")
MAX_NAME_LENGTH = 100  # a longer text is not a good name: the hash is used
NOT_SHOWN = frozenset(
    {
        *(
            "answer",
            "accept",
            "reject",
            "options",
            "label",
            "cats",
            "tokens",
            "spans",
            "relations",
            "audio_spans",
            "mapping",
        ),
        *("config", "score", "priority", "versions", "sessions", "view_id", "flagged", "meta"),
    }
)


def content_of_record(record: dict[str, Any], name: str | None = None) -> Any:
    """Return what was shown: the fields that are not Prodigy's own and those of `meta`; or the field `name`, None if absent."""
    meta: dict[str, Any] = record["meta"] if isinstance(record.get("meta"), dict) else {}
    if name is not None:
        return record.get(name, meta.get(name))
    own = {key: value for key, value in record.items() if key not in NOT_SHOWN and not key.startswith("_")}
    return {**own, **{key if key not in own else f"meta.{key}": value for key, value in meta.items()}}


def names_of_inputs(
    records: Sequence[dict[str, Any]], field: str | None, where: str | Path
) -> tuple[list[Any], str | None]:
    """Return the name of the input of each record, and a note if it is not an id.

    The name is the field `field` if given; else an id of the record or its `meta`, or a short text, if it distinguishes inputs
    as `_input_hash` does; else `_input_hash`.
    """
    if field is not None:
        names = [content_of_record(record, field) for record in records]
        if missing := [i + 1 for i, name in enumerate(names) if not isinstance(name, str | int)]:
            known = [*content_of_record(records[missing[0] - 1]), *(key for key in records[0] if key.startswith("_"))]
            raise InputError(
                f"{where} has no field {field!r} (task) in record {missing[0]}; it has {first_few(known, 12)}"
            )
        return names, None
    hashes = [record.get(INPUT_HASH) for record in records]
    for one in ID_FIELDS:
        names = [content_of_record(record, one) for record in records]
        if _are_names_of_inputs(names, hashes):
            return names, None
    for one in SHOWN_FIELDS:
        names = [record.get(one) for record in records]
        short = all(isinstance(name, str) and 0 < len(name) <= MAX_NAME_LENGTH for name in names)
        if short and _are_names_of_inputs(names, hashes):
            return (
                names,
                f"tasks are named by {one!r} (another field, such as {INPUT_HASH}: task=..., --task)",
            )
    if None in hashes:
        names = [next((record[one] for one in SHOWN_FIELDS if record.get(one)), None) for record in records]
        if None in names:
            raise InputError(
                f"{where} has a record without {INPUT_HASH} and without text; name the field of tasks: task=... (--task FIELD)"
            )
        return names, f"tasks are named by what was shown (another field: task=..., --task); {INPUT_HASH} is missing"
    return hashes, f"tasks are named by {INPUT_HASH}; the items have what was shown (another field: task=..., --task)"


def _are_names_of_inputs(names: Sequence[Any], hashes: Sequence[Any]) -> bool:
    """Return whether all names are given, and two records have the same name if and only if they have the same hash."""
    if not all(isinstance(name, str | int) and name != "" for name in names):
        return False
    known = set(zip(names, hashes, strict=True))
    distinct_hashes = len(set(hashes)) if None not in hashes else len(set(names))
    return len(set(names)) == distinct_hashes == len(known)
