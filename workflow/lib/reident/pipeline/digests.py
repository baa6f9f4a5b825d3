"""The digests of a step's run: the modules of the library, the settings, the packages."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path

from reident.pipeline.steps import STEPS

LIBRARY = Path(__file__).parents[1]
ADAPTERS = LIBRARY.parents[1] / "scripts"
_IMPORT = re.compile(r"^[ \t]*(?:from (reident[.\w]*) import (\([^)]*\)|.*)|import (reident[.\w]+))", re.MULTILINE)
_FOR_TYPES = re.compile(r"^([ \t]*)if TYPE_CHECKING:\n(?:\1[ \t]+.*\n|\n)*", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_NAME = re.compile(r"(?<!as )\b(?!as\b)\w+")

OF_METRICS = ("linkage/metrics/*.yaml",)
WORDS = ("*/words.yaml", "*/words/*.yaml", *OF_METRICS)
READ = {"reident.page.sentences": WORDS, "reident.language.messages": OF_METRICS}
"""The words beside the code of analyses and metrics, and the modules that read them: no number depends on them."""

DECLARED = ("*/steps.csv", "*/tables.csv", "*/columns.csv", "*/quantities.csv")
"""The declarations beside the code of analyses: what of them a step depends on, is in its digest."""

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pyreadstat", "numba", "pydantic", "snakemake")


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def versions() -> dict[str, str]:
    """The versions that a number may depend on."""
    packages = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages[package] = metadata.version(package)
    return packages


def has_adapters() -> bool:
    """Return whether the adapters of steps are there, as in a checkout; the installed package has none."""
    return ADAPTERS.is_dir()


@cache
def library_digest(rule: str, metric: str | None = None, adapter: str | None = None) -> str:
    """Return the SHA-256 over a step's adapter and the sources of its modules and all that these import.

    The study and the table of steps are left out: what a step takes of a study has a digest of its own. The
    kernels of steps that do not run them are left out too. Imports for type checking only do not count. By default, the
    SHA-256 of the adapter is that of this checkout.
    """
    total = hashlib.sha256()
    for module in modules(rule, metric):
        total.update(_lines(module))
    total.update((adapter or sha256(ADAPTERS / f"{rule}.py")).encode())
    for name in (rule, *STEPS[rule].after):
        for table in STEPS[name].tables:
            total.update(repr((table.path, [column[:2] for column in table.columns])).encode())
    return total.hexdigest()


@cache
def modules(rule: str, metric: str | None = None) -> tuple[str, ...]:
    """Return the modules of the library that a step runs, by name."""
    step = STEPS[rule]
    named = {name for module in step.modules for name in _named(f"reident.{module.format(metric=metric)}")}
    todo, seen = [*named, "reident.ledger.running"], set()
    while todo:
        module = todo.pop()
        floor = module.split(".")[1]
        unused = floor in _WITHOUT_EFFECT and module not in named
        unused |= floor == "kernels" and not step.compiled
        if module in seen or unused:
            continue
        seen.add(module)
        todo += _imports(module)
    return tuple(sorted(seen))


_WITHOUT_EFFECT = ("study", "pipeline")
"""The floors whose modules reach a step by its settings alone, or are named by it."""


def _named(module: str) -> list[str]:
    """Return a module by itself, or those that a name with ``*`` stands for, which a notebook imports."""
    if not set("*[") & set(module):
        return [module]
    files = LIBRARY.glob("/".join(module.split(".")[1:]) + ".py")
    return [".".join(("reident", *file.relative_to(LIBRARY).with_suffix("").parts)) for file in files]


def _path(module: str) -> Path:
    return LIBRARY.joinpath(*module.split(".")[1:])


def _files(module: str) -> list[Path]:
    """Return the source of a module; for a package also the files in its folder that belong to no module."""
    base = _path(module)
    # Not by the folder: that of an earlier version may be left, with what was compiled.
    if not (base / "__init__.py").is_file():
        return [base.with_suffix(".py"), *_beside(READ.get(module, ()))]
    folders = [base, *(folder for folder in base.iterdir() if not (folder / "__init__.py").exists())]
    others = [file for folder in folders for file in folder.glob("*") if file.suffix not in (".py", ".pyc")]
    apart = _beside((*WORDS, *DECLARED))
    return [base / "__init__.py", *sorted(file for file in others if file.is_file() and file not in apart)]


@cache
def _beside(patterns: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files beside the code that have one of these patterns."""
    return tuple(sorted(file for pattern in patterns for file in LIBRARY.glob(pattern)))


@cache
def _lines(module: str) -> bytes:
    """Return a line with the digest of each file of a module."""
    return b"".join(f"{file.relative_to(LIBRARY)}\0{sha256(file)}\n".encode() for file in _files(module))


@cache
def _imports(module: str) -> list[str]:
    """Return the imports of a module from the library.

    Found by pattern: every start of a run asks for it, and parsing takes twenty times as long.
    """
    return [name for source in _files(module) if source.suffix == ".py" for name in _imports_in(source)]


def _imports_in(source: Path) -> list[str]:
    """Return the imports of a source file from the library."""
    names: list[str] = []
    text = _FOR_TYPES.sub("", source.read_text(encoding="utf-8"))
    for package, imported, whole in _IMPORT.findall(text):
        names += _imported_from(package, _NAME.findall(_COMMENT.sub("", imported))) if package else [whole]
    return [name for name in names if name.startswith("reident.") and _exists(name)]


def _imported_from(module: str, names: list[str]) -> list[str]:
    """Return the modules that `from module import names` runs: the module, and those of the names that are modules."""
    return [module, *(part for name in names if _exists(part := f"{module}.{name}"))]


@cache
def _exists(module: str) -> bool:
    base = os.path.join(LIBRARY, *module.split(".")[1:])  # noqa: PTH118 - asked of every imported name
    return os.path.isdir(base) or os.path.isfile(f"{base}.py")  # noqa: PTH112, PTH113
