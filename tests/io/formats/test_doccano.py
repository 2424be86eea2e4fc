"""doccano exports of classifications."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.io import Dataset, read
from plurivox.io.formats import find_reader_module_of_records


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


ALICE = lines(
    {"id": 1, "text": "Great price.", "label": ["positive"], "source": "web", "Comments": []},
    {"id": 2, "text": "Hm.", "label": [], "source": "web", "Comments": ["unsure"]},
)
BO = lines(
    {"id": 1, "text": "Great price.", "label": ["negative", "positive"], "source": "web", "Comments": []},
    {"id": 2, "text": "Hm.", "label": ["negative"], "source": "web", "Comments": []},
)


def read_noting(path: Path, **how: Any) -> tuple[Dataset, list[str]]:
    with pytest.warns(UserWarning) as told:
        return read(path, **how), [str(one.message) for one in told]


@pytest.mark.parametrize("packed", [False, True])
def test_one_file_per_annotator_names_the_workers(tmp_path: Path, packed: bool) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for name, text in (("alice", ALICE), ("bo", BO), ("cy", "")):  # cy is a member who annotated nothing
        (folder / f"{name}.jsonl").write_text(text)
    if packed:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            for file in sorted(folder.iterdir()):
                archive.write(file, file.name)
    data, notes = read_noting(tmp_path / "export.zip" if packed else folder)
    assert data.votes is not None and data.votes.workers.tolist() == ["alice", "bo"]
    assert data.votes.labels.tolist() == ["negative", "positive"] and data.votes.counts().tolist() == [
        [0.5, 1.5],
        [1, 0],
    ]
    assert data.items is not None and data.items.to_dicts()[0] == {"task": 1, "text": "Great price.", "source": "web"}
    assert notes == [
        "1 record has no label and was dropped",
        "1 record has several labels, in equal shares",
    ]


def test_a_single_file_has_votes_without_workers_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "all.jsonl").write_text(
        lines(
            {"id": 1, "text": "A", "label": ["positive"]},
            {"id": 2, "text": "B", "label": ["negative", "positive"]},
        )
    )
    data, notes = read_noting(tmp_path / "all.jsonl")
    assert notes[0].startswith("all.jsonl does not say who chose a label")
    assert data.votes is not None and data.votes.n_workers == 0 and data.votes.counts().tolist() == [[0, 1], [0.5, 0.5]]


def test_annotations_of_older_versions_name_users(tmp_path: Path) -> None:
    given = [{"label": 1, "user": 2, "created_at": "2019-03-01T10:00:00Z"}, {"label": 5, "user": 3}]
    (tmp_path / "old.json").write_text(json.dumps([{"id": 1, "text": "A", "annotations": given, "meta": {"page": 4}}]))
    with pytest.warns(UserWarning, match="numbers of labels"):
        data = read(tmp_path / "old.json")
    assert data.votes is not None and data.votes.workers.tolist() == [2, 3] and data.votes.labels.tolist() == [1, 5]
    assert data.items is not None and data.items["page"].to_list() == [4]


def test_tables_of_several_annotators_per_text_are_not_doccano() -> None:
    lists = [{"id": 1, "text": "A", "label": ["a", "b"]}, {"id": 2, "text": "B", "label": ["b", "b"]}]
    assert find_reader_module_of_records(lists) is None
    spans = [{"id": 1, "text": "EU rejects", "label": [[0, 2, "ORG"]], "Comments": []}]
    assert find_reader_module_of_records(spans) is None


def test_other_zip_files_and_options_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="not an export of doccano"):
        read(tmp_path / "a.zip")
    (tmp_path / "alice.jsonl").write_text(ALICE)
    with pytest.raises(InputError, match="leave out worker="):
        read(tmp_path / "alice.jsonl", worker="user_name")
