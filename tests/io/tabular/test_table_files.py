"""Table files: types are kept, invalid files give one clear error, writes are atomic."""

import gzip
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.votes import Votes
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES
from plurivox.io.tabular.table_files import read_table, write_table

FRAME = pl.DataFrame({"task": ["007", "b", None], "n": [1, 2, 3], "x": [0.1, None, 1e-300], "ok": [True, False, None]})
TEXTUAL = (".csv", ".tsv")


@pytest.mark.parametrize("ending", TABLE_SUFFIXES)
def test_tables_survive_a_round_trip(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    write_table(FRAME, path)
    back = read_table(path)
    if ending.startswith(TEXTUAL):
        assert set(back.dtypes) == {pl.String}
        back = read_table(path, {"n": int, "x": float, "ok": bool})
    assert back.equals(FRAME)
    assert path.read_bytes()[:2] == b"\x1f\x8b" or not ending.endswith(".gz")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.tuples(*[st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"))] * 2), min_size=1)
)
def test_csv_keeps_any_text(tmp_path: Path, rows: list[tuple[str | None, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    for ending in TEXTUAL:
        write_table(frame, tmp_path / f"any{ending}")
        assert read_table(tmp_path / f"any{ending}").rows() == rows


def test_columns_of_a_data_type(tmp_path: Path) -> None:
    votes = Votes.coded(
        task=np.array([0, 1]),
        worker=np.array([0, -1]),
        label=np.array([1, 0]),
        tasks=np.array(["é", "b"]),
        workers=np.array([7]),
        labels=np.array([False, True]),
    )
    write_table(votes.columns(), tmp_path / "votes.parquet")
    assert read_table(tmp_path / "votes.parquet").to_dict(as_series=False) == {
        "task": ["é", "b"],
        "worker": [7, None],
        "label": [True, False],
    }


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"\xef\xbb\xbftask,label\r\n007,a\r\n", [("007", "a")]),
        (b'\xef\xbb\xbf"task","label"\n1,"a,""b\nc"\n', [("1", 'a,"b\nc')]),
        (b'task;"lab,el"\n1,5;a\n', [("1,5", "a")]),
        (b"task\tlabel\n1\ta;b,c\n", [("1", "a;b,c")]),
        (b"task,a;b\n1,2\n", [("1", "2")]),
        (b'task,label\n1,""\n2,\n', [("1", ""), ("2", None)]),
        (b"\n\ntask,label\n1,a\n\n2,b\n\n", [("1", "a"), ("2", "b")]),
        (b"task,label\r1,a\r", [("1", "a")]),
        (b"task,label\nNA,nan", [("NA", "nan")]),
        (b"task,label", []),
        (gzip.compress(b"task,label\n1,a\n", mtime=0), [("1", "a")]),
        (b"task|label\n1|a\n", [("1", "a")]),
        (b"task;label (cat, dog)\n1;a\n", [("1", "a")]),
        (b"sep=;\r\ntask;label\r\n1;a\r\n", [("1", "a")]),
        ("task\tlabel\r\n1\té\r\n".encode("utf-16"), [("1", "é")]),
        (b"task,label,,\n1,a,,\n2,b,,\n", [("1", "a"), ("2", "b")]),
        (b"task,label,,\n1,a\n2,b\n", [("1", "a"), ("2", "b")]),
    ],
)
def test_csv_variants_are_read(tmp_path: Path, text: bytes, rows: list[tuple[str, ...]]) -> None:
    (tmp_path / "votes.csv").write_bytes(text)
    assert read_table(tmp_path / "votes.csv").rows() == rows


def test_blanks_around_column_names_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task , worker,label\n1, a,b\n")
    assert read_table(tmp_path / "votes.csv").to_dict(as_series=False) == {
        "task": ["1"],
        "worker": [" a"],
        "label": ["b"],
    }


def test_rows_without_their_last_fields_are_read_with_a_warning(tmp_path: Path) -> None:
    """Spreadsheets leave out empty cells at the end of a row."""
    (tmp_path / "votes.csv").write_text("task,label,note\n1,a,dark\n2,b\n3\n")
    with pytest.warns(PlurivoxWarning, match=r"2 rows \(lines 3, 4\) have fewer fields than the header"):
        assert read_table(tmp_path / "votes.csv").rows() == [("1", "a", "dark"), ("2", "b", None), ("3", None, None)]


def test_quotes_in_a_column_name(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text('task,"the ""label""\nhere"\n1,a\n')
    assert read_table(tmp_path / "votes.csv").columns == ["task", 'the "label"\nhere']


def test_quotes_may_be_plain_characters(tmp_path: Path) -> None:
    (tmp_path / "votes.tsv").write_text('task\tlabel\n5" nail\tok\n')
    assert read_table(tmp_path / "votes.tsv", quotes=False).rows() == [('5" nail', "ok")]


BAD = {
    "none.csv": (None, "there is no file"),
    "empty.csv": (b"", "is empty"),
    "blank.jsonl": (b"\n \n", "is empty"),
    "empty.parquet": (b"", "is empty"),
    "book.xlsx": (b"PK", "cannot be read as an Excel workbook"),
    "book.pdf": (b"%PDF", "unsupported file type .*; use .csv, .tsv, .jsonl"),
    "short.csv": (b"a,b,c\n1,2,3\n\n4,5", "line 4 has 2 fields, but the header has 3 .* may be cut off"),
    "long.csv": (b'a,b\n"x\ny",2\n1,2,3\n', "line 4 has 3 fields, but the header has 2"),
    "open.csv": (b'a,b\n1,"abc\n2,3\n', "an unclosed quote"),
    "twice.csv": (b"task,label,label\n1,2,3\n", "duplicate column names in .*: 'label'"),
    "damaged.csv": ("a,b\n1,é\n2,ø\n".encode()[:-2] + b"\n", "not UTF-8 text: byte 0xc3 in line 3"),
    "two_encodings.csv": ("é,b\n1,2\n".encode() + b"\xe9", "not UTF-8 text: byte 0xe9 in line 3"),
    "excel.csv": ("a,b\n1,2\n".encode("utf-16")[:-1], "begins as UTF-16 text but is damaged or incomplete"),
    "zero.csv": (b"a,b\n1,2\n\0\0\0\0", "zero bytes"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 99)[:-9], "cannot be decompressed"),
    "cut.json": (b'[{"task": 1}', "is not valid JSON, or it is incomplete"),
    "deep.json": (b"[" * 100_000, "is not valid JSON"),
    "object.json": (b'{"task": 1}', "must contain a list of records"),
    "cut.jsonl": (b'{"task": 1}\n{"task', "line 2 is not valid JSON"),
    "two.jsonl": (b'{"a": 1}\n{"a": 2}, {"a": 3}\n', "line 2 is not valid JSON"),
    "mixed.json": (b'[{"a": 1}, {"a": "1"}]', "column 'a' of .*mixes text and whole numbers"),
    "truth.jsonl": (b'{"a": 1}\n{"a": true}', "mixes booleans .* and whole numbers"),
    "huge.json": (b'[{"a": 99999999999999999999}]', "too large"),
    "cut.parquet": (b"PAR1abc", "not a valid .parquet file"),
    "cut.arrow": (b"ARROW1abc", "not a valid .arrow file"),
    "odd.feather": (b"abc", "not a valid .feather file"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_line_that_names_it(tmp_path: Path, name: str) -> None:
    data, words = BAD[name]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_every_truncation_is_an_error(tmp_path: Path, ending: str) -> None:
    write_table(FRAME, tmp_path / f"whole{ending}")
    data = (tmp_path / f"whole{ending}").read_bytes()
    for size in range(0, len(data), 97):
        (tmp_path / f"cut{ending}").write_bytes(data[:size])
        with pytest.raises(InputError, match="cut"):
            read_table(tmp_path / f"cut{ending}")


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").mkdir()
    for use in (read_table, lambda path: write_table(FRAME, path)):
        with pytest.raises(InputError, match="is a folder"):
            use(tmp_path / "votes.csv")


def test_brackets_in_a_file_name_are_not_a_pattern(tmp_path: Path) -> None:
    for ending in (".csv", ".parquet", ".arrow"):
        write_table({"task": np.array([1])}, tmp_path / f"votes[1]{ending}")
        assert read_table(tmp_path / f"votes[1]{ending}").height == 1


def test_an_arrow_stream_is_read_too(tmp_path: Path) -> None:
    FRAME.write_ipc_stream(tmp_path / "votes.arrow")
    assert read_table(tmp_path / "votes.arrow").equals(FRAME)


def test_values_of_the_wrong_type_are_named(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("seconds\n1.5\n 2\n\nabc\n")
    with pytest.raises(InputError, match=r"'seconds' of .* must contain numbers; row 4 contains 'abc'"):
        read_table(tmp_path / "votes.csv", {"seconds": float})
    write_table({"n": np.array([1.0, 2.5])}, tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"must contain whole numbers; row 2 contains 2\.5"):
        read_table(tmp_path / "n.parquet", {"n": int})


def fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow"])
def test_a_full_disk_leaves_the_previous_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    path.write_bytes(b"old")
    noise = np.random.default_rng(0).random(20_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    fill_disk()
    try:
        with pytest.raises(InputError, match="could not be written"):
            write_table({"x": noise}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_the_previous_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"old")
    write: Callable[..., None] = pl.DataFrame.write_csv
    monkeypatch.setattr(pl.DataFrame, "write_csv", lambda *args: (write(*args), interrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_table(FRAME, path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_nested_columns_are_refused_in_csv(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"could not be written: .*nested"):
        write_table(pl.DataFrame({"a": [[1], [2]]}), tmp_path / "a.csv")
    with pytest.raises(InputError, match="different lengths"):
        write_table({"a": np.arange(2), "b": np.arange(3)}, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
