"""Fixtures of the command-line tests: run a command, a file of votes, a plugin."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interfaces.cli.cli_process import environment
from plurivox.cli.main import main

VOTES = "task,worker,label\na,ann,cat\na,bo,cat\na,cy,dog\nb,ann,dog\nb,bo,cat\nc,ann,dog\n"
PLUGIN = '''
"""A method from outside."""
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from plurivox.aggregate import Aggregator, VoteShares
from plurivox.core.method import option

@dataclass(frozen=True)
class Sleepy(Aggregator):
    """Vote shares, slowly.

    p = n / N

    >>> 1 + 1
    2
    """

    steps: int = option(3, "how many naps", low=1)
    nap: float = option(0.0, "seconds per step", low=0)
    deep: bool = option(False, "sleep well")
    bed: str | None = option(None, "a file to touch on falling asleep")
    takes: ClassVar[frozenset[str]] = frozenset({"gold"})

    def _fit(self, votes, gold, start, progress):
        if self.bed:
            Path(self.bed).touch()
        for step in range(self.steps):
            time.sleep(self.nap)
            progress(step, self.steps, 0.5)
        return VoteShares().fit(votes)
'''


@pytest.fixture
def call() -> Callable[..., Result]:
    """Return a function that runs a command line in this process."""
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def votes_file(tmp_path: Path) -> Path:
    """Return a CSV file of votes on three tasks by three workers; task b is a tie."""
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, str]:
    """Return environment variables of a process in which a plugin provides the aggregator `sleepy`."""
    step = tmp_path / "elsewhere"
    about = step / "plugin-1.0.dist-info"
    about.mkdir(parents=True)
    (step / "plugin.py").write_text(PLUGIN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[plurivox.aggregate]\nsleepy = plugin:Sleepy\n")
    return environment(step)
