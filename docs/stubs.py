"""Write the `.pyi` files (`make stubs`) that declare lazily imported names for editors and type checkers."""

from pathlib import Path

import plurivox
from plurivox import aggregate, assign, charts, clean, elicit, identify, io, recipes, simulate, train, workflows
from plurivox.core.lazy_exports import pyi_text_of_exports
from plurivox.core.registry import Methods
from plurivox.train import heads, losses, nets, targets

SOURCE = Path(plurivox.__file__).parent
REGISTRIES: list[Methods] = [
    aggregate.methods,
    assign.methods,
    charts.methods,
    clean.methods,
    elicit.methods,
    identify.methods,
    recipes.methods,
    simulate.methods,
]
REGISTRIES += [targets.methods, losses.methods, heads.methods, nets.methods]


def stubs() -> dict[Path, str]:
    """Return {path: text} of all stub files."""
    steps = {
        SOURCE.joinpath(*methods.package.split(".")[1:], "__init__.pyi"): methods.pyi_text_importing_method_classes()
        for methods in REGISTRIES
    }
    steps[SOURCE / "recipes" / "__init__.pyi"] += pyi_text_of_exports("plurivox.workflows", recipes.EXPORTS).partition(
        "\n"
    )[2]
    package = pyi_text_of_exports("plurivox", plurivox.EXPORTS) + "__version__: str\n"
    lazy = {SOURCE / "io" / "__init__.pyi": pyi_text_of_exports("plurivox.io", io.EXPORTS)}
    lazy[SOURCE / "workflows" / "__init__.pyi"] = pyi_text_of_exports("plurivox.workflows", workflows.EXPORTS)
    lazy[SOURCE / "train" / "__init__.pyi"] = pyi_text_of_exports("plurivox.train", train.EXPORTS)
    return {SOURCE / "__init__.pyi": package, **lazy, **steps}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
