"""convert: the parts that are written, warnings about the others, and files that are never overwritten."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io import convert, dataset_catalog, read
from plurivox.io.dataset_folder_and_overwrite_checks import check_replaceable
from plurivox.io.tabular import table_files
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES

TOY = dataset_catalog.BUNDLED / "toy"


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """Return the folder of a data set with votes on one task and counts on two."""
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (folder / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    return folder


def test_every_table_suffix_has_a_writer() -> None:
    assert {one.removesuffix(".gz") for one in TABLE_SUFFIXES} == set(table_files.WRITERS)


def test_a_folder_with_other_files_is_never_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    shutil.copytree(TOY, folder)
    (folder / "sub").mkdir()
    for name in ("diary.txt", ".hidden", "thesis.doc"):
        (folder / name).write_text("dear")
    with pytest.raises(InputError, match=r"'.hidden', 'diary.txt', 'sub' and 1 more"):
        convert(TOY, folder, replace=True)
    assert (folder / "diary.txt").read_text() == "dear" and (folder / "sub").is_dir()


@pytest.mark.parametrize(
    ("files", "fine"),
    [
        ((), True),
        (("votes.parquet", "dataset.toml", "features.npz", "senses.csv.gz"), True),
        (("answers.json", "metadata.json", "names.json", "train/cat/a-0.png", "val/cat/b-1.jpg"), True),
        (("answers.json", "metadata.json", "train/cat/notes.txt"), False),
        (("votes.csv", "train/cat/a-0.png"), False),
        (("votes.csv", "README.md"), False),
        (("summer.csv", "budget.csv"), False),
    ],
)
def test_only_data_sets_are_overwritten(tmp_path: Path, files: tuple[str, ...], fine: bool) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    if fine:
        check_replaceable(folder)
    else:
        with pytest.raises(InputError, match="is not overwritten"):
            check_replaceable(folder)


def test_links_and_the_current_folder_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TOY, tmp_path / "toy")
    (tmp_path / "link").symlink_to(tmp_path / "toy")
    with pytest.raises(InputError, match="is a symbolic link to"):
        check_replaceable(tmp_path / "link")
    monkeypatch.chdir(tmp_path / "toy")
    for here in (".", tmp_path / "toy", ".."):
        with pytest.raises(InputError, match="is the current folder"):
            check_replaceable(here)


def test_the_input_is_not_overwritten(tmp_path: Path) -> None:
    shutil.copytree(TOY, tmp_path / "toy")
    for source, target in (("toy", "toy"), ("toy/votes.csv", "toy"), ("toy", "toy/votes.csv"), ("toy", "toy/../toy")):
        with pytest.raises(InputError, match="would overwrite the input"):
            convert(tmp_path / source, tmp_path / target, replace=True)
    assert read(tmp_path / "toy").crowd().n_tasks == 300


def test_a_data_set_is_overwritten_in_either_format(tmp_path: Path) -> None:
    with pytest.warns(PlurivoxWarning):
        convert(TOY, tmp_path / "out", form="peerannot")
    convert(TOY, tmp_path / "out", replace=True)
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["dataset.toml", "gold.parquet", "votes.parquet"]


def test_parts_that_are_not_written_are_warned_about(tmp_path: Path) -> None:
    with pytest.warns(PlurivoxWarning, match=r"toy.csv contains only the votes; not written: gold \(write a folder"):
        convert(TOY, tmp_path / "toy.csv")
    with pytest.warns(PlurivoxWarning) as told:
        convert(TOY, tmp_path / "theirs", form="peerannot")
    assert any("not written: gold (the format plurivox keeps them)" in str(one.message) for one in told)


def test_a_folder_format_is_an_error_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"peerannot is a folder, but x.csv is a file"):
        convert(TOY, tmp_path / "x.csv", form="peerannot")
    assert not list(tmp_path.iterdir())


def test_part_selects_votes_or_counts(both: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"both has counts; select its votes .* \(--part votes\)"):
        convert(both, tmp_path / "theirs", form="peerannot")
    with pytest.warns(PlurivoxWarning, match="names.json contains"):
        convert(both, tmp_path / "theirs", form="peerannot", part="votes")
    assert read(tmp_path / "theirs").crowd().n_tasks == 1
    convert(both, tmp_path / "counts.csv", part="counts")
    np.testing.assert_array_equal(read(tmp_path / "counts.csv").counts.counts(), [[5, 1], [2, 4]])
    assert convert(both, tmp_path / "votes", part="votes").parts() == read(tmp_path / "votes").parts() == ["votes"]
    with pytest.raises(InputError, match="toy has no counts"):
        convert(TOY, tmp_path / "none.csv", part="counts")
