"""Soft labels as Label Studio predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import convert, write_label_studio_predictions, write_soft

SOFT = SoftLabels.of([[0.75, 0.25], [0.1, 0.9]], ["11", "12"], ["cat", "dog"])


def export(path: Path, *ids: int, kind: str = "choices", value: dict[str, Any] | None = None, **more: Any) -> Path:
    result = {"from_name": "animal", "to_name": "img", "type": kind, "value": value or {"choices": ["cat"]}, **more}
    annotations = [{"completed_by": 3, "result": [result], "was_cancelled": False}]
    tasks = [{"id": one, "data": {"image": f"{one}.png"}, "annotations": annotations} for one in ids]
    path.write_text(json.dumps(tasks))
    return path


def test_soft_labels_become_predictions_for_the_tasks_of_the_export(tmp_path: Path) -> None:
    out, soft = tmp_path / "predictions.json", tmp_path / "soft.csv"
    write_soft(SOFT, soft)
    with pytest.warns(PlurivoxWarning, match=r"1 task of .*export.json has no soft label"):
        convert(soft, out, form="label-studio", items=export(tmp_path / "export.json", 11, 12, 13))
    first = json.loads(out.read_text())[0]
    assert (first["id"], first["data"]) == (11, {"image": "11.png"})
    [prediction] = first["predictions"]
    [result] = prediction["result"]
    assert (prediction["model_version"], prediction["score"]) == ("plurivox", 0.75)
    assert (result["from_name"], result["to_name"], result["type"]) == ("animal", "img", "choices")
    assert result["value"] == {"choices": ["cat"]} and result["meta"] == {"probabilities": {"cat": 0.75, "dog": 0.25}}
    assert len({task["predictions"][0]["result"][0]["id"] for task in json.loads(out.read_text())}) == 2


def test_tasks_named_by_a_data_field_are_found(tmp_path: Path) -> None:
    soft = SoftLabels.of([[1.0, 0.0]], ["12.png"], ["cat", "dog"])
    with pytest.warns(PlurivoxWarning):
        write_label_studio_predictions(soft, tmp_path / "p.json", items=export(tmp_path / "e.json", 11, 12))
    assert [task["id"] for task in json.loads((tmp_path / "p.json").read_text())] == [12]


@pytest.mark.parametrize(
    ("kind", "given", "label", "written"),
    [
        ("rating", {"rating": 3}, "4", {"rating": 4}),
        ("taxonomy", {"taxonomy": [["Animal", "Cat"]]}, "Animal/Dog", {"taxonomy": [["Animal", "Dog"]]}),
        ("pairwise", {"selected": "left"}, "right", {"selected": "right"}),
    ],
)
def test_a_label_has_the_form_of_its_control(
    tmp_path: Path, kind: str, given: dict[str, Any], label: str, written: dict[str, Any]
) -> None:
    out = tmp_path / "p.json"
    soft = SoftLabels.of([[1.0]], ["11"], [label])
    write_label_studio_predictions(soft, out, items=export(tmp_path / "e.json", 11, kind=kind, value=given))
    assert json.loads(out.read_text())[0]["predictions"][0]["result"][0]["value"] == written


def test_items_of_a_task_are_results_of_one_prediction(tmp_path: Path) -> None:
    soft = SoftLabels.of([[1.0, 0.0], [0.5, 0.5]], ["11/0", "11/1"], ["cat", "dog"])
    write_label_studio_predictions(soft, tmp_path / "p.json", items=export(tmp_path / "e.json", 11, item_index=0))
    [task] = json.loads((tmp_path / "p.json").read_text())
    [prediction] = task["predictions"]
    assert prediction["score"] == 0.75 and [one["item_index"] for one in prediction["result"]] == [0, 1]


def test_without_an_export_the_names_of_the_tags_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--items export.json.*--from-name sentiment --to-name text"):
        write_label_studio_predictions(SOFT, tmp_path / "p.json")
    write_label_studio_predictions(SOFT, tmp_path / "p.json", from_name="animal", to_name="text")
    assert json.loads((tmp_path / "p.json").read_text())[1]["data"] == {"text": "12"}


def test_other_inputs_are_refused(tmp_path: Path) -> None:
    items, soft = export(tmp_path / "e.json", 99), tmp_path / "soft.csv"
    write_soft(SOFT, soft)
    with pytest.raises(InputError, match="no task of the soft labels is in"):
        convert(soft, tmp_path / "p.json", form="label-studio", items=items)
    with pytest.raises(InputError, match="has no soft labels to write as predictions"):
        convert(items, tmp_path / "p.json", form="label-studio", items=items)
    with pytest.raises(InputError, match="overwrite the input"):
        convert(soft, items, form="label-studio", items=items)
    with pytest.raises(InputError, match="--form label-studio"):
        convert(soft, tmp_path / "soft.parquet", items=items)
