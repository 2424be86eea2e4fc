"""Write the `.pyi` files that tell editors and type checkers what is imported lazily: `make stubs`."""

from pathlib import Path

import plurivox
from plurivox import aggregate, simulate
from plurivox.core.registry import Methods

SOURCE = Path(plurivox.__file__).parent
ROOMS: list[Methods] = [aggregate.methods, simulate.methods]


def face() -> str:
    """The stub of `plurivox` itself, from the table in its `__init__.py`."""
    lines = ["# made by `make stubs`", ""]
    lines += [f"from plurivox import {room} as {room}" for room in plurivox._ROOMS]
    for name, module in sorted(plurivox._FACE.items(), key=lambda pair: (pair[1], pair[0])):
        lines.append(f"from plurivox.{module} import {name} as {name}")
    lines += ["", "__version__: str", "_FACE: dict[str, str]", "_ROOMS: tuple[str, ...]", ""]
    return "\n".join(lines)


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    rooms = {SOURCE / methods.room / "__init__.pyi": methods.stub() for methods in ROOMS}
    return {SOURCE / "__init__.pyi": face(), **rooms}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
