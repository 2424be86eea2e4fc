"""Soft answers: simulated people enter one or two labels with percents; `elicit` converts them into votes.

On real answers: `python -m examples.soft_answers_gain`.
"""

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
    """Compare plain votes and soft answers of the same crowd: what people would say, and what is true."""
    crowd = pv.simulate_crowd("independent-confusion", n_tasks=500, feedback=4, seed=3)
    elicited = pv.elicit_votes(make_soft_answers(crowd), "top-two")
    print(
        f"{elicited.made_by}: {elicited.outcome_counts['read']:,} answers as {len(elicited.votes):,} votes; "
        f"odd answers: {elicited.flag_counts}"
    )
    said = crowd.confusion.dense().mean(0)[crowd.truth.most_probable_label_codes()]  # by all workers, were they asked
    everybody = pv.SoftLabels.of(said, crowd.truth.tasks, crowd.truth.labels)
    for name, votes in (("plain votes", crowd.votes), ("soft answers", elicited.votes)):
        people, truth = pv.fit(votes, for_="people").soft, pv.fit(votes, for_="truth").soft
        entropy = pv.evaluate.cross_entropy(people, everybody)
        accuracy, nll = pv.evaluate.accuracy(truth, crowd.truth, ties="share"), pv.evaluate.nll(truth, crowd.truth)
        print(f"{name:14} people: cross-entropy {entropy:.3f}  truth: accuracy {accuracy:.3f}  NLL {nll:.3f}")


if __name__ == "__main__":
    main()
