"""What a step ran with, as digests: the modules of the library, the part of the study, the packages."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from reident.pipeline.parts import digest, part

if TYPE_CHECKING:
    from reident.study.model import Study

LIBRARY = Path(__file__).parents[1]
ADAPTERS = LIBRARY.parents[1] / "scripts"
MODULES = {
    "resolve": ["study.model", "pipeline.family"],
    "simulate": ["simulation.survey"],
    "synthesize": ["simulation.synthesis"],
    "simulate_amounts": ["simulation.skewed"],
    "microaggregate": ["microaggregation.masking"],
    "prepare": ["intake.prepare"],
    "stratify": ["linkage.strata"],
    "bin": ["linkage.bins"],
    "score": ["linkage.scoring", "linkage.metrics.{metric}"],
    "rank": ["linkage.ranking"],
    "confirm": ["linkage.confirmation"],
    "agreements": ["linkage.agreements"],
    "describe": ["linkage.description"],
    "rate": ["linkage.rates"],
    "prepare_matching": ["matching.prepare"],
    "match": ["matching.summary"],
    "compare": ["pipeline.comparison", "pipeline.family"],
    "populate": ["simulation.authorities"],
    "prepare_filerisk": ["filerisk.prepare"],
    "assess_file": ["filerisk.assessment"],
    "sample_population": ["filerisk.numerical_study"],
    "report": ["report", "report.figures", "report.tables", "linkage.rates"],
}
"""The library modules of each rule."""

COMPILED = ("score", "match", "assess_file", "sample_population")
"""The rules that run kernels."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from (reident[.\w]*) import (\([^)]*\)|.*)|import (reident[.\w]+))", re.MULTILINE
)
_FOR_TYPES = re.compile(r"^([ \t]*)if TYPE_CHECKING:\n(?:\1[ \t]+.*\n|\n)*", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_NAME = re.compile(r"(?<!as )\b(?!as\b)\w+")

PACKAGES = ("reident", "numpy", "scipy", "pandas", "pyarrow", "pyreadstat", "numba", "pydantic", "snakemake")


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """The versions that a number may depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


@cache
def library_digest(rule: str, metric: str | None = None) -> str:
    """SHA-256 over a rule's adapter and the sources of its library modules and all that these import from the library.

    The study model is left out, and how variants are made but where they are compared: what a step takes of a
    study has a digest of its own. So are kernels of steps that do not score. Imports for type checking only do
    not count.
    """
    todo = [f"reident.{module.format(metric=metric)}" for module in (*MODULES[rule], "ledger.running")]
    seen: set[str] = set()
    while todo:
        module = todo.pop()
        unused = module.removeprefix("reident.") in {"study.model", "pipeline.family"} - set(MODULES[rule])
        unused |= module.startswith("reident.kernels") and rule not in COMPILED
        if module in seen or unused:
            continue
        seen.add(module)
        todo += _imports(module)
    total = hashlib.sha256()
    for module in sorted(seen):
        for source in _files(module):
            total.update(f"{source.relative_to(LIBRARY)}\0{sha256(source)}\n".encode())
    total.update(sha256(ADAPTERS / f"{rule}.py").encode())
    return total.hexdigest()


def _files(module: str) -> list[Path]:
    base = LIBRARY.joinpath(*module.split(".")[1:])
    if base.is_dir():
        return (
            sorted(file for file in base.glob("*") if file.is_file())
            if base != LIBRARY
            else [base / "__init__.py"]
        )
    return [base.with_suffix(".py")]


@cache
def _imports(module: str) -> list[str]:
    """What a module imports from the library, or a package's modules.

    Found by pattern: every start of a run asks for it, and parsing takes twenty times as long.
    """
    found: list[str] = []
    for source in _files(module):
        if source.suffix != ".py":
            continue
        text = _FOR_TYPES.sub("", source.read_text(encoding="utf-8"))
        for package, names, whole in _IMPORT.findall(text):
            found += _imported_from(package, _NAME.findall(_COMMENT.sub("", names))) if package else [whole]
    return [name for name in found if name.startswith("reident.") and _exists(name)]


def _imported_from(module: str, names: list[str]) -> list[str]:
    """What `from module import names` takes: of a package the named modules alone, where they are modules."""
    parts = [f"{module}.{name}" for name in names]
    if all(map(_exists, parts)):
        return [f"{module}.__init__", *parts]
    return [module, *parts]


def _exists(module: str) -> bool:
    base = LIBRARY.joinpath(*module.split(".")[1:])
    return base.is_dir() or base.with_suffix(".py").is_file()


def study_digest(study: Study, rule: str, metric: str | None) -> str:
    """The digest of what a step takes from the study itself."""
    return digest(part(study, rule, metric))
