"""The steps that a step reads, as its line of `steps.csv` says, are those that make the inputs of its rule."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from reident.pipeline import plan
from reident.pipeline.steps import STEPS, maker_of
from reident.verdict.settings import TABLES as JUDGED

RULES = Path(__file__).parents[2] / "workflow" / "rules"
METHODS = {node.name: node for node in ast.walk(ast.parse(inspect.getsource(plan.Plan))) if hasattr(node, "name")}
SOURCES = {"simulate", "synthesize", "simulate_amounts", "populate", "microaggregate"}
"""The steps that can make a source file; which of them does, the study decides."""


def inputs() -> Iterator[tuple[str, str]]:
    """Yield every rule with the text of its inputs."""
    for file in RULES.glob("*.smk"):
        for name, body in re.findall(r"(?ms)^rule (\w+):\n(.*?)(?=^rule |\Z)", file.read_text(encoding="utf-8")):
            found = re.search(r"(?ms)^    input:\n(.*?)(?=^    \w+:)", body)
            yield name, found[1] if found else ""


INPUTS = dict(inputs())


def made_by(tree: ast.AST, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the rules that an expression or a method of the plan names, itself or by a path or another method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in STEPS:
                yield node.value
            elif node.value.startswith("results/{study}/"):
                yield maker_of(node.value.removeprefix("results/{study}/"))
        if isinstance(node, ast.Attribute) and node.attr in METHODS and node.attr not in seen:
            yield from made_by(METHODS[node.attr], seen | {node.attr})
        if isinstance(node, ast.Name) and node.id == "JUDGED":
            yield from map(maker_of, JUDGED)


# The report and a comparison of variants read what a study has; what they rest on is not one list.
@pytest.mark.parametrize("rule", sorted(STEPS.keys() - {"report", "compare_variants"}))
def test_a_step_is_after_those_whose_results_its_rule_reads(rule):
    found = set(made_by(ast.parse(f"inputs({INPUTS[rule]})"))) - {rule}
    after = set(STEPS[rule].after)
    assert found - SOURCES <= after
    assert after - found <= SOURCES
