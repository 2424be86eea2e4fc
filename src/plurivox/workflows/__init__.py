"""Workflows: public functions that span several steps. What a user calls in Python and what the interfaces call is the same."""

from plurivox.core.lazy import importer

HOMES = {
    "Choice": "tune",
    "Comparison": "compare_methods",
    "Curve": "answer_cost",
    "Ranking": "rank_scores",
    "break_even": "answer_cost",
    "choose": "tune",
    "clean_set": "clean",
    "compare": "compare_methods",
    "curve": "answer_cost",
    "elicit_votes": "elicit",
    "fit": "api",
    "load": "api",
    "prune": "prune_crowd",
    "rank": "score_crowd",
    "score": "score_crowd",
    "seconds_per_answer": "answer_cost",
    "simulate_crowd": "api",
    "train_once": "train",
    "train_runs": "train",
    "write_crowd": "api",
    "write_elicited": "elicit",
}
__all__ = sorted(HOMES)
__getattr__ = importer(__name__, HOMES)


def __dir__() -> list[str]:
    return __all__
