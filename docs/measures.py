"""Generate docs/evaluate.md: every measure with its formula and reference, from the docstrings."""

import importlib
import inspect

from plurivox import evaluate
from plurivox.evaluate import MEASURES

SECTIONS = {  # module of plurivox.evaluate: heading
    "evaluate_prediction": "Many measures in one call",
    "measures.hard_label_measures": "The most probable label",
    "measures.soft_label_measures": "Two distributions",
    "measures.wasserstein_distances": "Earth mover's distances",
    "measures.vote_likelihood": "Likelihood of the votes, and the floor",
    "measures.calibration": "Calibration",
    "intervals_and_tests": "Intervals and tests",
    "rank_tests": "Rank tests over data sets",
    "paired_comparison": "Two predictions",
    "crossed_bootstrap": "Two models, several runs of each",
    "two_model_correctness": "Tasks that two models get right or wrong",
    "soft_label_differences": "Two sets of soft labels",
    "label_mismatch": "Labels that do not meet",
    "find_evaluation_faults": "Audit",
    "train_test_leaks": "Leaks",
    "label_agreement": "Agreement on each label",
    "describe_votes": "Statistics of votes",
    "describe_answers": "Statistics of answers",
}
ABOUT = """Every measure takes two `SoftLabels`, (prediction, truth), and returns a number. Tasks are matched by name; tasks
that only one of them has are ignored. Every function is in `pv.evaluate` and needs only numpy and scipy.

`plurivox evaluate PREDICTION TRUTH [--against REFERENCE]` prints the default measures of the table below with confidence
intervals, and the result of a constant prediction; `--measures` takes names from this table, `hard`, `soft`, `calibration` or
`all`, and `wasserstein` if the labels are ordered.

The column `against` names the labels that each measure compares with. Hard measures and calibration use the gold labels of
TRUTH (else the most probable label of its soft labels or votes). Soft measures use the soft labels of TRUTH, else the shares of
its votes or counts, else its gold labels as one-hot labels; `--against gold`, `soft` or `votes` selects another of these, and
`--against FILE` labels from elsewhere. An aggregate is close to the votes it was made from by construction: measures
against these same votes show how close it stays to them, not how right it is.

Measures that do not fit what PREDICTION estimates are marked with `*` (`fits` is false in files and JSON), and a note names
them. NLL, Brier score and calibration take a probability as that of being right: they fit estimates of the `truth`, and not of
what `people` say. Soft measures compare with an estimate of the same kind: votes, counts and CIFAR-10H's shares for `people`.
Hard measures fit both. Nothing is marked for labels of `unknown` kind, such as a table without the column `estimates`.

Labels of PREDICTION and TRUTH must have the same names. If none or hardly any meet, `plurivox evaluate` stops and lists both
sides; if another numbering of the labels would make many more predictions correct, it says so. `--rename 0=cat,1=dog` renames
labels of PREDICTION.
"""


def evaluate_page(generated: str) -> str:
    """Return the text of docs/evaluate.md; `generated` is its first line."""
    lines = [generated, "# evaluate", "", ABOUT, "| measure | kind | better | by default |", "|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.kind} | {one.better} | {'yes' if one.default else ''} |" for one in MEASURES.values()
    ]
    for module, heading in SECTIONS.items():
        about = inspect.cleandoc(importlib.import_module(f"plurivox.evaluate.{module}").__doc__ or "")
        lines += ["", f"## {heading}", "", about]
        for name in public_functions(module):
            lines += ["", f"### {name}", "", function_text(name)]
    return "\n".join(lines) + "\n"


def public_functions(module: str) -> list[str]:
    """Return the names of the public functions of a module, in source order."""
    public = [getattr(evaluate, name) for name in evaluate.__all__]
    full_name = f"plurivox.evaluate.{module}"
    found = [function for function in public if inspect.isfunction(function) and function.__module__ == full_name]
    return [function.__name__ for function in sorted(found, key=lambda function: function.__code__.co_firstlineno)]


def function_text(name: str) -> str:
    """Return the signature of a function and its docstring without the examples."""
    function = getattr(evaluate, name)
    text = inspect.cleandoc(function.__doc__ or "").split(">>>")[0].rstrip()
    return f"`{name}({', '.join(inspect.signature(function).parameters)})`\n\n{text}"
