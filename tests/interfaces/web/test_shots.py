"""The screenshots of the documents can be taken from the demo."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_every_picture_can_be_taken_again(tmp_path: Path, chromium: str) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is missing; run: pip install 'plurivox[demo]'")
    del chromium  # skips where there is none
    subprocess.run([sys.executable, "-m", "docs.shots", tmp_path], cwd=ROOT, check=True, timeout=240)
    assert {one.name for one in tmp_path.glob("*.png")} == {one.name for one in (ROOT / "docs/studio").glob("*.png")}
