"""Exports of Labelbox (NDJSON)."""

import json
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.io import read


def option(name: str, *nested: dict[str, Any]) -> dict[str, Any]:
    value = name.lower().replace(" / ", "_")
    return {"feature_id": "f", "feature_schema_id": "s", "name": name, "value": value, "classifications": [*nested]}


def radio(name: str, chosen: dict[str, Any]) -> dict[str, Any]:
    return {"feature_id": "f", "feature_schema_id": "s", "name": name, "value": name.lower(), "radio_answer": chosen}


def checklist(name: str, *chosen: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "value": name.lower(), "checklist_answers": [*chosen]}


def by(worker: str, *classifications: dict[str, Any], objects: int = 0, **performance: Any) -> dict[str, Any]:
    return {
        "label_kind": "Default",
        "label_details": {"created_at": "2024-04-02T09:07:00.000+00:00", "created_by": worker, "reviews": []},
        "performance_details": {"seconds_to_create": 13, "skipped": False, **performance},
        "annotations": {"objects": [{}] * objects, "classifications": [*classifications], "relationships": []},
    }


def export(path: Path, *labels_of_rows: list[dict[str, Any]]) -> Path:
    rows = [
        {
            "data_row": {"id": f"cl{n}", "global_key": f"{n}.jpg", "row_data": f"https://x.org/{n}.jpg"},
            "media_attributes": {"height": 720},
            "metadata_fields": [{"schema_name": "city", "value": "Rome"}],
            "projects": {"cl5w": {"name": "Weather", "labels": labels}},
        }
        for n, labels in enumerate(labels_of_rows, 1)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_radio_answers_become_votes_and_benchmarks_gold(tmp_path: Path) -> None:
    snow, sunny = radio("Weather", option("Snow / ice")), radio("Weather", option("Sunny"))
    path = export(
        tmp_path / "Export project - 4_9_2024.ndjson",
        [
            by("ann@x.org", snow),
            by("bo@x.org", sunny, objects=2),
            by("lead@x.org", snow, benchmark_reference_label=True),
        ],
        [by("ann@x.org", sunny), by("bo@x.org", skipped=True), by("cy@x.org", {"name": "Why", "text_answer": {}})],
        [],
    )
    with pytest.warns(UserWarning) as told:
        data = read(path)
    votes = data.crowd()
    assert votes.tasks.tolist() == ["1.jpg", "2.jpg", "3.jpg"] and votes.workers.tolist() == ["ann@x.org", "bo@x.org"]
    assert votes.labels.tolist() == ["Snow / ice", "Sunny"] and votes.counts().tolist() == [[1, 1], [0, 1], [0, 0]]
    assert votes.seconds is not None and votes.seconds[0] == 13 and votes.when is not None
    assert (
        data.gold is not None and data.gold.tasks.tolist() == ["1.jpg"] and data.gold.hard().tolist() == ["Snow / ice"]
    )
    assert data.items is not None and data.items.to_dicts()[0] == {
        "task": "1.jpg", "global_key": "1.jpg", "id": "cl1", "row_data": "https://x.org/1.jpg", "city": "Rome"
    }  # fmt: skip
    assert [str(one.message) for one in told] == [
        "tasks are named by global_key; task='id' (--task id) names another",
        "1 benchmark label is gold, not a vote",
        "1 skipped label is not a vote",
        "1 label has no answer to 'Weather'",
        "2 boxes or text spans were left out",
        "1 text answer was left out",
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checklists_and_nested_questions(tmp_path: Path) -> None:
    kind = radio("Kind", option("Fog"))
    path = export(tmp_path / "a.ndjson", [by("ann", radio("Weather", option("Grey", kind))), by("bo", kind)])
    with pytest.raises(
        InputError, match=r"classifications 'Kind', 'Weather', 'Weather/Kind'; select one: label='Kind'"
    ):
        read(path)
    assert read(path, label="Weather/Kind", task="id").crowd().labels.tolist() == ["Fog"]
    path = export(tmp_path / "b.ndjson", [by("ann", checklist("Seen", option("Cat"), option("Dog", kind)))])
    votes = read(path).crowd()  # the question that follows an answer is not the main one
    assert votes.n_answers == 1 and votes.counts().tolist() == [[0.5, 0.5]]


def test_boxes_alone_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no answers that can be read as votes; it has 3 boxes"):
        read(export(tmp_path / "a.ndjson", [by("ann", objects=3)]))
