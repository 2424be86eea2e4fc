"""Lazy exports of a package: a `__getattr__` that imports public names on first use, and the .pyi stub that declares them."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_getattr(package: str, exports: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module-level `__getattr__` that imports each name of `exports` from its module on first use.

    `exports` maps a name to a module relative to `package`; "" means the submodule of that name, "path:" the submodule
    at that path. A name must not be that of a submodule with other content: importing the submodule would replace it.

    >>> lazy_getattr("plurivox.core", {"Votes": "votes", "names": "encoding:"})("Votes")
    <class 'plurivox.core.votes.Votes'>
    """

    def import_exported_name(exported_name: str) -> Any:
        if exported_name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {exported_name!r}")
        module, is_module = export_module_and_is_module(exported_name, exports[exported_name])
        found = importlib.import_module(f"{package}.{module}")
        return found if is_module else getattr(found, exported_name)

    return import_exported_name


MAX_LINE_LENGTH = 120  # of stubs, as the formatter wraps them


def pyi_text_of_exports(package: str, exports: Mapping[str, str]) -> str:
    """Return the text of the `.pyi` stub that declares the names of `exports` for editors and type checkers."""
    lines, aliases = ["# made by `make stubs`"], []
    for name, location in sorted(
        exports.items(), key=lambda one: (export_module_and_is_module(*one)[0] if one[1] else "", one[0])
    ):
        module, is_module = export_module_and_is_module(name, location)
        parent, _, base = f"{package}.{module}".rpartition(".")
        if not is_module:
            line = f"from {parent}.{base} import {name} as {name}"
            wrapped = f"from {parent}.{base} import (\n    {name} as {name},\n)"
            lines.append(line if len(line) <= MAX_LINE_LENGTH else wrapped)
        elif base == name:
            lines.append(f"from {parent} import {base} as {name}")
        else:  # a stub exports an alias only if it keeps the name
            lines.append(f"from {parent} import {base} as _{base}")
            aliases.append(f"{name} = _{base}")
    return "\n".join([*lines, "", *aliases, "EXPORTS: dict[str, str]", ""])


def export_module_and_is_module(export_name: str, module_path: str) -> tuple[str, bool]:
    """Return (module relative to the package, whether the exported name is that module itself) for one export.

    >>> [export_module_and_is_module(*one) for one in (("fit", "fit_net"), ("heads", ""), ("text", "data.text:"))]
    [('fit_net', False), ('heads', True), ('data.text', True)]
    """
    return (module_path.removesuffix(":") or export_name, not module_path or module_path.endswith(":"))
