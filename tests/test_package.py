"""The package as a whole: light imports, fresh stubs and pages, one version, private names."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import plurivox

ROOT = Path(__file__).parent.parent
HEAVY_PACKAGES = (
    "torch",
    "fastapi",
    "pyspark",
    "pandas",
    "matplotlib",
    "sklearn",
    "numpy",
    "polars",
    "scipy",
    "numba",
    "click",
    "rich",
)


def loaded_by(code: str) -> set[str]:
    """Return the packages that a fresh interpreter has imported after running the code."""
    tail = "import sys; print('\\n'.join(name for name in sys.modules if '.' not in name))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tail}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_no_heavy_package() -> None:
    assert loaded_by("import plurivox") & set(HEAVY_PACKAGES) == set()


def test_vote_shares_import_neither_numba_nor_a_framework() -> None:
    code = "import plurivox as pv; pv.fit(pv.votes(task=['a'], worker=['w'], label=['x']), 'vote-shares')"
    assert (
        loaded_by(code) & {"torch", "fastapi", "pyspark", "pandas", "matplotlib", "sklearn", "numba", "click"} == set()
    )


def test_the_data_types_need_only_numpy() -> None:
    code = "from plurivox.core import votes, answers, soft_labels, results, registry"
    assert loaded_by(code) & set(HEAVY_PACKAGES) == {"numpy"}


def test_the_classes_and_the_help_of_charts_need_no_matplotlib() -> None:
    code = "from plurivox import charts; [charts.methods[name].summary() for name in charts.methods]"
    assert loaded_by(code) & {"matplotlib", "PIL"} == set()


def test_every_public_name_can_be_imported() -> None:
    for name in plurivox.__all__:
        assert getattr(plurivox, name) is not None
    assert set(plurivox.__all__) <= set(dir(plurivox))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        plurivox.nothing  # noqa: B018


PACKAGES = (plurivox, plurivox.aggregate, plurivox.io, plurivox.recipes, plurivox.train, plurivox.workflows)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_dir_lists_all_public_names(package: ModuleType) -> None:
    shown = dir(package)
    assert set(package.__all__) <= set(shown)
    # every listed name exists, and is the same object on each access
    assert all(getattr(package, name) is getattr(package, name) for name in shown)


def test_dir_of_a_registry_lists_the_class_of_every_method() -> None:
    for registry in (plurivox.aggregate.methods, plurivox.train.heads.methods):
        assert {cls.__name__ for cls in registry.values()} <= set(dir(sys.modules[registry.package]))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_no_exported_name_is_also_the_name_of_a_submodule(package: ModuleType) -> None:
    exports = getattr(package, "EXPORTS", {})
    assert not [module.name for module in pkgutil.iter_modules(package.__path__) if exports.get(module.name)]


def test_a_registry_prints_as_a_table() -> None:
    lines = repr(plurivox.aggregate.methods).splitlines()
    assert lines[0] == f"{len(lines) - 1} methods of plurivox.aggregate"
    assert any(
        line.split(maxsplit=1)
        == ["vote-shares", "Soft labels by vote shares: the votes for a label divided by all votes of the task."]
        for line in lines
    )
    assert "<code>vote-shares</code>" in plurivox.aggregate.methods._repr_html_()


def test_the_docstring_of_fit_names_every_method() -> None:
    assert all(name in (plurivox.fit.__doc__ or "") for name in plurivox.aggregate.methods.built_in_method_names)


def test_the_signature_of_train_fit_has_its_return_type() -> None:
    assert inspect.signature(plurivox.train.fit).return_annotation is plurivox.train.Trained


def test_the_package_has_a_py_typed_file() -> None:
    assert (ROOT / "src" / "plurivox" / "py.typed").is_file()


def test_stubs_are_fresh() -> None:
    sys.path.insert(0, str(ROOT))
    from docs.stubs import stubs

    stale = [path.name for path, text in stubs().items() if not path.is_file() or path.read_text() != text]
    assert not stale, f"{stale} are out of date; run: make stubs"


def test_pages_are_fresh() -> None:
    sys.path.insert(0, str(ROOT))
    from docs.make import pages

    stale = [path.name for path, text in pages().items() if not path.is_file() or path.read_text() != text]
    assert not stale, f"{stale} are out of date; run: make docs"


def test_all_files_have_the_same_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == plurivox.__version__
    assert f"version: {plurivox.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_the_library_is_silent_by_default() -> None:
    code = "import plurivox, logging; logging.getLogger('plurivox.x').warning('heard')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout == ""


INTERFACES = ("cli", "web")


def private_imports(file: Path, package: str) -> list[str]:
    """Return the modules or names with a leading underscore that a file imports from outside its package."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plurivox."):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("plurivox.")]
        else:
            continue
        outside = [name for name in names if not name.startswith(f"plurivox.{package}.")]
        found += [name for name in outside if any(part.startswith("_") for part in name.split("."))]
    return found


@pytest.mark.parametrize("package", INTERFACES)
def test_interfaces_import_public_names_only(package: str) -> None:
    files = (ROOT / "src" / "plurivox" / package).rglob("*.py")
    assert {str(file): found for file in files if (found := private_imports(file, package))} == {}


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("[!_]*.py")), ids=lambda file: file.stem)
def test_every_benchmark_can_be_imported(file: Path) -> None:
    """No other test runs the benchmarks, so an import of a renamed module would go unnoticed, also in code they run as text."""
    texts = [node.value for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)]
    inside = re.findall(r"from (?:plurivox|benchmarks)[.\w]* import \w+(?:, \w+)*", "\n".join(map(str, texts)))
    code = "\n".join([f"import benchmarks.{file.stem}", *inside])
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
