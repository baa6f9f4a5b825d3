"""The rules of the workflow and the table of steps say the same."""

import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from reident.pipeline.plan import JUDGED
from reident.pipeline.steps import COMPARED, STEPS, table_of

WORKFLOW = Path(__file__).parents[3] / "workflow"
SIDES = {
    "prepare": {"puf", "eif", "iuf"},
    "microaggregate": {"original"},
    "prepare_matching": {"file"},
    "prepare_attribution": {"file"},
    "prepare_filerisk": {"puf", "eif", "file", "survey", "population"},
}
"""Source files that a rule reads and that a step may make, by the output that makes them."""


class Rule(NamedTuple):
    """The text of a rule's inputs and outputs, and its adapter."""

    inputs: str
    outputs: dict[str, str]
    script: str


def rules():
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(WORKFLOW.glob("rules/*.smk")))
    blocks = re.split(r"^(?:rule|checkpoint) (\w+):\n", text, flags=re.MULTILINE)[1:]
    return {
        name: rule(body)
        for name, body in zip(blocks[::2], blocks[1::2], strict=True)
        if "\n    output:\n" in body
    }


def rule(body):
    outputs = re.findall(r'^        (\w+)=(?:report\(\s*)?"([^"]+)"', directive(body, "output"), re.MULTILINE)
    return Rule(directive(body, "input"), dict(outputs), re.search(r'scripts/(\w+)\.py"', body)[1])


def directive(body, name):
    """The lines of a directive; none where the rule does not have it."""
    found = re.search(rf"^    {name}:\n((?:        .*\n)+)", body, re.MULTILINE)
    return found[1] if found else ""


RULES = rules()


def test_every_step_is_a_rule_with_an_adapter_of_its_name():
    assert set(RULES) == set(STEPS)
    assert {name: RULES[name].script for name in STEPS} == {name: name for name in STEPS}


@pytest.mark.parametrize("name", STEPS)
def test_the_outputs_of_a_rule_are_the_tables_of_its_step(name):
    paths = {
        output: path.removeprefix("results/{study}/")
        for output, path in RULES[name].outputs.items()
        if output != "ledger" and not path.startswith("reports/")
    }
    assert paths == {table.output: table.path for table in STEPS[name].tables}


@pytest.mark.parametrize("name", STEPS)
def test_the_entry_of_a_rule_is_named_after_it(name):
    wildcards = "".join(f".{{{part}}}" for part in re.findall(r"{(\w+)}", STEPS[name].tables[0].path))
    assert RULES[name].outputs["ledger"] == f"results/{{study}}/ledger/{name}{wildcards}.json"


def makers(path):
    return {step.rule for step in STEPS.values() if table_of(path) in step.tables}


def steps_before(name):
    """The steps whose results a rule reads."""
    inputs = RULES[name].inputs
    before = set(re.findall(r'\bPLAN\.result\("(\w+)"', inputs))
    for path in re.findall(r'"results/{study}/([^"]+)"', inputs):
        before |= makers(path)
    for function, steps in {
        "accounts": {"prepare", "stratify"},
        "confirmed": {"confirm"},
        "all_shards": {"score"},
        "thinned": {"thin"},
        "joined": {"prepare", "confirm"},
        "compared": {"prepare", "bin"},
        "weights": {"weigh"},
        "known_links": {"prepare"},
        "protection": {"rate", "stratify"},
        "untreated": {"prepare"},
        "judged": {maker for path in JUDGED.values() for maker in makers(path)},
        "compared_tables": {maker for table in COMPARED.values() for maker in makers(table.path)},
        "released": {step.rule for step in STEPS.values() if any(table.released for table in step.tables)},
    }.items():
        if re.search(rf"(?:=|unpack\()PLAN\.{function}\b", inputs):
            before |= steps
    if re.search(r"=PLAN\.source\(|unpack\(PLAN\.(?:risk|matched|attribution)_sources\(\)\)", inputs):
        before |= {
            step.rule
            for step in STEPS.values()
            if any(
                table.output in SIDES[name]
                and re.fullmatch(r"(simulated|microaggregation)/.+\.csv", table.path)
                for table in step.tables
            )
        }
    return before


@pytest.mark.parametrize("name", [name for name in STEPS if name != "report"])
def test_a_step_comes_after_those_whose_results_its_rule_reads(name):
    assert set(STEPS[name].after) == steps_before(name)


def test_every_step_comes_after_earlier_ones_of_the_table():
    names = list(STEPS)
    for step in STEPS.values():
        assert all(names.index(before) < names.index(step.rule) for before in step.after)


@pytest.mark.parametrize("name", STEPS)
def test_the_modules_of_a_step_exist(name):
    for module in STEPS[name].modules:
        assert importlib.import_module(f"reident.{module.format(metric='taxicab')}")
