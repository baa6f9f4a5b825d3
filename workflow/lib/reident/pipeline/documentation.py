"""docs/DATA.md, the data dictionary, and the table of the files that hold data, from the declared tables.

``make docs`` writes both, and what is generated from the study model; a test fails where a file differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reident.pipeline import tables
from reident.pipeline.steps import COMPARED, STEPS, Step
from reident.pipeline.tables import Table, TableColumn
from reident.study import documentation
from reident.study.documentation import fill

CONFIDENTIALITY = "docs/explanation/confidentiality.md"

HOLDS = {
    "records": "keys, links, values of records",
    "labels": "labels of strata, categories of the file whose risk is measured, cut points of numeric variables, codes "
    "that a warning is about",
}
UNDECLARED = {"records": ["confidential/*.txt"], "labels": []}
"""Files that hold data and are not declared by a step."""


def data_dictionary() -> str:
    """Return the tables of every step with their columns."""
    return "\n".join(_section(step) for step in STEPS.values())


def _section(step: Step) -> str:
    return "\n".join([f"## {step.rule}\n", *(_describe(table) for table in step.tables)])


def _describe(table: Table) -> str:
    facts = [table.meaning]
    if table in tables.COMPARE_VARIANTS:
        facts.append(f"The tables are {_either([f'`{compared.path}`' for compared in COMPARED.values()])}.")
    if table.holds != "aggregates":
        facts.append(f"Holds `{table.holds}`.")
    if table.section:
        facts.append(f"METHODS §{table.section}.")
    lines = [f"### `{table.path}`\n", " ".join(facts), ""]
    if table.columns:
        lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [_line(column, table) for column in table.columns]
        lines.append("")
    return "\n".join(lines)


def _line(column: TableColumn, table: Table) -> str:
    facts = [column.meaning]
    if column.only:
        facts.append(f"{column.only} only")
    if column.section and column.section != table.section:
        facts.append(f"§{column.section}")
    cells = (f"`{column.name}`", column.type, column.unit, "; ".join(facts))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _either(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def files_with_data() -> str:
    """Return the table of the files that hold data of the sources."""
    lines = ["| below `results/{study}/` | hold |", "|---|---|"]
    for holds, meaning in HOLDS.items():
        patterns = [*dict.fromkeys(_patterns(holds)), *UNDECLARED[holds]]
        lines.append(f"| {', '.join(f'`{pattern}`' for pattern in patterns)} | {meaning} |")
    lines.append("| everything else | counts, rates, scores, and what the study file says |")
    return "\n".join(lines)


def _patterns(holds: str) -> Iterator[str]:
    """Yield the files that hold something: one pattern for all files of a type where every one in the folder does."""
    by_type: dict[str, list[Table]] = {}
    for step in STEPS.values():
        for table in step.tables:
            path = PurePosixPath(table.path)
            by_type.setdefault(str(path.with_name(f"*{path.suffix}")), []).append(table)
    for pattern, alike in by_type.items():
        paths = [table.path for table in alike if table.holds == holds]
        for name in [pattern] if 1 < len(paths) == len(alike) else paths:
            yield re.sub(r"{\w+}", "*", name)


def files(root: Path) -> dict[str, str]:
    """Return the generated files: their text by their path from the repository's root."""
    generated = {
        "docs/DATA.md": {"Tables by step": data_dictionary()},
        CONFIDENTIALITY: {"Files that hold data": files_with_data()},
    }
    pages = {path: fill((root / path).read_text(encoding="utf-8"), texts) for path, texts in generated.items()}
    return documentation.files() | pages


if __name__ == "__main__":
    for path, text in files(Path.cwd()).items():
        Path(path).write_text(text, encoding="utf-8")
