"""Tests of the studio are skipped where its packages are missing."""

import pytest

pytest.importorskip("fastapi", reason="the studio is missing; run: pip install 'plurivox[web]'")
