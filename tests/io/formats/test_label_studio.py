"""Label Studio exports."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.votes import Votes
from plurivox.io.formats import FieldNames, ForeignContents, find_reader_module_of_records, label_studio
from plurivox.io.tabular.read_csv_and_json import read_json


def choice(*labels: str, control: str = "animal", **more: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "img", "type": "choices", "value": {"choices": [*labels]}, **more}


def stars(number: int) -> dict[str, Any]:
    return {"from_name": "stars", "to_name": "img", "type": "rating", "value": {"rating": number}}


def by(worker: object, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"completed_by": worker, "result": [*results], "was_cancelled": False, "lead_time": None, **more}


def task(number: int, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": number, "data": {"image": f"{number}.png"}, "annotations": [*annotations], **more}


def export(path: Path, *tasks: Any) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def read(path: Path, **names: Any) -> ForeignContents:
    return label_studio.read_records(read_json(path), path, FieldNames(**names))


def rows(votes: Votes | None) -> list[tuple[object, ...]]:
    assert votes is not None
    return list(zip(*(votes.columns()[name].tolist() for name in ("task", "worker", "label")), strict=True))


def test_choices_become_votes(tmp_path: Path) -> None:
    path = export(
        tmp_path / "project.json",
        task(
            11,
            by(3, choice("cat"), lead_time=4.5, created_at="2021-03-09T22:16:08.500000Z"),
            by({"id": 4, "email": "bo@x.org"}, choice("dog"), created_at="2021-03-09T23:16:08+01:00"),
        ),
        task(7, by(3, choice("dog"))),
        task(9),
    )
    assert label_studio.recognises(read_json(path))
    found = read(path)
    assert rows(found.votes) == [(7, 3, "dog"), (11, 3, "cat"), (11, 4, "dog")]
    assert found.votes is not None and found.votes.tasks.tolist() == [7, 9, 11] and found.votes.weight is None
    assert found.votes.seconds is not None and found.votes.when is not None
    np.testing.assert_equal(found.votes.seconds, np.array([np.nan, 4.5, np.nan], np.float32))
    np.testing.assert_equal(found.votes.when, [np.nan, 1615328168.5, 1615328168.0])
    assert found.items is not None and found.items.to_dict(as_series=False) == {
        "task": [11, 7, 9],
        "image": ["11.png", "7.png", "9.png"],
    }
    assert (found.name, found.notes, found.gold) == ("project", (), None)


def test_a_time_without_a_zone_is_read_as_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = export(tmp_path / "a.json", task(1, by(3, choice("cat"), created_at="1970-01-01T00:00:07")))
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        votes = read(path).votes
    time.tzset()
    assert votes is not None and votes.when is not None and votes.when.tolist() == [7]


def test_several_choices_are_one_soft_answer(tmp_path: Path) -> None:
    path = export(tmp_path / "a.json", task(1, by(3, choice("cat", "dog", "cat")), by(4, choice("cat"))))
    found = read(path)
    assert found.votes is not None and found.votes.counts().tolist() == [[1.5, 0.5]] and found.votes.n_answers == 2
    assert found.notes == ("1 annotation has several labels, in equal shares",)


def test_ratings_are_ordered(tmp_path: Path) -> None:
    votes = read(export(tmp_path / "a.json", task(1, by(3, stars(5)), by(4, stars(2))))).votes
    assert rows(votes) == [(1, 3, 5), (1, 4, 2)]
    assert votes is not None and votes.scale is not None and votes.scale.tolist() == [2, 5]
    votes = read(tmp_path / "a.json", labels=(1, 2, 3, 4, 5)).votes
    assert votes is not None and votes.labels.tolist() == [1, 2, 3, 4, 5]


def test_skipped_records_are_counted_in_notes(tmp_path: Path) -> None:
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["cat"]}}
    path = export(
        tmp_path / "a.json",
        task(
            1,
            by(3, choice("cat"), box, created_at="yesterday"),
            by(4, choice("dog"), was_cancelled=True),
            by(5),
            by(None, choice("dog")),
            by(6, choice("yes", control="sure")),
            predictions=[{"result": []}],
            drafts=[{}],
        ),
        task(2, by(3, choice("cat"), ground_truth=True), by(4, choice("cat", "dog"), ground_truth=True)),
    )
    found = read(path, label="animal")
    assert rows(found.votes) == [(1, None, "dog"), (1, 3, "cat")]
    assert found.gold is not None and found.gold.tasks.tolist() == [2] and found.gold.prob.tolist() == [[0.75, 0.25]]
    assert found.notes == (
        "1 cancelled annotation was skipped",
        "2 annotations have no label for 'animal' and were dropped",
        "2 ground-truth annotations are gold, not votes",
        "1 vote has no worker",
        "1 time could not be read",
        "1 prediction was left out",
        "1 draft was left out",
        "1 answer is neither choices nor ratings ('rectanglelabels') and was left out",
        "1 other control was left out: 'sure'; label='sure' (--label sure) selects it instead",
    )


def test_names_of_tasks_and_workers(tmp_path: Path) -> None:
    people = [by(3, choice("cat")), by({"email": "bo@x.org"}, choice("dog")), by({"id": 3}, choice("cat"))]
    same = [{**task(number, *people[:1]), "data": {"image": "x.png", "meta": {"a": 1}}} for number in (1, 2)]
    votes = read(export(tmp_path / "a.json", task(1, *people))).votes
    assert votes is not None and votes.workers.tolist() == ["3", "bo@x.org"]  # numbers become text if any name is text
    found = read(export(tmp_path / "a.json", *same), task="image")
    assert rows(found.votes) == [("x.png", 3, "cat")] * 2
    assert found.notes == ("1 task shares its name with an earlier one and was merged",)
    assert found.items is not None and found.items["meta"].to_list() == ['{"a": 1}']


def test_gold_alone_leaves_tasks_without_votes(tmp_path: Path) -> None:
    found = read(export(tmp_path / "a.json", task(1, by(3, choice("cat"), ground_truth=True))))
    assert found.votes is not None and len(found.votes) == 0 and found.votes.tasks.tolist() == [1]
    assert found.gold is not None and found.gold.hard().tolist() == ["cat"]


def short(number: int, worker: int, **answers: Any) -> dict[str, Any]:
    ids = {"annotation_id": 90 + worker, "created_at": "2021-03-09T22:16:08Z", "lead_time": 2.0}
    return {"image": f"{number}.png", "id": number, **answers, "annotator": worker, **ids}


def test_the_json_min_export(tmp_path: Path) -> None:
    path = export(
        tmp_path / "a.json", short(1, 3, animal="cat"), short(1, 4, animal={"choices": ["cat", "dog"]}), short(2, 3)
    )
    assert label_studio.recognises(read_json(path))
    found = read(path)
    assert found.votes is not None and found.votes.counts().tolist() == [[1.5, 0.5], [0, 0]]
    assert found.items is not None and found.items["image"].to_list() == ["1.png", "2.png"]
    assert found.notes[0] == "1 annotation has no label for 'animal' and was dropped"
    rated = read(export(path, short(1, 3, stars=[{"rating": 4}]))).votes
    assert rows(rated) == [(1, 3, 4)]
    shuffled = [dict(sorted(record.items())) for record in (short(1, 3, animal="cat"), short(2, 3, animal="dog"))]
    assert rows(read(export(path, *shuffled), label="animal").votes) == [(1, 3, "cat"), (2, 3, "dog")]


ODD: dict[str, tuple[list[Any], str]] = {
    "other records": ([{"task": 1, "label": "cat"}], "not a Label Studio export"),
    "no answers": ([task(1)], "no choices or ratings.*no answers"),
    "boxes alone": ([task(1, by(3, {"type": "brush", "value": {"x": 1}}))], "it has 'brush'"),
    "two controls": (
        [task(1, by(3, choice("cat"), choice("yes", control="sure")))],
        "answers to the controls 'animal', 'sure'; select one: label=",
    ),
    "parts": ([task(1, by(3, choice("cat"), choice("dog")))], "several answers to 'animal' in one annotation"),
    "ids": ([{**task(1), "annotations": [5]}], "annotation ids instead of annotations"),
    "no id": ([{"data": {"text": "x"}, "annotations": []}], "a task without an id; .* 'text'"),
    "kinds": ([task(1, by(3, choice("cat"))), task(2, by(3, stars(1) | {"from_name": "animal"}))], "labels|names mix"),
}


@pytest.mark.parametrize("name", ODD)
def test_files_without_votes_are_errors(tmp_path: Path, name: str) -> None:
    records, words = ODD[name]
    with pytest.raises(InputError, match=words) as caught:
        read(export(tmp_path / "a.json", *records))
    assert "a.json" in str(caught.value)


def test_an_unknown_control_is_an_error(tmp_path: Path) -> None:
    path = export(tmp_path / "a.json", task(1, by(3, choice("cat"))))
    with pytest.raises(InputError, match="no choices or ratings from the control 'animals'; it has 'animal'"):
        read(path, label="animals")
    with pytest.raises(InputError, match="without the field 'text'"):
        read(path, task="text")


@pytest.mark.parametrize("found", [[], {}, [1], [{"a": 1}], {"a": [{"id": 1}]}, [{"annotations": []}], 1, None])
def test_other_files_are_not_recognised(found: object) -> None:
    assert find_reader_module_of_records(found) is None


def result(kind: str, value: dict[str, Any], control: str, **more: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "img", "type": kind, "value": value, **more}


def test_taxonomies_and_pairwise_comparisons_are_labels(tmp_path: Path) -> None:
    dog, cat = ["Animal", "Dog"], ["Animal", "Cat"]
    path = export(
        tmp_path / "a.json",
        task(
            1,
            by(
                3,
                result("taxonomy", {"taxonomy": [dog, cat]}, "kind"),
                result("pairwise", {"selected": "left"}, "better"),
            ),
        ),
        task(
            2,
            by(3, result("taxonomy", {"taxonomy": [dog]}, "kind"), result("ranker", {"ranker": {"best": []}}, "order")),
        ),
    )
    kinds = read(path, label="kind")
    assert kinds.votes is not None and kinds.votes.labels.tolist() == ["Animal/Cat", "Animal/Dog"]
    assert kinds.votes.counts().tolist() == [[0.5, 0.5], [0, 1]]
    assert any("'ranker'" in note for note in kinds.notes)
    assert rows(read(path, label="better").votes) == [(1, 3, "left")]


def test_labels_of_boxes_are_left_out_if_the_task_has_labels_of_its_own(tmp_path: Path) -> None:
    box = {"x": 1, "y": 2, "width": 3, "height": 4}
    marked = result("rectanglelabels", {**box, "rectanglelabels": ["car"]}, "box", id="r1")
    colour = result("choices", {**box, "choices": ["red"]}, "colour", id="r1")
    path = export(tmp_path / "a.json", task(1, by(3, marked, colour, choice("street", control="scene", id="c1"))))
    found = read(path)  # one control labels the task, so that no question is asked
    assert rows(found.votes) == [(1, 3, "street")]
    assert "1 control has labels of regions within a task and was left out: 'colour'" in found.notes
    with pytest.raises(
        InputError, match=r"labels of regions .* the controls 'scene' can: label='scene' \(--label scene\)"
    ):
        read(path, label="colour")


def test_each_item_of_a_task_that_is_labelled_is_a_task(tmp_path: Path) -> None:
    path = export(
        tmp_path / "a.json", task(7, by(3, choice("cat", item_index=0), choice("dog", item_index=1))), task(8)
    )
    found = read(path)
    assert rows(found.votes) == [("7/0", 3, "cat"), ("7/1", 3, "dog")]
    assert found.items is not None and found.items["task"].to_list() == ["7/0", "7/1", "8"]
    assert found.notes[-1].startswith("2 answers are about one item of a task with several")


def test_annotators_are_named_by_a_field_and_keep_their_traits(tmp_path: Path) -> None:
    ann = {"id": 3, "email": "ann@x.org", "first_name": "Ann", "last_name": ""}
    path = export(tmp_path / "a.json", task(1, by(ann, choice("cat"))))
    found = read(path)
    assert found.workers is not None
    assert found.workers.to_dicts() == [{"worker": 3, "email": "ann@x.org", "first_name": "Ann"}]
    assert rows(read(path, worker="email").votes) == [(1, "ann@x.org", "cat")]
    with pytest.raises(InputError, match="no annotator with the field 'nickname'"):
        read(path, worker="nickname")


def test_json_min_comments_are_no_second_question(tmp_path: Path) -> None:
    texts = ["because of the ears", "a guess", "hm", "whiskers", "it is furry", "blurred"]
    path = export(
        tmp_path / "a.json",
        *(short(n // 2, n % 2, animal="cat" if n % 3 else "dog", why=why) for n, why in enumerate(texts)),
    )
    found = read(path)
    assert found.votes is not None and found.votes.labels.tolist() == ["cat", "dog"]
    taxonomy = read(export(path, short(1, 3, kind=[{"taxonomy": [["Animal", "Dog"]]}])))
    assert rows(taxonomy.votes) == [(1, 3, "Animal/Dog")]


def test_the_only_choice_beside_ratings_is_read(tmp_path: Path) -> None:
    path = export(tmp_path / "a.json", task(1, by(3, choice("cat"), stars(5)), by(4, choice("dog"), stars(2))))
    found = read(path)
    assert rows(found.votes) == [(1, 3, "cat"), (1, 4, "dog")]
    assert found.notes == ("1 other control was left out: 'stars'; label='stars' (--label stars) selects it instead",)
    assert rows(read(path, label="stars").votes) == [(1, 3, 5), (1, 4, 2)]
    rare = export(
        tmp_path / "b.json", task(1, *(by(i, stars(i)) for i in (1, 2, 3)), by(4, choice("broken"), stars(2)))
    )
    with pytest.raises(InputError, match=r"select one: label='animal' \(--label animal\)"):  # few chose anything
        read(rare)
