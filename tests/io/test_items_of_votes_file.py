"""Further columns of a table of votes with one value per task are items: inputs to train on."""

from pathlib import Path

import pytest

from plurivox.io.items_of_votes_file import items_of_votes_file


@pytest.mark.parametrize(
    "text",
    [
        "id,post,worker,label\n1,Hi,ann,x\n1,Hi,bo,y\n2,Ho,ann,x\n",
        "id,post,rater1,rater2\n1,Hi,x,y\n2,Ho,x,x\n",  # wide
        "id,post,ann,bo,gold,consensus\n1,Hi,x,y,x,x\n2,Ho,y,y,y,y\n",
    ],
)
def test_texts_beside_votes_are_items_and_workers_are_not(tmp_path: Path, text: str) -> None:
    (tmp_path / "votes.csv").write_text(text)
    items = items_of_votes_file(tmp_path / "votes.csv", {})
    assert items is not None and items.columns == ["task", "post"]
    assert items.rows() == [("1", "Hi"), ("2", "Ho")]
