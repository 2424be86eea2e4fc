"""Registry of the methods of a package: a mapping from name to class. A file without leading underscore is a method."""

import ast
import html
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from plurivox.core.errors import OptionError, PlurivoxError, unknown_name_error, warn_user
from plurivox.core.method import Method, parse_spec

M = TypeVar("M", bound=Method)


class BrokenPlugin(PlurivoxError):
    """Error: a method installed by another package (plugin) cannot be loaded."""


class Catalogue:
    """Names and help lines of a package's methods, parsed from its source files without importing them.

    >>> Catalogue("plurivox.aggregate").summary("vote-shares")
    'Soft labels by vote shares: the votes for a label divided by all votes of the task.'
    """

    def __init__(self, package: str | None) -> None:
        assert package
        self.package = package

    @property
    def package_base_name(self) -> str:
        """The last part of the name of the methods' package, such as `aggregate`."""
        return self.package.rpartition(".")[2]

    @cached_property
    def _source_folders_of_package(self) -> list[str]:
        """Folders with the source files of the methods' package, found without importing it."""
        spec = importlib.util.find_spec(self.package)
        assert spec is not None and spec.submodule_search_locations is not None, self.package
        return list(spec.submodule_search_locations)

    @cached_property
    def _own_module_by_method_name(self) -> dict[str, str]:
        """Method name -> module, for the methods in the package's own files."""
        found = (
            one.name for one in pkgutil.iter_modules(self._source_folders_of_package) if not one.name.startswith("_")
        )
        return {file.replace("_", "-"): f"{self.package}.{file}" for file in sorted(found)}

    @property
    def built_in_method_names(self) -> list[str]:
        """Names of the methods defined in the package itself, without plugins."""
        return list(self._own_module_by_method_name)

    @cached_property
    def _plugin_entry_point_by_name(self) -> dict[str, EntryPoint]:
        """Method name -> entry point, for methods installed by other packages (plugins)."""
        return {one.name: one for one in entry_points(group=self.package)}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._own_module_by_method_name, *self._plugin_entry_point_by_name}))

    def __len__(self) -> int:
        return len({*self._own_module_by_method_name, *self._plugin_entry_point_by_name})

    def __contains__(self, name: object) -> bool:
        return (
            name in self._own_module_by_method_name
            or name in self._plugin_entry_point_by_name
            or name in self._current_name_and_is_former_by_alias
        )

    @cached_property
    def _current_name_and_is_former_by_alias(self) -> dict[str, tuple[str, bool]]:
        """Alias or former name -> (current name, whether it is a former name), parsed from the source files."""
        found: dict[str, tuple[str, bool]] = {}
        for name in self._own_module_by_method_name:
            node = self._parse_class_of_method(name)
            for attribute in ("aliases", "former_names"):
                found |= dict.fromkeys(
                    _parse_text_tuple_of_class_attribute(node, attribute), (name, attribute == "former_names")
                )
        return found

    def current_name_and_rename_note(self, name_or_alias: str) -> tuple[str, str]:
        """Return (current name, note) of a method given by name, alias or former name; the note is empty except for a
        former name.
        """
        if (
            name_or_alias in self._own_module_by_method_name
            or name_or_alias in self._plugin_entry_point_by_name
            or name_or_alias not in self._current_name_and_is_former_by_alias
        ):
            return name_or_alias, ""
        current, former = self._current_name_and_is_former_by_alias[name_or_alias]
        return current, f"the {self.package_base_name} method {name_or_alias} is now called {current}" if former else ""

    def replace_former_names(self, spec: str) -> str:
        """Return a method spec, such as one saved by an older version, with former method names
        replaced by the current ones.
        """
        former = {old: new for old, (new, is_former) in self._current_name_and_is_former_by_alias.items() if is_former}
        return re.sub(r"[a-z0-9]+(?:-[a-z0-9]+)*", lambda found: former.get(found[0], found[0]), spec)

    def summary(self, method_name: str) -> str:
        """Return the help line of a method (the first docstring line of its class), parsed from its source."""
        return self._parse_class_name_and_docstring_line(method_name)[1]

    def class_name(self, method_name: str) -> str:
        """Return the name of a method's class, parsed from its source."""
        return self._parse_class_name_and_docstring_line(method_name)[0]

    def _parse_class_name_and_docstring_line(self, method_name: str) -> tuple[str, str]:
        """Return (class name, first docstring line) of a method or plugin without importing it."""
        if method_name in self._own_module_by_method_name:
            return _class_name_and_docstring_line(self._parse_class_of_method(method_name))
        if method_name not in self._plugin_entry_point_by_name:
            raise unknown_name_error(f"{self.package_base_name} method", method_name, self)
        plugin = self._plugin_entry_point_by_name[method_name]
        try:
            spec = importlib.util.find_spec(plugin.module)
            return _class_name_and_docstring_line(_parse_class_from_source(spec, plugin.module, plugin.attr.lower()))
        except Exception as cause:
            raise _broken_plugin_error(method_name, cause) from cause

    def _parse_class_of_method(self, method_name: str) -> ast.ClassDef | None:
        """Return the syntax tree of the class that implements one of the package's own methods; None if there is none."""
        module = self._own_module_by_method_name[method_name]
        return _parse_class_from_source(
            PathFinder.find_spec(module, self._source_folders_of_package), module, method_name.replace("-", "")
        )

    def __repr__(self) -> str:
        """Return a text table of the registered methods: one line each with name and help line."""
        width = max(map(len, self), default=0)
        lines = [f"{name:<{width}}  {self.summary(name)}".rstrip() for name in self]
        return "\n".join([f"{len(self)} methods of {self.package}", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        """Return a table of the registered methods, names and help lines, as HTML for notebooks."""
        rows = "".join(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(self.summary(name))}</td></tr>"
            for name in self
        )
        return f"<table><caption>{len(self)} methods of {html.escape(self.package)}</caption>{rows}</table>"


class Methods(Catalogue, Mapping[str, type[M]], Generic[M]):
    """Mapping from method name to class for one package; a module is imported when its method is first accessed.

    >>> from plurivox import aggregate
    >>> "vote-shares" in aggregate.methods
    True
    >>> aggregate.methods.make("majority-vote[ties=share]")
    MajorityVote(ties='share', seed=0)
    """

    def __init__(self, package: str | None, base: type) -> None:
        super().__init__(package)
        self.base = base

    def __getitem__(self, name: str) -> type[M]:
        name, note = self.current_name_and_rename_note(name)
        if note:
            warn_user(note)
        if name in self._own_module_by_method_name:
            module = importlib.import_module(self._own_module_by_method_name[name])
            return self._subclass_of_base_or_raise(_find_class(module, name), name)
        if name in self._plugin_entry_point_by_name:
            try:
                return self._subclass_of_base_or_raise(self._plugin_entry_point_by_name[name].load(), name)
            except Exception as cause:
                raise _broken_plugin_error(name, cause) from cause
        raise unknown_name_error(f"{self.package_base_name} method", name, self)

    def _subclass_of_base_or_raise(self, candidate: Any, method_name: str) -> type[M]:
        """Return the class loaded for a method; raise PlurivoxError if it is not a subclass of the registry's base class."""
        if not (isinstance(candidate, type) and issubclass(candidate, self.base)):
            raise PlurivoxError(
                f"{self.package_base_name} method {method_name!r} is {candidate!r}; "
                f"it must be a class based on {self.base.__name__}"
            )
        return candidate  # type: ignore[return-value]

    def make(self, method: str | M, **options: Any) -> M:
        """Create a method from its name or spec and options; return a method object unchanged."""
        if isinstance(method, Method):
            if options:
                raise OptionError(f"{method!r} is a method object with options; give its name to set other options")
            return method
        name, given = parse_spec(method)
        return self[name].from_options({**given, **options})

    def class_by_name(self, class_name: str) -> type[M]:
        """Return the class of a method by class name, such as VoteShares; it serves as
        `__getattr__` of the methods' package.
        """
        for method in self._own_module_by_method_name:
            if _names_match(class_name, method):
                return self[method]
        raise AttributeError(f"module {self.package!r} has no attribute {class_name!r}")

    def public_names_of_package(self) -> list[str]:
        """Return the public names of the methods' package and the class names of its methods; it serves as its `__dir__`."""
        named = getattr(importlib.import_module(self.package), "__all__", [])
        return sorted({*named, *filter(None, map(self.class_name, self._own_module_by_method_name))})

    def pyi_text_importing_method_classes(self) -> str:
        """Return the text of the package's `__init__.pyi`, which declares its methods for editors and type checkers."""
        classes = {name: self[name].__name__ for name in self._own_module_by_method_name}
        lines = [f"from {self.package}._contract import *", f"from {self.package}._contract import methods as methods"]
        contract = importlib.import_module(f"{self.package}._contract")
        package = importlib.import_module(self.package)
        more = {name: vars(package)[name] for name in package.__all__ if name in vars(package)}
        lines += [
            f"from {one.__module__} import {n} as {n}"
            for n, one in more.items()
            if not hasattr(contract, n) and hasattr(one, "__module__")
        ]
        lines += [
            f"from {self._own_module_by_method_name[name]} import {cls} as {cls}" for name, cls in classes.items()
        ]
        return "# made by `make stubs`\n" + "\n".join(lines) + "\n"


def _broken_plugin_error(method_name: str, cause: Exception) -> BrokenPlugin:
    """Return (not raise) the BrokenPlugin error for a plugin method that raised `cause` while it was loaded."""
    words = " ".join(str(cause).split())
    return BrokenPlugin(f"the plugin method {method_name} cannot be loaded ({type(cause).__name__}: {words})")


def _parse_class_from_source(spec: ModuleSpec | None, module_name: str, lowercase_name: str) -> ast.ClassDef | None:
    """Parse a module's source and return the class whose lower-case name is `lowercase_name`, or None."""
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(module_name)
    classes = (node for node in ast.parse(source or "").body if isinstance(node, ast.ClassDef))
    return next((node for node in classes if node.name.lower() == lowercase_name), None)


def _class_name_and_docstring_line(class_node: ast.ClassDef | None) -> tuple[str, str]:
    """Return (name, first docstring line) of the class in a syntax tree; empty texts if `class_node` is None."""
    return (
        ("", "") if class_node is None else (class_node.name, (ast.get_docstring(class_node) or "").partition("\n")[0])
    )


def _parse_text_tuple_of_class_attribute(class_node: ast.ClassDef | None, attribute: str) -> tuple[str, ...]:
    """Return the tuple of texts assigned to `attribute` in the syntax tree of a class; empty if there is none."""
    for line in class_node.body if class_node is not None else ():
        if (
            isinstance(line, ast.AnnAssign)
            and isinstance(line.target, ast.Name)
            and line.target.id == attribute
            and line.value
        ):
            return tuple(ast.literal_eval(line.value))
    return ()


def _find_class(module: Any, method_name: str) -> Any:
    """Return the class of a module that implements the method `method_name`. Raise PlurivoxError if there is none."""
    for attribute, value in vars(module).items():
        if _names_match(attribute, method_name) and isinstance(value, type):
            return value
    camel = "".join(part.capitalize() for part in method_name.split("-"))
    raise PlurivoxError(f"{module.__name__} should define a class {camel}")


def _names_match(class_name: str, method_name: str) -> bool:
    """Return whether a class name such as FastDawidSkene belongs to the method fast-dawid-skene."""
    return class_name.lower() == method_name.replace("-", "")
