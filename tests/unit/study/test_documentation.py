"""The generated files are what the study model says, and the schema takes what the model takes."""

from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import yaml
from pydantic import BaseModel
from reident.study import documentation
from reident.study import model as study

ROOT = Path(__file__).parents[3]
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))


class _Editor(yaml.SafeLoader):
    """YAML as editors read it: its numbers, booleans and nulls, but no dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and the form are yaml's
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def accepted(text):
    """Whether the schema takes a study file of this text."""
    return jsonschema.Draft202012Validator(documentation.schema()).is_valid(yaml.load(text, _Editor))  # noqa: S506


@pytest.mark.parametrize(("path", "text"), documentation.files().items())
def test_generated_files_agree_with_the_model(path, text):
    assert (ROOT / path).read_text(encoding="utf-8") == text, "run `make docs`"


def test_write_creates_the_generated_files(tmp_path):
    documentation.write(tmp_path)
    assert {path: (tmp_path / path).read_text(encoding="utf-8") for path in documentation.files()} == (
        documentation.files()
    )


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(documentation.schema())


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_schema_accepts_every_bundled_study(path):
    assert accepted(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_first_line_of_a_bundled_study_names_the_schema(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    comment, _, target = first.partition("$schema=")
    assert comment == "# yaml-language-server: "
    assert (path.parent / target).resolve() == ROOT / "workflow" / "schemas" / "study.schema.json"


def test_the_example_in_the_readme_is_a_valid_study(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(documentation.EXAMPLE, encoding="utf-8")
    assert list(study.load(file).chosen) == ["unicity", "taxicab", "euclidean", "adhoc"]
    assert accepted(documentation.EXAMPLE)
    assert f"```yaml\n{documentation.EXAMPLE}```" in documentation.readme()


SMALL = """
id: small
files:
  puf: {path: puf.csv, id: pufid}
  eif: {path: eif.csv, id: [broker, serial]}
  iuf: {path: iuf.csv, puf_id: pufid, eif_id: [broker, serial]}
linking_variables: [{name: age, type: numeric}, {name: sex, type: categorical}]
metrics: {taxicab: {}}
"""

MATCHING = """
matching:
  confidential: {path: c.csv}
  synthetic: [{path: s1.csv}, {path: s2.csv, id: pid}]
  known: [sex, {name: region, missing: -9, integer-coded: true}]
  scenarios: [{name: stranger, known: []}]
  synthesized: [income]
  radius: {income: {relative: 0.2}, age: {absolute: 1/3}}
  targets: {variable: region, equals: [1, 2]}
"""

TAKEN = [
    ("the smallest study", "", ""),
    ("a strata variable by its name alone", "metrics:", "strata: [region]\nmetrics:"),
    ("a number for an id, which is text", "id: small", "id: 2026"),
    ("one missing code for both files", "type: numeric", "type: numeric, missing: -9"),
    ("a list of missing codes, an empty one among them", "type: numeric", "type: numeric, missing: [-9, ]"),
    ("missing codes by file", "type: numeric", "type: numeric, missing: {puf: [-9], eif: [.]}"),
    ("the hyphen of integer-coded", "type: categorical", "type: categorical, integer-coded: true"),
    ("the underscore of integer_coded", "type: categorical", "type: categorical, integer_coded: true"),
    ("recodes to numbers", "type: categorical", "type: categorical, recode: {eif: {M: 1, F: 2}}"),
    ("a metric without its braces", "{taxicab: {}}", "{taxicab: , euclidean: {}}"),
    ("a fraction", "taxicab: {}", "taxicab: {alpha: 1/3}"),
    ("the word exact", "taxicab: {}", "adhoc: {scores: {sex: exact}}"),
    ("a date", "id: small", "id: small\ndate: 2026-03-31"),
    ("simulated synthetic data", "linking_", "simulate: {kind: synthetic-survey, copies: 2}\nlinking_"),
    ("a known variable by its name, and one declared", "metrics:", MATCHING + "metrics:"),
    ("simulated files", "linking_", "simulate: {seed: 1, treatment: {noise: {age: 0.1}}}\nlinking_"),
]

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


@pytest.mark.parametrize(("what", "old", "new"), TAKEN, ids=[case[0] for case in TAKEN])
def test_the_schema_accepts(what, old, new):
    assert accepted(SMALL.replace(old, new, 1) if old else SMALL), what


@pytest.mark.parametrize(("what", "old", "new"), REFUSED, ids=[case[0] for case in REFUSED])
def test_the_schema_rejects(what, old, new):
    assert old in SMALL
    assert not accepted(SMALL.replace(old, new, 1)), what


def models(model, prefix=""):
    """(dotted key, field) of everything below a model, found by its annotations."""
    for name, field in model.model_fields.items():
        yield prefix + name, field
        for inner in sections(field.annotation):
            kind = inner.model_fields.get("kind")
            mark = f"[{get_args(kind.annotation)[0]}]" if kind is not None and kind.is_required() else ""
            yield from models(inner, f"{prefix}{name}{mark}.")


def sections(annotation):
    """The sections anywhere inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [section for part in get_args(annotation) for section in sections(part)]


FIELDS = list(models(study.Study))


def test_every_key_of_the_model_is_in_the_readme():
    of_studies, _ = documentation.readme().split("## Checklists")  # files with keys of their own follow
    lines = [line for line in of_studies.splitlines() if line.startswith("| `")]
    named = [line.split("`")[1].replace("[]", "").replace(".*", "") for line in lines]
    assert len(FIELDS) > 80
    assert [key for key, _ in FIELDS if key not in named] == []
    assert len(set(named)) == len(named), "a key stands twice"


@pytest.mark.parametrize(("key", "field"), FIELDS, ids=[key for key, _ in FIELDS])
def test_every_description_ends_with_a_period(key, field):
    assert field.description, key
    assert field.description.endswith("."), key


def test_every_row_of_the_tables_has_four_columns():
    rows = [line for line in documentation.readme().splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_every_key_of_config_yaml_is_in_the_readme():
    run = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    assert [key for key in run if f"| `{key}` |" not in documentation.readme()] == []


def test_links_in_the_readme_point_to_files():
    targets = [part.split(")")[0] for part in documentation.readme().split("](")[1:]]
    assert targets
    assert [target for target in targets if not (ROOT / "config" / target).exists()] == []


def test_the_schema_accepts_its_own_defaults():
    def defaults(part):
        if isinstance(part, dict):
            if "default" in part:
                yield part
            for inner in part.values():
                yield from defaults(inner)

    whole = documentation.schema()
    found = list(defaults(whole))
    assert len(found) > 40
    for part in found:
        jsonschema.Draft202012Validator({"$defs": whole["$defs"], **part}).validate(part["default"])
