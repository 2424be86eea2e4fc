"""Write a comparison or an evaluation to a file: .csv, .md, .json, .tex, or .npz, which keeps everything."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.core.errors import InputError
from plurivox.io.tabular.table_file_names import file_suffix

if TYPE_CHECKING:
    from plurivox.core.data_type_base_class import DataType

TEXT_METHODS = {".csv": "csv", ".md": "markdown", ".json": "json", ".tex": "latex"}  # of the result, by file type


def check_result_file_type(out: Path | None, result_name: str, file_types: tuple[str, ...]) -> None:
    """Raise InputError if `out` is not of one of `file_types`; `result_name` (such as "a comparison") is for the message."""
    if out is not None and file_suffix(out) not in file_types:
        raise InputError(f"unsupported file type of {out}; {result_name} can be written as {', '.join(file_types)}")


def write_result_file(result: "DataType", out: Path) -> None:
    """Write a comparison or an evaluation atomically as text in the format of the file's suffix, or save it whole as `.npz`."""
    from plurivox.core.atomic_write import atomic_file

    if file_suffix(out) == ".npz":
        result.save(out)
        return
    text: str = getattr(result, TEXT_METHODS[file_suffix(out)])()
    with atomic_file(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
