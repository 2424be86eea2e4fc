"""One script of several small ES modules, joined when the server starts: no build step, one request.

The modules follow two habits that make joining safe, and a test holds them to it: imports are single lines of names from
`./file.js`, and no two modules use the same name at their top level.
"""

import json
import re
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=const |function |async function |class )", re.MULTILINE)
REMARK = re.compile(r"^\s*//.*\n|(?<=[;{,]) // .*$|^ +", re.MULTILINE)  # and the indentation


def modules_of(entry: Path) -> list[Path]:
    """The entry and all it imports, each after what it needs."""
    order: list[Path] = []

    def visit(path: Path) -> None:
        if path not in order:
            for name in IMPORT.findall(path.read_text(encoding="utf-8")):
                visit(path.parent / name)
            order.append(path)

    visit(entry)
    return order


def join_script(entry: Path, sheets: list[Path] = []) -> str:  # noqa: B006  (never changed)
    """The entry's modules in one, without remarks; the sheets go along as the text SHEET.

    A page whose style travels with its script needs one request less before it is usable.
    """
    parts = [f"const SHEET = {json.dumps(join_sheet(sheets))};\n"] if sheets else []
    for path in modules_of(entry):
        text = REMARK.sub("", IMPORT.sub("", path.read_text(encoding="utf-8")))
        parts.append(EXPORT.sub("", text))
    return "".join(parts)


def join_sheet(sheets: list[Path]) -> str:
    """Style sheets in one, without remarks and indentation."""
    text = "".join(path.read_text(encoding="utf-8") for path in sheets)
    return re.sub(r"\n\s*", "\n", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()
