"""Every noun saves, loads, pickles, turns into frames and shows itself."""

import contextlib
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from crowds import crowd, distributions, soft_crowd, some_answers, some_soft, vote_columns
from plurivox.core.audit import Audit
from plurivox.core.base import HEADER_FILE, DataType
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError
from plurivox.core.results import Confusion, Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table, Tables
from plurivox.core.votes import Votes
from plurivox.workflows.compare_methods import Comparison

CONFUSION = Confusion(np.full((2, 3, 3), 1 / 3), as_names(["ann", "bo"]), as_names(["x", "y", "z"]))
NOUNS: dict[str, DataType] = {
    "votes": Votes.of(**crowd(), ordered=True),
    "soft-votes": soft_crowd(),
    "counts": Votes.from_counts(np.array([[1, 2]]), ["a"], [True, False]),
    "answers": some_answers(),
    "audit": Audit.of(
        ["too-fast", "repeats-once"],
        [
            ("too-fast", "worker", "removed", "ann", "", -1, 7, 0.75, "75% of 7 answers took less than 1 second"),
            ("repeats-once", "answer", "flagged", "bo", "a", 3, 0, np.nan, "answered before: 'x'"),
        ],
    ),
    "soft": some_soft(),
    "sparse": SoftLabels.gold([2, 1], ["x", "y"]),
    "confusion": CONFUSION,
    "fit": Fit(
        some_soft(), as_names(["ann", "bo"]), "vote-shares", confusion=CONFUSION, trace=(-2.0, -1.5), found={"ties": 2}
    ),
    "scores": Scores("worker", as_names(["ann", "bo"]), np.array([0.1, np.nan]), "trace", n=np.array([3, 4])),
    "tables": Tables("both", (Table("one", {"a": [1, 2], "b": ["x", None]}),), "by hand", ("a note",)),
    "dynamics": Dynamics(np.zeros((4, 2, 3), np.float16), as_names(["a", "b"]), as_names(["x", "y", "z"])),
}
every = pytest.mark.parametrize("noun", NOUNS.values(), ids=NOUNS)


def same(a: object, b: object) -> bool:
    """Equal in every field, array by array."""
    if isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray) and a.dtype == b.dtype and not b.flags.writeable
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, DataType):
        return type(a) is type(b) and all(
            same(value, b.__getstate__()[name]) for name, value in a.__getstate__().items()
        )
    if isinstance(a, tuple | dict):
        pairs = zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else zip(a, b, strict=True)
        return type(a) is type(b) and all(same(x, y) for x, y in pairs)
    return a == b


@every
def test_saved_is_loaded_as_it_was(noun: DataType, tmp_path: Path) -> None:
    noun.save(tmp_path / "it.npz")
    assert same(noun, type(noun).load(tmp_path / "it.npz"))
    assert [file.name for file in tmp_path.iterdir()] == ["it.npz"]


@every
def test_pickled_is_unpickled_as_it_was(noun: DataType) -> None:
    assert same(noun, pickle.loads(pickle.dumps(noun)))


@every
def test_files_of_version_one_stay_readable(noun: DataType, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    assert same(noun, DataType.load(Path(__file__).parent / "version_1" / f"{name}.npz"))


@every
def test_frames_hold_every_row(noun: DataType) -> None:
    columns = noun.columns()
    n_rows = len(next(iter(columns.values())))
    for frame in (noun.to_pandas(), noun.to_polars()):
        assert list(frame.columns) == list(columns) and len(frame) == n_rows


@every
def test_every_noun_shows_itself(noun: DataType) -> None:
    assert repr(noun).startswith(f"<{type(noun).__name__}: ")
    html = noun._repr_html_()
    assert html.count("<tr>") > 1 and html.count("<div>") == html.count("</div>") == 1


def test_names_are_escaped_in_html() -> None:
    votes = Votes.of(["<script>alert(1)</script>"], ["w"], ["x"])
    assert "<script>" not in votes._repr_html_() and "&lt;script&gt;" in votes._repr_html_()


@given(vote_columns())
def test_any_votes_survive_saving(tmp_path_factory: pytest.TempPathFactory, columns: dict) -> None:
    file = tmp_path_factory.mktemp("votes") / "votes.npz"
    votes = Votes.of(**columns)
    votes.save(file)
    assert same(votes, Votes.load(file))


@given(distributions())
def test_any_soft_labels_survive_pickling(prob: np.ndarray) -> None:
    soft = SoftLabels.of(prob, range(len(prob)), range(prob.shape[1]))
    assert same(soft, pickle.loads(pickle.dumps(soft)))


def test_the_header_can_be_read_without_plurivox(tmp_path: Path) -> None:
    Votes.of(**crowd()).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as box:
        assert b'"plurivox": "Votes"' in box[HEADER_FILE] and box["label"].dtype == np.uint8


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"no zip at all"])
def test_a_broken_file_is_said_to_be_broken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"v.npz was not saved by plurivox, or it is damaged"):
        DataType.load(tmp_path / "v.npz")


def test_a_truncated_file_and_another_noun_are_told_apart(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npz"
    some_soft().save(whole)
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(InputError, match="damaged"):
        SoftLabels.load(tmp_path / "cut.npz")
    with pytest.raises(InputError, match="contains SoftLabels, not Votes"):
        Votes.load(whole)
    with pytest.raises(InputError, match="there is no file"):
        Votes.load(tmp_path / "absent.npz")


def test_a_file_of_a_newer_version_asks_for_an_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SoftLabels, "version", 2)
    some_soft().save(tmp_path / "s.npz")
    monkeypatch.setattr(SoftLabels, "version", 1)
    with pytest.raises(InputError, match=r"newer plurivox \(SoftLabels version 2\)"):
        SoftLabels.load(tmp_path / "s.npz")


@pytest.mark.parametrize("noun", [NOUNS["fit"], NOUNS["answers"]], ids=["fit", "answers"])
def test_a_fresh_process_finds_the_nouns_it_has_not_imported(noun: DataType, tmp_path: Path) -> None:
    noun.save(tmp_path / "it.npz")
    code = f"from plurivox.core.base import DataType; print(type(DataType.load({str(tmp_path / 'it.npz')!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == type(noun).__name__


def test_a_noun_of_another_room_is_found_by_its_module(tmp_path: Path) -> None:
    one = np.ones(1)
    Comparison(as_names(["d"]), as_names(["m"]), one, one, one, one, one, "m").save(tmp_path / "c.npz")
    code = f"from plurivox.core.base import DataType; print(DataType.load({str(tmp_path / 'c.npz')!r}).methods)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['m']"


def test_a_noun_that_nobody_knows_is_said(tmp_path: Path) -> None:
    some_soft().save(tmp_path / "s.npz")
    change(tmp_path / "s.npz", HEADER_FILE, lambda text: text.replace(b'"SoftLabels"', b'"Later"'))
    with pytest.raises(InputError, match=r"s.npz: contains the data type 'Later', which this version does not know"):
        DataType.load(tmp_path / "s.npz")


def change(file: Path, name: str, how: Callable[[bytes], bytes]) -> None:
    """Rewrite one member of an archive."""
    with zipfile.ZipFile(file) as box:
        members = {one: box.read(one) for one in box.namelist()}
    with zipfile.ZipFile(file, "w") as box:
        for one, content in members.items():
            box.writestr(one, how(content) if one == name else content)


@pytest.mark.parametrize(
    "header", [b"[]", b'{"noun": 3}', b'{"noun": {"list": [1]}}', b'{"noun": {"map": 5}}', b"\xff"]
)
def test_a_damaged_header_is_said_to_be_damaged(tmp_path: Path, header: bytes) -> None:
    some_soft().save(tmp_path / "s.npz")
    change(tmp_path / "s.npz", HEADER_FILE, lambda _: header)
    with pytest.raises(InputError, match="or it is damaged"):
        DataType.load(tmp_path / "s.npz")


def test_no_single_wrong_byte_gets_through_as_another_error(tmp_path: Path) -> None:
    some_soft().save(tmp_path / "s.npz")
    whole, rng = (tmp_path / "s.npz").read_bytes(), np.random.default_rng(0)
    for at in rng.integers(0, len(whole), 300).tolist():
        (tmp_path / "s.npz").write_bytes(whole[:at] + bytes([int(rng.integers(256))]) + whole[at + 1 :])
        with contextlib.suppress(InputError):
            DataType.load(tmp_path / "s.npz")


def test_text_that_is_no_unicode_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    fit = Fit(some_soft(), as_names(["ann"]), "made by \ud800")
    with pytest.raises(InputError, match="not valid Unicode"):
        fit.save(tmp_path / "f.npz")
    assert list(tmp_path.iterdir()) == []


def test_one_is_told_in_the_singular() -> None:
    assert repr(Votes.of(["a"], ["w"], ["x"])) == "<Votes: 1 vote, 1 task, 1 worker, 1 label>"
    assert "1 matrix" in repr(Confusion(np.ones((1, 1, 1)), as_names(["w"]), as_names(["x"])))


@every
def test_a_card_shows_the_first_rows_of_the_table(noun: DataType) -> None:
    head, whole = noun._head(2), noun.columns()
    assert head and all(str(column.tolist()) == str(whole[name][:2].tolist()) for name, column in head.items())


@pytest.mark.parametrize("name", ["votes", "soft-votes", "counts"])
def test_the_card_of_votes_is_made_without_the_whole_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Votes, "columns", DataType.columns)  # which has none to give
    assert NOUNS[name]._repr_html_().count("<tr>") > 1
