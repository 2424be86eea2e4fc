"""`plurivox assign` through its public face."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Call = Callable[..., Result]


def test_the_best_questions_are_shown_and_all_are_written(call: Call, tmp_path: Path) -> None:
    done = call("assign", "next-best", "toy", "-o", str(tmp_path / "next.csv"))
    assert done.exit_code == 0, done.output
    assert "gain_per_second" in done.stdout and (tmp_path / "next.csv").read_text().startswith(
        "task,worker,question,gain"
    )
    assert json.loads(call("assign", "next-best", "toy", "--json").stdout)["enough"] is False


def test_an_aggregator_without_matrices_is_refused(call: Call) -> None:
    done = call("assign", "next-best", "toy", "--by", "wawa")
    assert done.exit_code == 2 and "try ibcc" in done.stderr
