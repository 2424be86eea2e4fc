"""Names of a package that are imported when they are first asked for."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__`: `homes` maps each name to the module that holds it, or to "" for a module itself.

    >>> importer("plurivox.core", {"Votes": "votes", "names": ""})("Votes")
    <class 'plurivox.core.votes.Votes'>
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name] or name}")
        return getattr(module, name) if homes[name] else module

    return attribute


def stub(package: str, homes: Mapping[str, str]) -> str:
    """The `.pyi` that tells editors and type checkers what `importer` will find."""
    modules = [f"from {package} import {name} as {name}" for name, home in sorted(homes.items()) if not home]
    by_home = sorted((home, name) for name, home in homes.items() if home)
    names = [f"from {package}.{home} import {name} as {name}" for home, name in by_home]
    return "\n".join(["# made by `make stubs`", *modules, *names, "", "HOMES: dict[str, str]", ""])
