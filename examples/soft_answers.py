"""Soft answers: simulated people enter one or two labels with percents; `elicit` converts them into votes."""

import numpy as np

import plurivox as pv


def make_soft_answers(crowd: "pv.simulate.Simulated") -> pv.Answers:
    """Return the votes of a simulated crowd as answers in percent, by workers who know their own confusion matrix."""
    votes, confusion = crowd.votes, crowd.confusion.dense()  # [worker, true label, voted label]
    posterior = confusion / confusion.sum(1, keepdims=True)  # probability of the true label, given the vote
    rows = posterior[votes.worker, :, votes.label]  # (n_votes, n_labels)
    order = np.argsort(-rows, 1)[:, :2]
    percent = (20 * np.take_along_axis(rows, order, 1)).round().astype(int) * 5
    labels = votes.labels.tolist()
    marks = [
        [("named", labels[k], str(p)) for k, p in zip(two, shares, strict=True) if p]
        for two, shares in zip(order.tolist(), percent.tolist(), strict=True)
    ]
    return pv.Answers.of(votes.tasks[votes.task], votes.workers[votes.worker], marks, labels=labels)


def main() -> None:
    """Compare plain votes and soft answers of the same crowd."""
    crowd = pv.simulate_crowd("independent-confusion", n_tasks=500, feedback=4, seed=3)
    elicited = pv.elicit_votes(make_soft_answers(crowd), "top-two")
    print(
        f"{elicited.made_by}: {elicited.outcome_counts['read']:,} answers as {len(elicited.votes):,} votes; "
        f"odd answers: {elicited.flag_counts}"
    )
    for name, votes in (("plain votes", crowd.votes), ("soft answers", elicited.votes)):
        soft = pv.fit(votes, "vote-shares").soft
        accuracy, nll = pv.evaluate.accuracy(soft, crowd.truth, ties="share"), pv.evaluate.nll(soft, crowd.truth)
        print(f"{name:14} accuracy {accuracy:.3f}  NLL {nll:.3f}")


if __name__ == "__main__":
    main()
