"""What is written from the study model for its readers: the JSON Schema for editors, and config/README.md.

``make docs`` writes both; a test fails where either differs from what the model says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from reident.study.model import Study

INTRODUCTION = """\
# The study file

<!-- Generated from the study model by `make docs`; change the descriptions there. -->

A study is one YAML file. What a number of its report depends on is in this file, in the files that it
names, or in the code; running it again gives the same bytes. [studies/example.yaml](studies/example.yaml)
runs out of the box and says why it is as it is. Run a study of your own, or several, by their paths:

    .venv/bin/snakemake --config study=path/to/study.yaml
    .venv/bin/snakemake --config study=one.yaml,two.yaml

- Paths in a study file are relative to that file.
- Codes stay what you wrote: `NO`, `012` and `22:30` are text, and so is every other value until the study
  gives it a type. A key that stands twice is an error, and so is a key that is not listed below.
- A mistake is reported with its line, its key and a remedy, before anything is computed.
- A changed study reruns the steps that take what changed, and no others.
- Editors that know the YAML language server complete and check a study whose first line is the comment

      # yaml-language-server: $schema=../workflow/schemas/study.schema.json

  with the path from the study file to [that schema](../workflow/schemas/study.schema.json).

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

strata: [region]                      # a column of both files; compared only inside a region

linking_variables:
  - {name: age, type: numeric, missing: ["-9"]}
  - {name: income, type: numeric, puf: INCOME, eif: income_est, missing: {puf: ["-9", "-8"], eif: [""]}}
  - {name: sex, type: categorical, eif: GENDER, recode: {eif: {M: "1", F: "2"}}, missing: ["-9", ""]}
  - {name: education, type: categorical, order: [low, middle, high], missing: [""]}
  - {name: rooms, type: categorical, integer_coded: true, missing: [""]}

binning: {bins: 5, cutpoints: puf, scope: stratum}

metrics:                              # those that are named are computed; {} takes the defaults
  unicity: {}
  taxicab: {alpha: 0.5}
  euclidean: {norm: rms}
  adhoc:
    scores:                           # a variable that is not named takes the default score
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

A dot leads into a section, `[]` into each item of a list, `*` into each key that you choose yourself, and
`[word]` into the section whose `kind` is that word.
*Required* means within its section: a section that is optional may be left out whole. What METHODS says of
a key stands in [docs/METHODS.md](../docs/METHODS.md), under the section that is named.
"""

RUNS = """\
## config.yaml

[config.yaml](config.yaml) is not a study: it says what a run does, and no number depends on it.

| key | type | default | meaning |
|---|---|---|---|
| `studies` | list of text | `[config/studies/example.yaml]` | The study files that run when `--config study=…` \
names none. |
| `pairs_per_shard` | whole number | `20_000_000_000` | The budget of one scoring job, in pairs of records: \
strata are packed into jobs up to it, and a stratum of more than twice as many pairs is split. |
| `threads_on_a_cluster` | whole number | `8` | The processors that a long job asks a cluster for; on one machine \
it takes all that `--cores` gives. |
| `shared_results` | `true` or `false` | `false` | Whether `results/` and `reports/` may be readable by others than \
their owner. If not, a run refuses such a folder and names the command that closes it; if so, each run warns of it. \
What the run makes is its owner's alone either way. |
"""


VARIANTS = """\
## Variants

A study may list values to be compared: of one setting, of several that take the same value, or of several that
vary together. Every combination is a *variant*, the study that one would get by writing those values into the file.

```yaml
variants:
  - {set: metrics.taxicab.alpha, values: [0.25, 0.5, 0.75]}   # any key of the study, dots between its sections
  - name: protection                                          # several keys at a time, under labels
    combinations:
      released: {}                                            # as the study says
      swapped: {simulate.treatment.swapping: 0.25, binning.bins: 3}
```

- The study as it stands, without `variants`, is always computed; its report is in full, with a section that compares
  it with the variants. A combination that is the study itself is not computed twice. To compare nothing but what is
  listed, let the study say one of the listed values.
- A variant is called by what it sets, here `alpha-0.25_protection-swapped`; its `rates.csv` lies in
  `results/{id}/variants/{variant}`, the comparison in `results/{id}/comparison/`, with one line per variant and metric.
  `variant` is its name there, `reference` says `yes` of the study as it stands, and `set_…` is the value or label of
  each thing that varies.
- What a value does not touch is computed once: results that several variants share lie with the study, or with a
  variant that sets only what they depend on, such as `results/{id}/variants/alpha-0.25`. A new or changed value
  computes what it touches and nothing else.
- A value of more than one word needs a label: `values: {label: value}`. An empty value stands for the default.
- Whatever a value makes wrong is reported with its line before anything is computed: an unknown key, a wrong type,
  two combinations that are the same study, a combination that contradicts itself.
- A variant has a report of its own where it is asked for, all of its steps in its own folder:
  `snakemake --config study=… -- reports/{id}/variants/{variant}/disclosure-review.html`.

[studies/example-variants.yaml](studies/example-variants.yaml) compares three protections and three weights of a
missing value.
"""


class _EditorSchema(GenerateJsonSchema):
    """JSON Schema of what a study file may hold, as editors see it."""

    def str_schema(self, schema: core_schema.StringSchema) -> dict[str, Any]:
        """Text is any scalar of YAML: the reader keeps ``-9``, ``012`` and ``true`` as they are written."""
        return {**super().str_schema(schema), "type": ["string", "number", "boolean"]}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> dict[str, Any]:
        """Exact numbers are written as numbers."""
        limits: dict[str, Any] = {name: schema[name] for name in ("ge", "gt", "le", "lt") if name in schema}
        return self.float_schema(core_schema.float_schema(**limits))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """Defaults that a study file can state: not what stands for an absent key."""
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if key != "default" or value not in (None, "")}

    def encode_default(self, dft: Any) -> Any:
        """Exact numbers as numbers."""
        return float(dft) if isinstance(dft, Fraction | Decimal) else super().encode_default(dft)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        """No title repeats the key."""
        return False


def schema() -> dict[str, Any]:
    """The JSON Schema of study files."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Study.model_json_schema(by_alias=False, schema_generator=_EditorSchema),
    }


class Key(NamedTuple):
    """One line of the tables of keys."""

    name: str
    type: str
    default: str
    meaning: str


def readme() -> str:
    """The text of config/README.md."""
    whole = schema()
    parts = [INTRODUCTION, f"```yaml\n{EXAMPLE}```\n", KEYS, "### The study\n"]
    sections = {
        name: list(_keys(whole, {name: field}, whole["required"]))
        for name, field in whole["properties"].items()
    }
    parts.append(_table([keys[0] for keys in sections.values()]))
    for name, keys in sections.items():
        if len(keys) > 1:
            parts += [f"### `{name}`\n", _table(keys[1:])]
    return "\n".join([*parts, VARIANTS, RUNS])


def _table(keys: list[Key]) -> str:
    lines = [f"| `{key.name}` | {key.type} | {key.default} | {key.meaning} |" for key in keys]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *lines, ""])


def _keys(
    whole: dict[str, Any], fields: dict[str, Any], required: Sequence[str], prefix: str = ""
) -> Iterator[Key]:
    """The given fields, required ones first, each followed by those inside it."""
    for name, field in sorted(fields.items(), key=lambda item: item[0] not in required):
        if "-" in name:
            continue  # the other spelling of a key
        path = prefix + name
        yield Key(path, _type(whole, field), _default(name in required, field), _meaning(whole, field))
        seen: list[dict[str, Any]] = []
        for suffix, section in _inside(whole, field):
            if section in seen:
                continue  # a list that may also be written as its one item
            seen.append(section)
            inner = section.get("required", ())
            yield from _keys(whole, section["properties"], inner, f"{path}{suffix}{_kind(section)}.")


def _kind(section: dict[str, Any]) -> str:
    """The mark of a section that only its `kind` tells apart from another, which is the default."""
    return f"[{section['properties']['kind']['const']}]" if "kind" in section.get("required", ()) else ""


def _variants(whole: dict[str, Any], field: Any) -> list[dict[str, Any]]:
    """What a field may be, references followed; null, which stands for absent, left out."""
    variants = []
    for variant in field.get("anyOf", field.get("oneOf", [field])):
        if "$ref" in variant:
            variants.append(whole["$defs"][variant["$ref"].rsplit("/", 1)[-1]])
        elif "oneOf" in variant or "anyOf" in variant:
            variants += _variants(whole, variant)
        elif variant.get("type") != "null":
            variants.append(variant)
    return variants


def _inside(whole: dict[str, Any], field: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sections inside a field: itself, the items of its list, or the values of its mapping."""
    for variant in _variants(whole, field):
        if "properties" in variant:
            yield "", variant
        elif "items" in variant:
            yield from ((f"[]{suffix}", section) for suffix, section in _inside(whole, variant["items"]))
        elif isinstance(variant.get("additionalProperties"), dict):
            values = variant["additionalProperties"]
            yield from ((f".*{suffix}", section) for suffix, section in _inside(whole, values))


def _type(whole: dict[str, Any], field: dict[str, Any] | bool) -> str:
    if isinstance(field, bool) or not field:
        return "anything"
    names = [_type_of(whole, variant) for variant in _variants(whole, field)]
    return _either(list(dict.fromkeys(names)))


def _type_of(whole: dict[str, Any], variant: dict[str, Any]) -> str:
    kind = variant.get("type")
    if "enum" in variant or "const" in variant:
        return _either([f"`{value}`" for value in variant.get("enum", [variant.get("const")])])
    if "properties" in variant:
        return "section"
    if kind == "array":
        return f"list of {_type(whole, variant['items']).replace('section', 'sections')}"
    if kind == "object":
        return f"mapping to {_type(whole, variant['additionalProperties'])}"
    if kind == ["number", "string"]:
        return "number or fraction"
    if kind in ("integer", "number"):
        return f"{'whole number' if kind == 'integer' else 'number'} {_range(variant)}".rstrip()
    if kind == "boolean":
        return "`true` or `false`"
    return "date" if variant.get("format") == "date" else "text"


def _range(variant: dict[str, Any]) -> str:
    if {"minimum", "maximum"} <= set(variant):
        return f"{variant['minimum']:g} to {variant['maximum']:,g}"
    limits = [("≥", "minimum"), (">", "exclusiveMinimum"), ("≤", "maximum"), ("<", "exclusiveMaximum")]
    said = [f"{sign} {variant[limit]:g}" for sign, limit in limits if limit in variant]
    return ", ".join(said)


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
    """A value as YAML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return f'"{value}"' if value == "," else str(value)


def _meaning(whole: dict[str, Any], field: dict[str, Any]) -> str:
    """The description of a field, or where it says no more that of its section."""
    described = field if "description" in field else _variants(whole, field)[0]
    return described["description"].replace("|", "\\|")


def files() -> dict[str, str]:
    """The generated files: their text by their path from the repository's root."""
    return {
        "workflow/schemas/study.schema.json": json.dumps(schema(), ensure_ascii=False, indent=2) + "\n",
        "config/README.md": readme(),
    }


def write(root: Path) -> None:
    """Write the generated files under the repository's root."""
    for path, text in files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path.cwd())
