"""Soft answers in ten lines: people name a top label with a percent and perhaps a second one; elicit makes votes of them."""

import numpy as np

import plurivox as pv


def asked(crowd: "pv.simulate.Simulated") -> pv.Answers:
    """The votes of a simulated crowd as people who know their own confusion would have entered them, in steps of 5 percent."""
    votes, believed = crowd.votes, crowd.confusion.dense()  # [worker, true, said]
    believed = believed / believed.sum(1, keepdims=True)  # how probable each true label is, given what a worker says
    rows = believed[votes.worker, :, votes.label]  # (n_votes, n_labels)
    order = np.argsort(-rows, 1)[:, :2]
    percent = (20 * np.take_along_axis(rows, order, 1)).round().astype(int) * 5
    labels = votes.labels.tolist()
    marks = [
        [("named", labels[k], str(p)) for k, p in zip(two, shares, strict=True) if p]
        for two, shares in zip(order.tolist(), percent.tolist(), strict=True)
    ]
    return pv.Answers.of(votes.tasks[votes.task], votes.workers[votes.worker], marks, labels=labels)


def main() -> None:
    """A plain question and a rich one, put to the same crowd."""
    crowd = pv.simulate_crowd("independent-confusion", n_tasks=500, feedback=4, seed=3)
    elicited = pv.elicit_votes(asked(crowd), "top-two")
    n_read = elicited.outcome_counts["read"]
    print(f"{elicited.made_by}: {n_read:,} answers as {len(elicited.votes):,} votes; odd: {elicited.flag_counts}")
    for name, votes in (("plain votes", crowd.votes), ("soft answers", elicited.votes)):
        soft = pv.fit(votes, "vote-shares").soft
        right, surprise = pv.evaluate.accuracy(soft, crowd.truth, ties="share"), pv.evaluate.nll(soft, crowd.truth)
        print(f"{name:14} accuracy {right:.3f}  NLL {surprise:.3f}")


if __name__ == "__main__":
    main()
