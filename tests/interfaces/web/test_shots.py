"""The screenshots of the documentation can be generated from the demo study."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_every_screenshot_can_be_generated(tmp_path: Path, chromium: str) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is missing; run: pip install 'plurivox[demo]'")
    del chromium  # the fixture skips the test if Chromium is missing
    subprocess.run([sys.executable, "-m", "docs.shots", tmp_path], cwd=ROOT, check=True, timeout=240)
    assert {one.name for one in tmp_path.glob("*.png")} == {one.name for one in (ROOT / "docs/studio").glob("*.png")}
