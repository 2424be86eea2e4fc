"""Bundling of JavaScript modules and style sheets when the server starts: no build step, one request.

The modules follow two rules that make bundling safe, checked by a test: every import has the form
`import { name } from "./file.js"`, and no two modules use the same name at top level.
"""

import json
import re
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=const |function |async function |class )", re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*\n|(?<=[;{,]) // .*$|^ +", re.MULTILINE)  # comments and indentation


def list_script_after_all_its_imports(entry_script: Path) -> list[Path]:
    """Return the paths of a JavaScript entry module and of all modules it imports, each after its own imports."""
    order: list[Path] = []

    def append_script_after_its_imports(script_path: Path) -> None:
        """Append a module to `order`, after the modules it imports."""
        if script_path not in order:
            for name in IMPORT.findall(script_path.read_text(encoding="utf-8")):
                append_script_after_its_imports(script_path.parent / name)
            order.append(script_path)

    append_script_after_its_imports(entry_script)
    return order


def bundle_script(entry_script: Path, embedded_style_sheets: list[Path] = []) -> str:  # noqa: B006  (never changed)
    """Return a JavaScript module and its imports as one script without comments; style sheets become its constant SHEET.

    A style sheet inside the script saves a request before the page is usable.
    """
    parts = (
        [f"const SHEET = {json.dumps(bundle_stylesheet(embedded_style_sheets))};\n"] if embedded_style_sheets else []
    )
    for path in list_script_after_all_its_imports(entry_script):
        text = COMMENT.sub("", IMPORT.sub("", path.read_text(encoding="utf-8")))
        parts.append(EXPORT.sub("", text))
    return "".join(parts)


def bundle_stylesheet(css_files: list[Path]) -> str:
    """Return the text of CSS files as one style sheet, without comments and indentation."""
    text = "".join(path.read_text(encoding="utf-8") for path in css_files)
    return re.sub(r"\n\s*", "\n", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()
