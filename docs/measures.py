"""Generate docs/evaluate.md: every measure with its formula and reference, from the docstrings."""

import importlib
import inspect

from plurivox import evaluate
from plurivox.evaluate import MEASURES

SECTIONS = {  # module: heading
    "evaluator": "Many measures of one prediction",
    "measures.hard": "Measures of the most probable label",
    "measures.soft": "Measures between distributions",
    "measures.distances": "Earth mover's distances",
    "measures.vote_likelihood": "Likelihood of the votes, and the floor",
    "measures.calibration": "Calibration",
    "statistics": "Intervals and tests",
    "paired_comparison": "Comparison of two predictions",
    "contingency": "Right and wrong of two models",
    "contrasts": "Comparison of two sets of soft labels",
    "sanity_checks": "Audit of an evaluation",
    "leaks": "Data leaks",
    "describe": "Description of votes",
    "describe_answers": "Description of answers",
}
ABOUT = """Every measure takes two `SoftLabels`, (prediction, truth), and returns a number. Tasks are matched by name; tasks
that only one of them has are left out. Every function is in `pv.evaluate` and needs only numpy and scipy.

`plurivox evaluate PREDICTION TRUTH [--against VOTES]` prints the default measures of this table with intervals, beside the
values of a constant prediction; `--measures` takes names from this table, `hard`, `soft`, `calibration` or `all`,
and `wasserstein` if labels are ordered.
"""


def evaluate_page(made: str) -> str:
    """Return the text of docs/evaluate.md."""
    lines = [made, "# evaluate", "", ABOUT, "| measure | kind | better | default |", "|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.kind} | {one.better} | {'yes' if one.default else ''} |" for one in MEASURES.values()
    ]
    for module, heading in SECTIONS.items():
        about = inspect.cleandoc(importlib.import_module(f"plurivox.evaluate.{module}").__doc__ or "")
        lines += ["", f"## {heading}", "", about]
        for name in functions_of(module):
            lines += ["", f"### {name}", "", text_of(name)]
    return "\n".join(lines) + "\n"


def functions_of(module: str) -> list[str]:
    """Return the names of the public functions of a module, in the order of the source."""
    own = [getattr(evaluate, name) for name in evaluate.__all__]
    home = f"plurivox.evaluate.{module}"
    found = [one for one in own if inspect.isfunction(one) and one.__module__ == home]
    return [one.__name__ for one in sorted(found, key=lambda one: one.__code__.co_firstlineno)]


def text_of(name: str) -> str:
    """Return the signature and the docstring of a function, without the examples."""
    function = getattr(evaluate, name)
    text = inspect.cleandoc(function.__doc__ or "").split(">>>")[0].rstrip()
    return f"`{name}({', '.join(inspect.signature(function).parameters)})`\n\n{text}"
