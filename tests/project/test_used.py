"""What an analysis leaves behind when it is removed or changed: tables that nobody shows, kernels that nobody calls."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from making.report import BLOCKS
from reident.pipeline.steps import STEPS
from reident.pipeline.tables import LIBRARY

NOT_SHOWN = {"filerisk/scores.csv", "values/account.csv"}
"""The tables that the report asks for, so that every run makes them, and does not show."""


def test_every_table_that_the_report_asks_for_is_read_by_a_block():
    """The paths of tables of each metric, or of each comparison, are made by the blocks."""
    read = {path for block in BLOCKS.values() for path in block.reads}
    asked = {table.path for step in STEPS.values() for table in step.tables if table.reported}
    assert {path for path in asked - read if "{" not in path} == NOT_SHOWN


def imports(file: Path) -> Iterator[str]:
    """Yield the kernels that a module imports, also where it calls them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "reident.kernels":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (
            found := re.fullmatch(r"reident\.kernels\.(\w+)", node.module or "")
        ):
            yield found[1]


def test_every_kernel_is_called_by_an_analysis():
    kernels = LIBRARY / "kernels"
    found, todo = set(), [file for file in LIBRARY.rglob("*.py") if file.parent != kernels]
    while todo:
        for name in {*imports(todo.pop())} - found:
            found.add(name)
            todo.append(kernels / f"{name}.py")
    assert {file.stem for file in kernels.glob("*.py")} - {"__init__"} == found
