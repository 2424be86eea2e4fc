"""Saved counters of answers: those of an earlier version are not added to the answers that are counted again."""

from pathlib import Path

from sqlalchemy import update

from plurivox.web.store.report.answer_counters import (
    LAST_COUNTED,
    WantedAndGiven,
    count_answers_wanted_and_given,
    count_next_answers_and_return_has_more,
    saved_counters_plus_uncounted_answers,
)
from plurivox.web.store.schema import tallies
from studies import plain_study, served, text_tasks


def test_answers_are_not_counted_twice_after_an_upgrade(tmp_path: Path) -> None:
    """10 of 20 wanted answers were given; until the leader had counted again, all 20 seemed to be, and new people waited."""
    with served(tmp_path / "s", plain_study(per_task=2, batch=10, unanswered_share=0.5), text_tasks(10)) as study:
        person, write = study.enter(), study.studio.writer.submit
        for slot in person.slots(10):
            person.answer(slot["slot"])
        assert write(count_next_answers_and_return_has_more).result() is False
        assert study.studio.read_sync(count_answers_wanted_and_given) == WantedAndGiven(20, 10)
        write(lambda c: c.execute(update(tallies).where(LAST_COUNTED).values(of=""))).result()  # as 0.1.0 saved it
        assert study.studio.read_sync(count_answers_wanted_and_given) == WantedAndGiven(20, 10)
        assert study.studio.read_sync(saved_counters_plus_uncounted_answers)["given", ""] == 10
        write(count_next_answers_and_return_has_more).result()
        assert study.studio.read_sync(count_answers_wanted_and_given) == WantedAndGiven(20, 10)
