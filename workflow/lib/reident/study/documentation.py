"""Generate the JSON Schema for editors and config/README.md from the study model.

``make docs`` writes both; a test fails if a file differs from the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from reident.sections.base import Section
from reident.sections.checklist import Questions
from reident.sections.release import Policy
from reident.sections.seal import SignOff
from reident.study import settings
from reident.study.bundled import CONFIG
from reident.study.model import Study

INTRODUCTION = """\
# The study file

<!-- Generated from the study model by `make docs`; change the descriptions there. -->

A study is one YAML file. Every number of its report depends only on this file, the files that it names, and the code;
running the study again gives the same bytes. [studies/example.yaml](studies/example.yaml) is an example with comments
that you can run at once. To run your own studies, give their paths:

    .venv/bin/snakemake --config study=path/to/study.yaml
    .venv/bin/snakemake --config study=one.yaml,two.yaml

- Paths in a study file are relative to the study file.
- Codes are read as written: `NO`, `012` and `22:30` are text, and so is every value until the study gives it a type.
- A key that is given twice, or that is not listed below, is an error.
- Mistakes are reported before anything is computed, with the line, the key, what is wrong and what to do.
- After a change, the study reruns the steps that the change affects, and no others.
- Editors that support the YAML language server complete and check a study file if its first line is this comment, with
  the path from the study file to [the schema](../workflow/schemas/study.schema.json):

      # yaml-language-server: $schema=../workflow/schemas/study.schema.json

## A full example
"""

EXAMPLE = """\
id: travel-2026
title: Travel survey 2026, public use file
agency: Statistical office of Examplia
date: 2026-03-31

files:
  puf: {path: release/travel.csv, id: [pufid]}
  eif: {path: broker/persons.csv.gz, id: [broker, serial], delimiter: ";", encoding: cp1252}
  iuf: {path: internal/links.parquet, puf_id: [pufid], eif_id: [broker, serial]}

strata: [region]                      # a column of both files; only records of the same region are compared

linking_variables:
  - {name: age, type: numeric, missing: ["-9"]}
  - {name: income, type: numeric, puf: INCOME, eif: income_est, missing: {puf: ["-9", "-8"], eif: [""]}}
  - {name: sex, type: categorical, eif: GENDER, recode: {eif: {M: "1", F: "2"}}, missing: ["-9", ""]}
  - {name: education, type: categorical, order: [low, middle, high], missing: [""]}
  - {name: rooms, type: categorical, integer_coded: true, missing: [""]}

binning: {bins: 5, cutpoints: puf, scope: stratum}

metrics:                              # the metrics to compute; {} takes the defaults of a metric
  unicity: {}
  taxicab: {alpha: 0.5}
  euclidean: {norm: rms}
  adhoc:
    scores:                           # variables that are not named take the default score
      sex: exact
      age: {bands: [{within: 0, score: 5}, {within: 2, score: 3}]}
      income: {bands: [{within: 0.1, relative: true, score: 5}, {within: 0.25, relative: true, score: 2}]}
      education: {table: [{puf: high, eif: high, score: 5}, {puf: high, eif: middle, score: 2}]}

rank_filter: {max_pairs: 5, keep: 20}
rates: {interval: clopper-pearson, level: 0.95}
decision: {conditional_rate_at_most: 0.05}
"""

KEYS = """\
## Keys

In the names of keys, a dot separates a section from a key in it, `[]` means each item of a list, `*` for each key
that you choose yourself, and `[word]` for the section whose `kind` is that word. *Required* means required in its
section; a section that is optional may be left out. *Source* refers to a section of
[docs/METHODS.md](../docs/METHODS.md).
"""

RUNS = """\
## config.yaml

[config.yaml](config.yaml) is not a study: it has the settings of a run, on which no number depends.

- `snakemake` reads `config/config.yaml` in the working directory, which `--directory` names. If there is none, it reads
  the file that comes with the workflow.
- Paths in `studies`, in `study` and of `--configfile` are relative to the working directory. Only the `studies` of the
  file that comes with the workflow are relative to its checkout.
- A workflow that has this one as a module gives its own configuration (`config: config`). Keys that are not in this
  table are ignored, with one warning.
"""


VARIANTS = """\
## Variants

A study can list values to compare: of one key, of several keys that take the same value, or of several keys that vary
together. Every combination of these values is a *variant*: the study that you would get by writing the values into the
file.

```yaml
variants:
  - {set: metrics.taxicab.alpha, values: [0.25, 0.5, 0.75]}   # a key of the study, with dots between its sections
  - name: protection                                          # several keys that vary together, under labels
    combinations:
      released: {}                                            # the values of the study
      swapped: {simulate.treatment.swapping: 0.25, binning.bins: 3}
```

- The study itself, without `variants`, is always computed. Its report is complete, and has a section that compares it
  with the variants. A combination that equals the study itself is not computed twice. To compare only the listed
  values, write one of them into the study.
- The name of a variant consists of the values that it sets, here `alpha-0.25_protection-swapped`. Its `rates.csv` is in
  `results/{id}/variants/{variant}`. The comparison is in `results/{id}/comparison/` and has one line per variant and
  metric: `variant` is the name of the variant, `reference` is `yes` for the study itself, and the columns `set_…` have
  the value or label of each item of `variants`.
- Results that a value does not affect are computed once. Results that several variants share are stored with the study,
  or with a variant that sets only the values on which they depend, such as `results/{id}/variants/alpha-0.25`. After a
  value is added or changed, only the results that it affects are computed.
- A value that is a list or a section must have a label: `values: {label: value}`. An empty value takes the default.
- A variant can drop a variable, `{set: linking_variables.occupation, values: {without: null}}`, or exchange a file,
  `{set: files.puf.path, values: {swapped: puf-swapped.csv}}`. The value of `files.puf` as a whole is a section.
- Mistakes in variants are reported with their line before anything is computed: an unknown key, a wrong type, two
  combinations that are the same study, or a combination that is not a valid study.
- To make the report of a variant, with all of its steps, ask for it:
  `snakemake --config study=… -- reports/{id}/variants/{variant}/disclosure-review.html`.

[studies/example-variants.yaml](studies/example-variants.yaml) compares three protections and three scores of a missing
value, and asks what an intruder with a larger file would confirm.
[studies/example-protection.yaml](studies/example-protection.yaml) leaves out one treatment at a time, attacks the file
before protection, and draws the risk against the loss of utility.
"""


SIGN_OFF = """\
## The file of a sign-off

`reident sign` takes the decision of a board from a YAML file of its own, and adds it to a sealed study:

    .venv/bin/reident sign reports/ID/sealed/ID-DIGEST.zip signoff.yaml --key ~/.ssh/id_ed25519

```yaml
board: Disclosure review board
decision: approved with conditions
conditions: [The variable rooms is released in three groups.]
names: [{name: A. Example, role: chair}]
date: 2026-03-31
```
"""


CHECKLISTS = """\
## Checklists

`checklist.file` names a file of questions: one of [checklists](checklists), or a copy of it that you change. The report
shows each question with the answer of the study and the exhibits, which are results; a question that has neither is
*not assessed*, and its number is on the page that the board signs. `exhibits` lists the names that a question may use;
an exhibit whose results the study does not have answers nothing.
"""


POLICIES = """\
## Rounding policies

`release.policy` names a file of rules: one of [rounding](rounding), or a copy of it that you change. The bundled
policies are `census-drb`, `opensafely`, `midpoint-6`, `base-5-random`, `base-3-random` and, for internal use, `none`;
each names its public source, and says what becomes of zero and why. docs/METHODS.md, §11.1, has the rules in full.

```yaml
release:
  policy: census-drb                         # or ours.yaml, beside the study file
  after: [../2025/reports/travel/releasable] # earlier editions of the same data
```
"""


class _EditorSchema(GenerateJsonSchema):
    """JSON Schema of what a study file may hold, as editors see it."""

    def str_schema(self, schema: core_schema.StringSchema) -> dict[str, Any]:
        """Return text as any scalar of YAML: the reader keeps ``-9``, ``012`` and ``true`` as written."""
        return {**super().str_schema(schema), "type": ["string", "number", "boolean"]}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> dict[str, Any]:
        """Return decimals as numbers, as they are written."""
        limits: dict[str, Any] = {name: schema[name] for name in ("ge", "gt", "le", "lt") if name in schema}
        return self.float_schema(core_schema.float_schema(**limits))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """Return a schema with its default, unless a study file cannot state the default."""
        result = super().default_schema(schema)
        return {key: value for key, value in result.items() if key != "default" or value not in (None, "")}

    def encode_default(self, dft: Any) -> Any:
        """Return an exact default as a number."""
        return float(dft) if isinstance(dft, Fraction | Decimal) else super().encode_default(dft)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        """Leave out titles, which repeat the keys."""
        return False


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study files."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Study.model_json_schema(by_alias=False, schema_generator=_EditorSchema),
    }


class Key(NamedTuple):
    """A line of the tables of keys."""

    name: str
    type: str
    default: str
    meaning: str


def readme() -> str:
    """Return the text of config/README.md."""
    root = schema()
    parts = [INTRODUCTION, f"```yaml\n{EXAMPLE}```\n", KEYS, "### The study\n"]
    sections = {
        name: list(_keys(root, {name: field}, root["required"])) for name, field in root["properties"].items()
    }
    parts.append(_table([keys[0] for keys in sections.values()]))
    for name, keys in sections.items():
        if len(keys) > 1:
            parts += [f"### `{name}`\n", _table(keys[1:])]
    asked, policy, decision = (_table_of(model) for model in (Questions, Policy, SignOff))
    return "\n".join(
        [*parts, VARIANTS, CHECKLISTS, asked, POLICIES, policy, RUNS, _settings(), SIGN_OFF, decision]
    )


def _settings() -> str:
    """Return the table of config/config.yaml."""
    return settings.table(yaml.safe_load((CONFIG / "config.yaml").read_text(encoding="utf-8")))


def _table_of(model: type[Section]) -> str:
    """Return the table of the keys of a file that is no study file."""
    root = model.model_json_schema(by_alias=False, schema_generator=_EditorSchema)
    return _table(list(_keys(root, root["properties"], root["required"])))


def _table(keys: list[Key]) -> str:
    lines = [f"| `{key.name}` | {key.type} | {key.default} | {key.meaning} |" for key in keys]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *lines, ""])


def _keys(
    root: dict[str, Any], fields: dict[str, Any], required: Sequence[str], prefix: str = ""
) -> Iterator[Key]:
    """Yield the given fields, required ones first, each followed by the fields inside it."""
    for name, field in sorted(fields.items(), key=lambda item: item[0] not in required):
        if "-" in name:
            continue  # the other spelling of a key
        path = prefix + name
        yield Key(path, _type(root, field), _default(name in required, field), _meaning(root, field))
        seen: list[dict[str, Any]] = []
        for suffix, section in _inside(root, field):
            if section in seen:
                continue  # a list that may also be written as its one item
            seen.append(section)
            inner = section.get("required", ())
            yield from _keys(root, section["properties"], inner, f"{path}{suffix}{_kind(section)}.")


def _kind(section: dict[str, Any]) -> str:
    """Return the mark of a section whose required `kind` distinguishes it from the default section."""
    return f"[{section['properties']['kind']['const']}]" if "kind" in section.get("required", ()) else ""


def _variants(root: dict[str, Any], field: Any) -> list[dict[str, Any]]:
    """Return the alternatives of a field, with references resolved and without null, which means absent."""
    variants = []
    for variant in field.get("anyOf", field.get("oneOf", [field])):
        if "$ref" in variant:
            variants.append(root["$defs"][variant["$ref"].rsplit("/", 1)[-1]])
        elif "oneOf" in variant or "anyOf" in variant:
            variants += _variants(root, variant)
        elif variant.get("type") != "null":
            variants.append(variant)
    return variants


def _inside(root: dict[str, Any], field: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the sections inside a field: itself, the items of its list, or the values of its mapping."""
    for variant in _variants(root, field):
        if "properties" in variant:
            yield "", variant
        elif "items" in variant:
            yield from ((f"[]{suffix}", section) for suffix, section in _inside(root, variant["items"]))
        elif isinstance(variant.get("additionalProperties"), dict):
            values = variant["additionalProperties"]
            yield from ((f".*{suffix}", section) for suffix, section in _inside(root, values))


def _type(root: dict[str, Any], field: dict[str, Any] | bool) -> str:
    if isinstance(field, bool) or not field:
        return "anything"
    names = [_type_of(root, variant) for variant in _variants(root, field)]
    return _either(list(dict.fromkeys(names)))


def _type_of(root: dict[str, Any], variant: dict[str, Any]) -> str:
    kind = variant.get("type")
    if "enum" in variant or "const" in variant:
        return _either([f"`{value}`" for value in variant.get("enum", [variant.get("const")])])
    if "properties" in variant:
        return "section"
    if kind == "array":
        return f"list of {_type(root, variant['items']).replace('section', 'sections')}"
    if kind == "object":
        return f"mapping to {_type(root, variant['additionalProperties'])}"
    if kind == ["number", "string"]:
        return "number or fraction"
    if kind in ("integer", "number"):
        return f"{'integer' if kind == 'integer' else 'number'} {_range(variant)}".rstrip()
    if kind == "boolean":
        return "`true` or `false`"
    return "date" if variant.get("format") == "date" else "text"


def _range(variant: dict[str, Any]) -> str:
    if {"minimum", "maximum"} <= set(variant):
        return f"{variant['minimum']:g} to {variant['maximum']:,g}"
    limits = [("≥", "minimum"), (">", "exclusiveMinimum"), ("≤", "maximum"), ("<", "exclusiveMaximum")]
    return ", ".join(f"{sign} {variant[limit]:g}" for sign, limit in limits if limit in variant)


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _default(required: bool, field: dict[str, Any]) -> str:
    if required:
        return "*required*"
    value = field.get("default")
    if value in (None, "", [], {}):
        return ""
    return f"`{_flow(value)}`"


def _flow(value: Any) -> str:
    """Return a value as YAML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return f'"{value}"' if value == "," else str(value)


def _meaning(root: dict[str, Any], field: dict[str, Any]) -> str:
    """Return the description of a field, or else that of its section."""
    described = field if "description" in field else _variants(root, field)[0]
    return described["description"].replace("|", "\\|")


def files() -> dict[str, str]:
    """Return the texts of the generated files by their paths from the root of the repository."""
    return {
        "workflow/schemas/study.schema.json": json.dumps(schema(), ensure_ascii=False, indent=2) + "\n",
        "workflow/schemas/config.schema.json": json.dumps(settings.schema(), ensure_ascii=False, indent=2)
        + "\n",
        "config/README.md": readme(),
    }


def write(root: Path) -> None:
    """Write the generated files below the root of the repository."""
    for path, text in files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path.cwd())
