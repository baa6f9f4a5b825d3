"""The schema takes what the study model takes."""

import functools
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from making.examples import cases
from reident.study import documentation
from reident.study import model as study

ROOT = Path(__file__).parents[2]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))


class _Editor(yaml.SafeLoader):
    """YAML as editors read it: its numbers, booleans and nulls, but no dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and the form are yaml's
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@functools.cache
def schema():
    """The schema, made once."""
    return documentation.schema()


def accepted(text):
    """Whether the schema takes a study file of this text."""
    return jsonschema.Draft202012Validator(schema()).is_valid(yaml.load(text, _Editor))  # noqa: S506


def check(value, field):
    """A value is one of a field, which the schema describes; that it is a schema, a test of its own says."""
    jsonschema.Draft202012Validator({**field, "$defs": schema()["$defs"]}).validate(value)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_schema_accepts_every_bundled_study(path):
    assert accepted(path.read_text(encoding="utf-8"))


def test_the_example_in_the_readme_is_a_valid_study(tmp_path):
    page = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    example = page.partition("## A full example\n\n```yaml\n")[2].partition("```")[0]
    file = tmp_path / "study.yaml"
    file.write_text(example, encoding="utf-8")
    assert list(study.load(file).chosen) == ["unicity", "taxicab", "euclidean", "adhoc"]
    assert accepted(example)


SMALL = """
id: small
files:
  puf: {path: puf.csv, id: pufid}
  eif: {path: eif.csv, id: [broker, serial]}
  iuf: {path: iuf.csv, puf_id: pufid, eif_id: [broker, serial]}
linking_variables: [{name: age, type: numeric}, {name: sex, type: categorical}]
metrics: {taxicab: {}}
"""


REFUSED = [
    ("an unknown key", "id: small", "id: small\nauthor: me"),
    ("an unknown key inside a section", "{taxicab: {}}", "{taxicab: {beta: 1}}"),
    ("no id", "id: small", ""),
    ("an id with capitals", "id: small", "id: Small"),
    ("an unknown type", "type: numeric", "type: number"),
    ("a variable without a type", ", type: numeric", ""),
    ("an unknown kind of simulation", "linking_", "simulate: {kind: census}\nlinking_"),
    ("a radius that is no section", "metrics:", "matching: {synthesized: [a], radius: {a: x}}\nmetrics:"),
    ("an unknown metric", "{taxicab: {}}", "{manhattan: {}}"),
    ("one bin", "metrics:", "binning: {bins: 1}\nmetrics:"),
    ("a band without a score", "taxicab: {}", "adhoc: {scores: {age: {bands: [{within: 1}]}}}"),
    ("a score above 5", "taxicab: {}", "adhoc: {scores: {age: {bands: [{within: 1, score: 6}]}}}"),
    ("another word than exact", "taxicab: {}", "adhoc: {scores: {sex: same}}"),
    ("a limit in percent", "metrics:", "decision: {conditional_rate_at_most: 5}\nmetrics:"),
]


@pytest.mark.parametrize(("old", "new"), cases(REFUSED))
def test_the_schema_rejects(old, new):
    assert old in SMALL
    assert not accepted(SMALL.replace(old, new, 1))


def blocks():
    """The parts of study files that pages show, each with its page."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        found = re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        yield from (pytest.param(text, id=f"{page.stem} {number}") for number, text in enumerate(found, 1))


@pytest.mark.parametrize("text", list(blocks()))
def test_the_schema_accepts_the_parts_of_studies_on_pages(text):
    root = schema()
    part = yaml.load(text, _Editor)  # noqa: S506
    if part.keys() == {"partitions"}:
        pytest.skip("a file of Slurm's plugin")
    assert part.keys() <= root["properties"].keys()
    for key, value in part.items():
        if key == "files" and not {"puf", "eif", "iuf"} <= value.keys():  # the others are as above it on the page
            defined = root["$defs"]["LinkedFiles"]["properties"]
            for name, file in value.items():
                check(file, defined[name])
        else:
            check(value, root["properties"][key])


def test_each_key_has_a_default_an_example_or_a_list_of_words():
    page = documentation.readme()
    tables = page.partition("<!-- Keys of a study")[2].partition("<!-- End of")[0]
    cells = [line.split(" | ") for line in tables.splitlines() if line.startswith("| `")]
    assert len(cells) > 250
    lacking = [
        name for name, kind, shown, *_ in cells
        if shown.strip() in ("", "*required*") and "section" not in kind and not kind.startswith("`")
    ]  # fmt: skip
    assert lacking == []


def test_examples_are_of_keys_and_are_values_of_them():
    root = schema()
    fields = {}

    def collect(inner, prefix=""):
        for name, field in inner.items():
            fields[prefix + name] = field
            for suffix, section in documentation._inside(root, field):
                collect(section["properties"], f"{prefix}{name}{suffix}{documentation._kind(section)}.")

    collect(root["properties"])
    fields |= {
        name.removeprefix("files.original."): field
        for name, field in fields.items()
        if name.startswith("files.original.")
    }
    for file in documentation._EXAMPLES:
        for key, example in yaml.load(file.read_text("utf-8"), _Editor).items():  # noqa: S506
            check(example, fields[key])
