"""Full reports of Appen (CrowdFlower) are read with trust and test questions; aggregated reports are refused."""

from pathlib import Path

import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset_reader import read

SYSTEM = "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,_region,_city,_ip"
FULL = f"""{SYSTEM},airline_sentiment,negativereason,airline,airline_sentiment_gold,negativereason_gold,text
68,2/25/2015 04:21:30,false,1,,2/25/2015 04:21:00,false,elite,0.9143,18106,USA,TX,Austin,1.2.3.4,neutral,,Delta,,,"B5, please?"
68,2/25/2015 04:22:10,false,2,,2/25/2015 04:21:58,true,prodege,0.4,20411,GBR,,Leeds,1.2.3.5,negative,Late,Delta,,,"B5, please?"
69,2/25/2015 05:00:00,true,3,,2/25/2015 04:59:50,false,elite,0.9143,18106,USA,TX,Austin,1.2.3.4,negative,"Bad Flight
Can't Tell",United,"negative
neutral","Bad Flight
Can't Tell",Never again
69,2/25/2015 05:01:00,true,4,true,2/25/2015 05:00:45,true,prodege,0.4,20411,GBR,,Leeds,1.2.3.5,positive,,United,"negative
neutral","Bad Flight
Can't Tell",Never again
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "f696578.csv"
    path.write_text(FULL)
    return path


def test_a_full_report_is_read_with_trust_and_gold(report: Path) -> None:
    with pytest.warns(PlurivoxWarning) as notes:
        data = read(report, label="airline_sentiment")
    assert data.votes is not None and data.gold is not None and data.workers is not None and data.items is not None
    assert data.votes.labels.tolist() == ["negative", "neutral", "positive"]
    assert data.votes.counts().tolist() == [[1, 1, 0], [1, 0, 1]]
    assert data.votes.seconds is not None and data.votes.seconds.tolist() == [30, 12, 10, 15]
    assert data.gold.tasks.tolist() == ["69"] and data.gold.prob.tolist() == [[0.5, 0.5, 0]]
    assert data.workers.to_dicts()[1] == {
        "worker": "20411", "trust": 0.4, "country": "GBR", "region": None, "city": "Leeds", "channel": "prodege"
    }  # fmt: skip
    assert data.items.columns == ["task", "airline", "text"] and data.items["text"][0] == "B5, please?"
    assert "2 tainted judgments of the workers '20411', who failed test questions, kept" in str(notes[0].message)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_the_questions_are_listed_and_boxes_are_shares(report: Path) -> None:
    with pytest.raises(InputError, match="'airline_sentiment', 'negativereason'; select one"):
        read(report)
    votes = read(report, label="negativereason", task="text").votes
    assert votes is not None and votes.labels.tolist() == ["Bad Flight", "Can't Tell", "Late"]
    assert votes.counts().tolist() == [[0, 0, 1], [0.5, 0.5, 0]]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_without_test_questions_the_column_that_differs_is_the_question(tmp_path: Path) -> None:
    path = tmp_path / "f1.csv"
    rows = (
        "1,9/1/2019 10:00:00,0.9,7,cat,a.jpg",
        "1,9/1/2019 10:01:00,0.8,8,dog,a.jpg",
        "2,9/1/2019 10:02:00,0.9,7,dog,b.jpg",
    )
    path.write_text("\n".join(["_unit_id,_created_at,_trust,_worker_id,animal,image_url", *rows]))
    data = read(path)
    assert data.votes is not None and data.votes.labels.tolist() == ["cat", "dog"] and data.gold is None


def test_an_aggregated_report_says_what_to_download(tmp_path: Path) -> None:
    path = tmp_path / "a696578.csv"
    path.write_text(
        "_unit_id,_golden,_unit_state,_trusted_judgments,_last_judgment_at,animal,animal:confidence,animal_gold,image_url\n"
        "1,false,finalized,3,9/1/2019 10:02:00,cat,0.67,,a.jpg\n"
    )
    with pytest.raises(InputError, match=r"aggregated report.*download the full report"):
        read(path)
