"""Write the `.pyi` files that tell editors and type checkers what is imported lazily: `make stubs`."""

from pathlib import Path

import plurivox
from plurivox import aggregate, assign, clean, elicit, identify, io, recipes, simulate
from plurivox.core.lazy import stub
from plurivox.core.registry import Methods

SOURCE = Path(plurivox.__file__).parent
ROOMS: list[Methods] = [
    aggregate.methods,
    assign.methods,
    clean.methods,
    elicit.methods,
    identify.methods,
    recipes.methods,
    simulate.methods,
]


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    rooms = {SOURCE / methods.room / "__init__.pyi": methods.stub() for methods in ROOMS}
    rooms[SOURCE / "recipes" / "__init__.pyi"] += stub("plurivox.recipes", recipes.HOMES).partition("\n")[2]
    face = stub("plurivox", plurivox.HOMES) + "__version__: str\n"
    return {SOURCE / "__init__.pyi": face, SOURCE / "io" / "__init__.pyi": stub("plurivox.io", io.HOMES), **rooms}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
