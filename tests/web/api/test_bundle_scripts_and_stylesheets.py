"""The bundled scripts: complete, small, and without requests to other hosts."""

import re
from pathlib import Path

import pytest

from plurivox.web.api.bundle_scripts_and_stylesheets import bundle_script, list_script_after_all_its_imports
from plurivox.web.api.routes.pages import STATIC, render_page_html, static_file_contents_by_name
from studies import served

DECLARED = re.compile(r"^(?:export )?(?:const|let|function|async function|class) +([A-Za-z_$][\w$]*)", re.MULTILINE)
ENTRIES = ["work_page.js", "preview_page.js", "owner.js", "api_page.js", "studies.js"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_modules_share_no_top_level_name_and_bundle_completely(entry: str) -> None:
    paths = list_script_after_all_its_imports(STATIC / "js" / entry)
    names = [name for path in paths for name in DECLARED.findall(path.read_text())]
    assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})
    joined = bundle_script(STATIC / "js" / entry)
    assert not re.search(r"^(import|export) ", joined, re.MULTILINE)
    told = {
        name
        for path in paths
        for line in path.read_text().splitlines()
        if line.startswith("import")
        for name in re.findall(r"\b(\w+)\b(?=[, ].*from)", line)[1:]
    }
    assert told <= set(names), told - set(names)


def test_pages_load_nothing_from_other_hosts_and_nothing_is_inline() -> None:
    for name, content in static_file_contents_by_name().items():
        assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", content), name
        assert b"innerHTML" not in content and b"eval(" not in content, name
    for name in ("work.html", "preview.html", "owner.html", "api.html", "studies.html"):
        text = render_page_html(name)
        assert (
            "<style" not in text
            and "style=" not in text
            and not re.search(r"<script(?![^>]*src=)", text)
            and " on" not in re.sub(r">[^<]*<", "><", text)
        )


def test_static_files_are_cached_for_a_year_only_with_the_current_version(tmp_path: Path) -> None:
    """During an upgrade an old server may get a request for the script of the new version."""
    with served(tmp_path / "s") as study:
        [address] = re.findall(r'src="(static/work\.js\?v=\w+)"', study.http.get("/work").text)
        kept = [
            study.http.get(f"/{one}").headers["cache-control"] for one in (address, f"{address}0", "static/work.js")
        ]
        assert "immutable" in kept[0] and kept[1:] == ["no-cache"] * 2
