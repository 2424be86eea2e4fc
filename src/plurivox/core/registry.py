"""Methods: a room's files seen as a mapping. A file without a leading underscore is a method."""

import ast
import html
import importlib
import importlib.util
import pkgutil
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from plurivox.core.errors import OptionError, PlurivoxError, PlurivoxWarning, unknown_name
from plurivox.core.method import Method, parse_spec

M = TypeVar("M", bound=Method)


class BrokenPlugin(PlurivoxError):
    """A method that another package brings, and that cannot be loaded."""


class Catalogue:
    """The names of a room's methods and their help lines, read off its files: nothing of the room is imported.

    >>> Catalogue("plurivox.aggregate").summary("vote-shares")
    'The share of each label in the votes of the task.'
    """

    def __init__(self, package: str | None) -> None:
        assert package
        self.package = package

    @property
    def step(self) -> str:
        """The room's own name: `aggregate`."""
        return self.package.rpartition(".")[2]

    @cached_property
    def _folders(self) -> list[str]:
        """Where the room's files lie; finding a package does not run it."""
        spec = importlib.util.find_spec(self.package)
        assert spec is not None and spec.submodule_search_locations is not None, self.package
        return list(spec.submodule_search_locations)

    @cached_property
    def _files(self) -> dict[str, str]:
        """name -> module, for the files of the room."""
        found = (one.name for one in pkgutil.iter_modules(self._folders) if not one.name.startswith("_"))
        return {file.replace("_", "-"): f"{self.package}.{file}" for file in sorted(found)}

    @property
    def built_in(self) -> list[str]:
        """The names of the package's own methods, without those of other packages."""
        return list(self._files)

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        """name -> entry point, for methods that other packages bring."""
        return {one.name: one for one in entry_points(group=self.package)}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._files, *self._plugins}))

    def __len__(self) -> int:
        return len({*self._files, *self._plugins})

    def __contains__(self, name: object) -> bool:
        return name in self._files or name in self._plugins or name in self._other_names

    @cached_property
    def _other_names(self) -> dict[str, tuple[str, bool]]:
        """alias or former name -> (the method's name, whether it is a former one), read off the sources."""
        found: dict[str, tuple[str, bool]] = {}
        for name in self._files:
            node = self._class_node(name)
            for attribute in ("aliases", "former_names"):
                found |= dict.fromkeys(_literal(node, attribute), (name, attribute == "former_names"))
        return found

    def resolve(self, name: str) -> tuple[str, str]:
        """Return the current name of a method known as `name`, and a note if that is its former name."""
        if name in self._files or name in self._plugins or name not in self._other_names:
            return name, ""
        current, former = self._other_names[name]
        return current, f"the {self.step} method {name} is now called {current}" if former else ""

    def with_current_names(self, spec: str) -> str:
        """Replace former names in a spec, nested ones too, as in one that an older version saved."""
        former = {old: new for old, (new, is_former) in self._other_names.items() if is_former}
        return re.sub(r"[a-z0-9]+(?:-[a-z0-9]+)*", lambda found: former.get(found[0], found[0]), spec)

    def summary(self, name: str) -> str:
        """The help line of a method, read off its source."""
        return self._source_of(name)[1]

    def class_name(self, name: str) -> str:
        """The name of a method's class, read off its source."""
        return self._source_of(name)[0]

    def _source_of(self, name: str) -> tuple[str, str]:
        """(class name, first line of its docstring) of a method, without importing it."""
        if name in self._files:
            return _name_and_summary(self._class_node(name))
        if name not in self._plugins:
            raise unknown_name(f"{self.step} method", name, self)
        guest = self._plugins[name]
        try:
            spec = importlib.util.find_spec(guest.module)
            return _name_and_summary(_class_node(spec, guest.module, guest.attr.lower()))
        except Exception as cause:
            raise _broken(name, cause) from cause

    def _class_node(self, name: str) -> ast.ClassDef | None:
        """The syntax tree of the class of a method of this package."""
        module = self._files[name]
        return _class_node(PathFinder.find_spec(module, self._folders), module, name.replace("-", ""))

    def __repr__(self) -> str:
        """A table: a line per method with its name and what it does."""
        width = max(map(len, self), default=0)
        lines = [f"{name:<{width}}  {self.summary(name)}".rstrip() for name in self]
        return "\n".join([f"{len(self)} methods of {self.package}", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        """The same table for notebooks."""
        rows = "".join(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(self.summary(name))}</td></tr>"
            for name in self
        )
        return f"<table><caption>{len(self)} methods of {html.escape(self.package)}</caption>{rows}</table>"


class Methods(Catalogue, Mapping[str, type[M]], Generic[M]):
    """The methods of one room by name; nothing is imported before it is asked for.

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
        name, note = self.resolve(name)
        if note:
            warnings.warn(note, PlurivoxWarning, stacklevel=2)
        if name in self._files:
            module = importlib.import_module(self._files[name])
            return self._checked(_class_in(module, name), name)
        if name in self._plugins:
            try:
                return self._checked(self._plugins[name].load(), name)
            except Exception as cause:
                raise _broken(name, cause) from cause
        raise unknown_name(f"{self.step} method", name, self)

    def _checked(self, found: Any, name: str) -> type[M]:
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise PlurivoxError(
                f"{self.step} method {name!r} is {found!r}; it must be a class based on {self.base.__name__}"
            )
        return found  # type: ignore[return-value]

    def make(self, method: str | M, **options: Any) -> M:
        """The method of that name with these options; options may also stand in the word, or it is one already."""
        if isinstance(method, Method):
            if options:
                raise OptionError(f"{method!r} has its options already")
            return method
        name, given = parse_spec(method)
        return self[name].from_options({**given, **options})

    def attribute(self, name: str) -> type[M]:
        """For a module's `__getattr__`: `from plurivox.aggregate import VoteShares`, imported when asked for."""
        for method in self._files:
            if _same(name, method):
                return self[method]
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")

    def attributes(self) -> list[str]:
        """For a module's `__dir__`: what the package names itself, and the classes of its methods."""
        named = getattr(importlib.import_module(self.package), "__all__", [])
        return sorted({*named, *filter(None, map(self.class_name, self._files))})

    def stub(self) -> str:
        """The text of the room's `__init__.pyi`, so that editors and type checkers know the methods."""
        classes = {name: self[name].__name__ for name in self._files}
        lines = [f"from {self.package}._contract import *", f"from {self.package}._contract import methods as methods"]
        contract = importlib.import_module(f"{self.package}._contract")
        package = importlib.import_module(self.package)
        more = {name: vars(package)[name] for name in package.__all__ if name in vars(package)}
        lines += [
            f"from {one.__module__} import {n} as {n}"
            for n, one in more.items()
            if not hasattr(contract, n) and hasattr(one, "__module__")
        ]
        lines += [f"from {self._files[name]} import {cls} as {cls}" for name, cls in classes.items()]
        return "# made by `make stubs`\n" + "\n".join(lines) + "\n"


def _broken(name: str, cause: Exception) -> BrokenPlugin:
    words = " ".join(str(cause).split())
    return BrokenPlugin(f"{name}, which another package brings, cannot be loaded ({type(cause).__name__}: {words})")


def _class_node(spec: ModuleSpec | None, module: str, wanted: str) -> ast.ClassDef | None:
    """Parse a module's source and return the class whose name in lower case is `wanted`."""
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(module)
    classes = (node for node in ast.parse(source or "").body if isinstance(node, ast.ClassDef))
    return next((node for node in classes if node.name.lower() == wanted), None)


def _name_and_summary(node: ast.ClassDef | None) -> tuple[str, str]:
    """(name, first line of the docstring) of a class; empty texts without one."""
    return ("", "") if node is None else (node.name, (ast.get_docstring(node) or "").partition("\n")[0])


def _literal(node: ast.ClassDef | None, name: str) -> tuple[str, ...]:
    """The tuple of texts that a class assigns to `name`; empty if it does not."""
    for line in node.body if node is not None else ():
        if (
            isinstance(line, ast.AnnAssign)
            and isinstance(line.target, ast.Name)
            and line.target.id == name
            and line.value
        ):
            return tuple(ast.literal_eval(line.value))
    return ()


def _class_in(module: Any, name: str) -> Any:
    for attribute, value in vars(module).items():
        if _same(attribute, name) and isinstance(value, type):
            return value
    camel = "".join(part.capitalize() for part in name.split("-"))
    raise PlurivoxError(f"{module.__name__} should define a class {camel}")


def _same(class_name: str, method_name: str) -> bool:
    return class_name.lower() == method_name.replace("-", "")
