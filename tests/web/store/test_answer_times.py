"""Times limited to the server's clock: the union of intervals, and one definition for arrays of the cache and single rows."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event, func, select, update

from plurivox.core.answers import Answers
from plurivox.web.store.admin.export_rows import yield_all_answers_for_export
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.answer_times import (
    active_times_of_answers,
    active_times_of_visits,
    milliseconds_covered_by_group,
    time_columns_of_answer_rows,
)
from plurivox.web.store.schema import answers, slots
from plurivox.web.study.create_study import import_answers_collected_elsewhere
from studies import fresh_database, plain_study, served, server_clock, text_tasks

NOW = 1.8e9


def test_the_covered_time_is_that_of_the_union() -> None:
    """Compared with counting the seconds that lie in at least one interval."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 200)
    start = NOW + 1e6 * group + rng.integers(0, 500, 200)
    end = start + rng.integers(-2, 30, 200)  # some end before they start
    covered = milliseconds_covered_by_group(group, 7, start, end)
    for one in range(7):
        pairs = zip(start[group == one], end[group == one], strict=True)
        assert covered[one] == 1000 * len({second for a, b in pairs for second in range(int(a), int(b))})
    assert milliseconds_covered_by_group(group[:0], 2, start[:0], end[:0]).tolist() == [0, 0]


def test_an_answer_counts_at_most_the_servers_time() -> None:
    sent = {
        "submitted": [5000, 9000, 13_000, 36e6, np.nan, 1000, np.inf, -5.0, 60_000],
        "hidden": [1000, 0, 0, 0, 0, 5000, 0, 0, 0],
        "began": [*[NOW - 10] * 8, np.nan],
    }
    n = len(sent["hidden"])
    columns = {name: np.array(one, float) for name, one in sent.items()} | {"at": np.full(n, NOW)}
    columns |= {"first_input": np.full(n, np.nan), "picked": np.full(n, np.nan)}
    times = active_times_of_answers(columns)
    assert times.counted_ms.tolist()[:4] == [4000, 9000, 10_000, 10_000] and np.isnan(times.counted_ms[4])
    assert times.counted_ms.tolist()[5:] == [0, 10_000, 0, 60_000]  # the last one is imported: the server saw nothing
    assert times.impossible.tolist() == [False, False, True, True, False, True, True, True, False]
    assert times.seconds_at_most.tolist() == [
        4,
        9,
        10,
        10,
        10,
        10,
        10,
        10,
        60,
    ]  # the server's where the client's is of no use
    almost = active_times_of_answers(columns | {"submitted": np.full(n, 12_100.0), "hidden": np.zeros(n)})
    assert (
        not almost.impossible.any() and almost.counted_ms[0] == 10_000
    )  # 2 seconds and 2 percent for clocks and network


def test_a_visit_counts_from_the_visit_before() -> None:
    worker, at = np.array([7, 8, 7, 7]), NOW + np.array([10.0, 11.0, 30.0, 35.0])
    claimed = np.array([9000, 36e6, 20_000, 36e6])
    times = active_times_of_visits(worker, claimed, at, np.full(4, NOW))
    assert times.counted_ms.tolist() == [9000, 11_000, 20_000, 5000]
    assert times.impossible.tolist() == [False, True, False, True]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_cache_and_single_rows_have_the_same_times(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    study = plain_study(per_task=9, batch=4, repeats=1)
    with served(tmp_path / "s", study, text_tasks(4), database=database) as live:
        given = Answers.of(
            task=["t000", "t001"], worker=["ann", "bob"], marks=[[("named", "cat", "")]] * 2, seconds=[7200.0, 3.0]
        )
        live.studio.writer.submit(
            lambda c: import_answers_collected_elsewhere(c, study, live.studio.keys, given)
        ).result()
        person = live.enter()
        for i, slot in enumerate(person.slots()):
            picked = [{"seq": 0, "ms": 1e8 if i == 3 else 50, "kind": "pick"}]
            person.answer(slot["slot"], submitted_ms=4000, hidden_ms=100 * i, events=picked)
            server_clock.let_pass(-3.9 if i == 2 else 0)  # a clock that was set back
        cache = AnswerCache()
        with live.studio.engine.connect() as connection:
            cache.append_new_rows_and_return_count(connection)
            rows = list(yield_all_answers_for_export(connection))
        server_clock.let_pass(3.9)
    one, other = active_times_of_answers(cache.columns), active_times_of_answers(time_columns_of_answer_rows(rows))
    for name in ("claimed_ms", "counted_ms", "impossible", "start", "end"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "start"), name
    assert one.impossible.tolist() == [False, False, False, False, False, True, False]
    assert one.counted_ms[:2].tolist() == [7_200_000, 3000]  # imported: kept as they are


def test_answers_imported_by_an_earlier_version_keep_their_times(tmp_path: Path) -> None:
    """Their keys begin with `import-`, which a client can send too; their workers were made by the importer."""
    study = plain_study(per_task=9, batch=4)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        marks = [[("named", "cat", "")]] * 2
        given = Answers.of(task=["t000", "t001"], worker=["ann", "bob"], marks=marks, seconds=[7200.0, 3.0])
        write = live.studio.writer.submit
        write(lambda c: import_answers_collected_elsewhere(c, study, live.studio.keys, given)).result()
        old_key = "import-" + func.substr(answers.c.key, 8)
        assert write(lambda c: c.execute(update(answers).values(key=old_key)).rowcount).result() == 2
        assert {row.key for row in live.look(select(answers.c.key))} == {"import-0", "import-1"}
        person = live.enter()
        body = {
            "key": "import-0",
            "slot": person.slots()[0]["slot"],
            "marks": [],
            "abstain": True,
            "submitted_ms": 7.2e6,
        }
        assert person.post("/api/answers", body).status_code == 200
        write(lambda c: c.execute(update(slots).values(handed_out=None))).result()
        cache = AnswerCache()
        with live.studio.engine.connect() as connection:
            cache.append_new_rows_and_return_count(connection)
    times = active_times_of_answers(cache.columns)
    assert times.impossible.tolist() == [False, False, True]
    assert times.counted_ms[:2].tolist() == [7_200_000, 3000] and times.counted_ms[2] < 60_000


def test_handing_out_costs_one_statement_per_answer(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(batch=8), text_tasks(8)) as live:
        person, said = live.enter(), list[str]()
        slots = person.slots(3)
        listen = lambda *given: said.append(given[2])  # noqa: E731
        event.listen(live.studio.engine, "before_cursor_execute", listen)
        try:
            for _ in range(5):
                slots = person.answer(slots[0]["slot"], ahead=3).json()["slots"]
        finally:
            event.remove(live.studio.engine, "before_cursor_execute", listen)
        assert len([one for one in said if one.startswith("UPDATE slots SET handed_out")]) == 5
