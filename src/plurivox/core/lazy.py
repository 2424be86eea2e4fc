"""Names of a package that are imported when they are first asked for."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_getattr(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__`: `homes` maps each name to the module that holds it, relative to `package`.

    "" stands for the submodule of that name, and "path:" for the submodule at that path. A name must not be that of a
    submodule of `package` that holds something else: importing the submodule would replace it.

    >>> lazy_getattr("plurivox.core", {"Votes": "votes", "names": "encoding:"})("Votes")
    <class 'plurivox.core.votes.Votes'>
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, is_module = module_of(name, homes[name])
        found = importlib.import_module(f"{package}.{module}")
        return found if is_module else getattr(found, name)

    return attribute


def stub(package: str, homes: Mapping[str, str]) -> str:
    """The `.pyi` that tells editors and type checkers what `lazy_getattr` will find."""
    lines, aliases = ["# made by `make stubs`"], []
    for name, home in sorted(homes.items(), key=lambda one: (module_of(*one)[0] if one[1] else "", one[0])):
        module, is_module = module_of(name, home)
        parent, _, base = f"{package}.{module}".rpartition(".")
        if not is_module:
            lines.append(f"from {parent}.{base} import {name} as {name}")
        elif base == name:
            lines.append(f"from {parent} import {base} as {name}")
        else:  # a stub exports an alias only if it keeps the name
            lines.append(f"from {parent} import {base} as _{base}")
            aliases.append(f"{name} = _{base}")
    return "\n".join([*lines, "", *aliases, "HOMES: dict[str, str]", ""])


def module_of(name: str, home: str) -> tuple[str, bool]:
    """(the module, relative to its package; whether the name stands for the module itself).

    >>> module_of("fit", "fit_net"), module_of("heads", ""), module_of("text", "data.text:")
    (('fit_net', False), ('heads', True), ('data.text', True))
    """
    return (home.removesuffix(":") or name, not home or home.endswith(":"))
