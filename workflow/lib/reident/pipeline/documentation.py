"""docs/DATA.md, the data dictionary, and other parts of pages that follow from declarations and words.

The table of files with data is made from the declared tables, the glossary from the words of reports, and the list of
warnings from their sentences. ``make docs`` writes them and what is made from the study model; a test fails where a
file differs.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reident.language import messages
from reident.language.sentences import entries
from reident.page import sentences
from reident.pipeline import tables
from reident.pipeline.steps import COMPARED, STEPS, Step
from reident.pipeline.tables import Table, TableColumn
from reident.study import documentation
from reident.study.documentation import fill

CONFIDENTIALITY = "docs/explanation/confidentiality.md"

_HEAD = ("| column | | meaning |", "|---|---|---|")
_FRACTION = re.compile(r"(^|_)(rate|share|low|high)$")
_SAID_ABOVE = (
    "empty if there are fewer",
    "empty where it is not defined",
    "empty where it is undefined",
    "empty where they are not known",
    "empty without a holdout",
    "empty without a population",
    "empty without one",
    "null where missing",
)
"""What the head of the page says of all columns."""
_COUNTED = ("records", "pairs", "units", "members", "links", "claims")
HOLDS = {
    "records": "keys, links, values of records",
    "labels": "labels of strata, categories of the file whose risk is measured, cut points of numeric variables, codes "
    "that a warning is about",
}
UNDECLARED = {"records": ["confidential/*.txt"], "labels": []}
"""Files that hold data and are not declared by a step."""


def data_dictionary() -> str:
    """Return the columns that several tables have, and then the tables of every step with their columns."""
    shared = _columns_of_several()
    parts = ["## Columns of several tables\n", *_HEAD, *(_line(column) for column in shared.values()), ""]
    return "\n".join([*parts, *(_section(step, shared) for step in STEPS.values())])


def _columns_of_several() -> dict[str, TableColumn]:
    """Return the columns that tables share in the same words, by their name; of two, the more frequent."""
    every = [column for step in STEPS.values() for table in step.tables for column in table.columns]
    number = Counter(map(_worded, every))
    shared: dict[str, TableColumn] = {}
    for column in sorted(every, key=lambda column: not column.section):
        if number[_worded(column)] > 1 and number[_worded(column)] > number[_worded(shared.get(column.name))]:
            shared[column.name] = column
    return {column.name: shared[column.name] for column in every if column.name in shared}


def _worded(column: TableColumn | None) -> TableColumn | None:
    """Return a column without its section: the section of a table stands for those of its columns."""
    return column and column._replace(section="")


def _section(step: Step, shared: dict[str, TableColumn]) -> str:
    return "\n".join([f"## {step.rule}\n", *(_describe(table, shared) for table in step.tables)])


def _describe(table: Table, shared: dict[str, TableColumn]) -> str:
    facts = [table.meaning]
    if table in tables.COMPARE_VARIANTS:
        facts.append(f"The tables are {_either([f'`{compared.path}`' for compared in COMPARED.values()])}.")
    if table.holds != "aggregates":
        facts.append(f"Holds `{table.holds}`.")
    if table.section:
        facts.append(f"§{table.section}.")
    lines = [f"### `{table.path}`\n", " ".join(facts), ""]
    if table.columns:
        lines += _HEAD
        for elsewhere, columns in itertools.groupby(
            table.columns, lambda column: _worded(shared.get(column.name)) == _worded(column)
        ):
            if elsewhere:
                lines.append(f"| {', '.join(f'`{column.name}`' for column in columns)} |  |  |")
            else:
                lines += [_line(column, table.section) for column in columns]
        lines.append("")
    return "\n".join(lines)


def _line(column: TableColumn, section: str | None = None) -> str:
    facts = [part for part in column.meaning.split("; ") if part not in _SAID_ABOVE]
    if column.only:
        facts.append(f"{column.only} only")
    if column.section and column.section != section:
        facts.append(f"§{column.section}")
    cells = (f"`{column.name}`", _kind(column), "; ".join(facts))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def glossary() -> str:
    """Return the terms of the glossaries of reports in English, in their alphabetical order."""
    english = [entries(file.parent, file.stem).get("en", {}) for file in sentences.files().values()]
    terms = {term["name"]: term["meaning"] for words in english for term in words.get("terms", {}).values()}
    lines = [f"| **{name}** | {terms[name]} |" for name in sorted(terms, key=str.casefold)]
    return "\n".join(["| term | meaning |", "|---|---|", *lines])


def kinds_of_warnings() -> str:
    """Return every kind of warning with its English sentence, of several the plural; … stands for a field."""
    lines = []
    for code in sorted(messages.TEXT.names("warnings")):
        template = entries(messages.ENGLISH, "messages")["warnings"][code]
        text = template if isinstance(template, str) else template["other"]
        shown = re.sub(r"{\w+}", "…", " ".join(text.split())).replace("……", "…")
        lines.append(f"| `{code}` | {shown} |")
    return "\n".join(["| kind | sentence |", "|---|---|", *lines])


def _kind(column: TableColumn) -> str:
    """Return the unit of a column, from which its type follows, or else its type; nothing where its name tells it."""
    if (column.type, column.unit) == ("text", ""):
        return ""
    if column.unit == "fraction" and _FRACTION.search(column.name):
        return ""
    if column.type == "integer" and column.name.startswith("n_") and column.unit in _COUNTED:
        return ""
    usual = "number" if column.unit == "fraction" else "integer"
    return (column.unit if column.type == usual else f"{column.type} of {column.unit}") if column.unit else column.type


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
        "docs/reference/glossary.md": {"Terms of the report": glossary()},
        "docs/reference/messages.md": {"Kinds of warnings": kinds_of_warnings()},
    }
    pages = {path: fill((root / path).read_text(encoding="utf-8"), texts) for path, texts in generated.items()}
    return documentation.files() | pages


if __name__ == "__main__":
    for path, text in files(Path.cwd()).items():
        Path(path).write_text(text, encoding="utf-8")
