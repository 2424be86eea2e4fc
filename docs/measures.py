"""The page of the evaluate room: every measure with its formula and reference, from the docstrings."""

import importlib
import inspect

from plurivox import evaluate
from plurivox.evaluate import MEASURES

SECTIONS = {  # module: heading
    "evaluator": "Many measures at once",
    "measures.hard": "The label believed most",
    "measures.soft": "Two distributions",
    "measures.distances": "Earth mover's distances",
    "measures.vote_likelihood": "Votes as counts, and the floor",
    "measures.calibration": "Calibration",
    "statistics": "Intervals and tests",
    "paired_comparison": "Two predictions",
    "contingency": "Right and wrong cells of two models",
    "contrasts": "Two sets of soft labels",
    "sanity_checks": "Audit",
    "leaks": "Leaks",
    "describe": "What a crowd looks like",
    "describe_answers": "What people entered",
}
ABOUT = """Every measure takes two `SoftLabels`, (prediction, truth), and returns a number. Tasks are matched by name; tasks
that only one of them has are left out. Every function is in `pv.evaluate` and needs numpy and scipy alone.

`plurivox evaluate PREDICTION TRUTH [--against VOTES]` prints the usual ones of the measures below with intervals, beside what a
constant prediction gets; `--measures` takes names from this table, `hard`, `soft`, `calibration` or `all`,
and `wasserstein` where labels are ordered.
"""


def evaluate_page(made: str) -> str:
    """What `docs/evaluate.md` holds."""
    lines = [made, "# evaluate", "", ABOUT, "| measure | kind | better | shown unasked |", "|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.kind} | {one.better} | {'yes' if one.usual else ''} |" for one in MEASURES.values()
    ]
    for module, heading in SECTIONS.items():
        about = inspect.cleandoc(importlib.import_module(f"plurivox.evaluate.{module}").__doc__ or "")
        lines += ["", f"## {heading}", "", about]
        for name in functions_of(module):
            lines += ["", f"### {name}", "", text_of(name)]
    return "\n".join(lines) + "\n"


def functions_of(module: str) -> list[str]:
    """The public functions of a module, in the order in which they are written."""
    own = [getattr(evaluate, name) for name in evaluate.__all__]
    home = f"plurivox.evaluate.{module}"
    found = [one for one in own if inspect.isfunction(one) and one.__module__ == home]
    return [one.__name__ for one in sorted(found, key=lambda one: one.__code__.co_firstlineno)]


def text_of(name: str) -> str:
    """How it is called, and its docstring without the examples."""
    function = getattr(evaluate, name)
    text = inspect.cleandoc(function.__doc__ or "").split(">>>")[0].rstrip()
    return f"`{name}({', '.join(inspect.signature(function).parameters)})`\n\n{text}"
