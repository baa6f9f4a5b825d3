"""docs/DATA.md, the data dictionary, and other parts of pages that follow from declarations and words.

The table of files with data is made from the declared tables, the glossary from the words of reports, and the list of
warnings from their sentences. ``make docs`` writes them and what is made from the study model; a test fails where a
file differs.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from reident import language
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
_FRACTION = re.compile(r"(^|_)(rate|share|low|high)(_before|_after)?$")
_SAID_ABOVE = re.compile(
    r"(empty|null) (without .*|if (undefined|there are fewer|there is one|unknown, as the next two)"
    r"|where (it is not defined|it is undefined|undefined|they are not known|it has none|nothing is compared))"
    r"|null where missing"
)
"""What the head of the page says of all columns."""
_ARTICLE = re.compile("^(the|an?) (?!same|bin holds|file is)")
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
    described: dict[str, str] = {}
    parts = ["## Columns of several tables\n", *_HEAD, *_lines(shared.values()), ""]
    return "\n".join([*parts, *(_section(step, shared, described) for step in STEPS.values())])


INNER = re.compile(
    r"simulated/|(\w+/)?prepared/.*\.parquet|(strata|binned)/.*\.parquet|(scores|claims)/|larger/.*counts"
)
"""Simulated sources, and files that later steps alone read: their columns are in their declarations."""


def _columns_of_several() -> dict[str, TableColumn]:
    """Return the columns that tables share in the same words, by their name; of two, the more frequent."""
    listed = [table for step in STEPS.values() for table in step.tables if not INNER.match(table.path)]
    every = [column for table in listed for column in table.columns]
    number = Counter(map(_worded, every))
    shared: dict[str, TableColumn] = {}
    for column in sorted(every, key=lambda column: not column.section):
        if number[_worded(column)] > 1 and number[_worded(column)] > number[_worded(shared.get(column.name))]:
            shared[column.name] = column._replace(only="")
    return {column.name: shared[column.name] for column in every if column.name in shared}


def _worded(column: TableColumn | None) -> TableColumn | None:
    """Return a column without its section, which is that of its table, and without the files that alone have it."""
    return column and column._replace(section="", only="")


def _section(step: Step, shared: dict[str, TableColumn], described: dict[str, str]) -> str:
    return "\n".join([f"## {step.rule}\n", *(_describe(table, shared, described) for table in step.tables)])


def _describe(table: Table, shared: dict[str, TableColumn], described: dict[str, str]) -> str:
    """Return what a table is; `described` has the tables so far, to one of which a table alike refers."""
    facts = [re.sub("^(The|An?) (.)", lambda begun: begun[2].upper(), table.meaning)]
    if table in tables.COMPARE_VARIANTS:
        facts.append(f"The tables are {_either([f'`{compared.path}`' for compared in COMPARED.values()])}.")
    if table.holds != "aggregates":
        facts.append(f"*{table.holds.capitalize()}*.")
    if table.section:
        facts.append(f"§{table.section}.")
    text = " ".join(facts)
    names = "".join(f"|{column.name}" for column in table.columns)
    if (first := described.setdefault(text + names, table.path)) != table.path:
        return f"### `{table.path}`\n\nAs `{first}`.\n"
    columns = "\n".join([*_HEAD, *_lines(table.columns, shared, table.section)])
    if (
        len(table.columns) > 1
        and not INNER.match(table.path)
        and (alike := described.setdefault(columns, table.path)) != table.path
    ):
        text += f" Columns as in `{alike}`."
    elif table.columns and not INNER.match(table.path):
        text += f"\n\n{columns}"
    return f"### `{table.path}`\n\n{text}\n"


def _lines(
    columns: Iterable[TableColumn], shared: Mapping[str, TableColumn] | None = None, section: str | None = None
) -> Iterator[str]:
    """Yield the lines of a table of columns: those in a row of which the same is to be said are on one."""

    def cells(column: TableColumn) -> tuple[str, ...]:
        if shared and _worded(shared.get(column.name)) == _worded(column):
            return "", f"{column.only} only" if column.only else ""
        facts = [part for part in column.meaning.split("; ") if not _SAID_ABOVE.fullmatch(part)]
        if column.only:
            facts.append(f"{column.only} only")
        if shared is not None and column.section and column.section != section:
            facts.append(f"§{column.section}")
        return _kind(column), _ARTICLE.sub("", "; ".join(facts))

    for said, alike in itertools.groupby(columns, cells):
        names = ", ".join(f"`{column.name}`" for column in alike)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in (names, *said))} |"


def glossary() -> str:
    """Return the terms of the glossaries of reports on records in English, in their alphabetical order."""
    terms = {}
    with language.use("en"):
        for section in sentences.files():
            words = sentences.Sentences(section)
            for key in words.names("terms") if "terms" in words.names() else ():
                terms[words(f"terms.{key}.name")] = words(f"terms.{key}.meaning")
    lines = [f"| **{name}** | {terms[name]} |" for name in sorted(terms, key=str.casefold)]
    return "\n".join(["| term | meaning |", "|---|---|", *lines])


def kinds_of_warnings() -> str:
    """Return every kind of warning: the first sentence, which says what is wrong, and the last, which says what to do.

    They are in English, of several the plural; … stands for a field.
    """
    lines: list[str] = []
    ends: dict[str, str] = {}
    for code in sorted(messages.TEXT.names("warnings")):
        template = entries(messages.ENGLISH, "messages")["warnings"][code]
        text = template if isinstance(template, str) else template["other"]
        shown = re.sub(r"{\w+}", "…", " ".join(text.split())).replace("……", "…")
        first, *others = re.split(r"(?<=[.)]) (?=[A-Z])", shown)
        end = others[-1] if others else ""
        alike = ends.setdefault(end, code)
        said = end if alike == code or len(end) < 60 else f"*As `{alike}`.*"
        lines.append(f"| `{code}` | {first} {said}".rstrip() + " |")
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
