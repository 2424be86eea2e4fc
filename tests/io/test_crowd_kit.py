"""crowd-kit speaks pandas frames with the columns task, worker, label: so do the votes."""

from plurivox.core.votes import Votes


def test_the_frame_of_votes_is_crowd_kits() -> None:
    votes = Votes.of(["a", "b", "a"], [1, 1, 2], [True, False, True])
    frame = votes.to_pandas()
    assert frame.columns.tolist() == ["task", "worker", "label"] and frame["label"].tolist() == [True, True, False]
    back = Votes.of(**{name: frame[name].tolist() for name in frame.columns})
    assert back.counts().tolist() == votes.counts().tolist() and back.labels.tolist() == [False, True]
