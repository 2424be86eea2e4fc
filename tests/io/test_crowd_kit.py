"""Votes convert to and from the pandas frames of crowd-kit (columns task, worker, label)."""

from plurivox.core.votes import Votes


def test_votes_to_pandas_is_a_crowd_kit_frame() -> None:
    votes = Votes.of(["a", "b", "a"], [1, 1, 2], [True, False, True])
    frame = votes.to_pandas()
    assert frame.columns.tolist() == ["task", "worker", "label"] and frame["label"].tolist() == [True, True, False]
    back = Votes.of(**{name: frame[name].tolist() for name in frame.columns})
    assert back.counts().tolist() == votes.counts().tolist() and back.labels.tolist() == [False, True]
