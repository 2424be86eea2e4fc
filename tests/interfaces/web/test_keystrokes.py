"""The number of keys per answer, for all answers of CIFAR-10S (or simulated ones if the data set is missing)."""

from typing import Any

import numpy as np
import pytest

from interfaces.web.recorded_answers import crowd_answers
from studies import asks

REPLAY = """([setup, all]) => all.map((keys) => {
  let state = answer.newAnswer(setup);
  let count = 0;
  for (const word of keys) {
    const shift = word.startsWith("Shift+");
    const key = word.replace("Shift+", "");
    state = answer.applyAction(state, answer.readKey(state, { key, code: /^[0-9]$/.test(key) ? `Digit${key}` : "", shift }));
    count += 1;
  }
  if (!state.sent && answer.warning(state)) {
    state = answer.applyAction(state, { do: "enter" });
    count += 1;
  }
  const { marks } = answer.marks(state);
  const kind = (name) => marks.filter((mark) => mark.kind === name);
  const named = kind("named").map((mark) => [mark.label, mark.typed]);
  return { sent: state.sent, count, named, possible: kind("possible").map((mark) => mark.label) };
})"""


@pytest.fixture(scope="module")
def replay(blank: Any) -> tuple[list[Any], list[Any]]:
    _, labels, said = crowd_answers()
    page = blank("answer", "answer_actions", "answer_check", "keyboard", "answer_marks")
    return said, page.evaluate(
        REPLAY, [{"labels": labels, "asks": asks("also-possible")}, [one.keys(labels) for one in said]]
    )


def test_every_recorded_answer_can_be_entered_and_gives_the_same_marks(replay: tuple[list[Any], list[Any]]) -> None:
    wrong = [
        (a, b)
        for a, b in zip(*replay, strict=True)
        if not b["sent"] or list(map(tuple, b["named"])) != a.shares() or tuple(b["possible"]) != a.possible
    ]
    assert not wrong, wrong[:3]


def test_certain_answers_need_two_keys_and_the_median_is_at_most_five(replay: tuple[list[Any], list[Any]]) -> None:
    said, done = replay
    sure = [one["count"] for said_, one in zip(said, done, strict=True) if said_.percent == 100 and not said_.possible]
    counts = np.array([one["count"] for one in done])
    assert len(sure) > 10 and set(sure) == {2}
    assert np.median(counts) <= 5, np.percentile(counts, [25, 50, 75, 90])
    if len(counts) == 6723:  # all of CIFAR-10S: the figures of docs/studio/README.md
        assert round(100 * len(sure) / len(counts)) == 35 and np.percentile(counts, [50, 75, 90]).tolist() == [5, 7, 10]
