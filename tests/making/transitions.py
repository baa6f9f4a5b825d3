"""Random pairs of studies: the same folder sees the first and then the second.

Every study is a base of one kind with a few changes; the changes cover every key of config/README.md. The files of all
kinds are in one folder, so that a study may also exchange a file or how it is written.
"""

import copy
import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from making.studies import keyed_by
from oracles.metrics import ORACLES
from reident.errors import InputError
from reident.pipeline import family

Change = dict[str, Any]
"""Values by key, dots between sections and numbers for the items of lists; None removes a key."""

N = 40
QUESTIONS = """\
title: Ours
topics: [{title: Age, questions: [{id: age, text: "How old?", why: It fades., exhibits: [records]}]}]
"""
SCORES = "def near(p, e):\n    return 5 * (abs(p - e) <= 1)\n"
SCORES_SHA256 = hashlib.sha256(SCORES.encode()).hexdigest()


class Transition(NamedTuple):
    """Two studies of one id, and what the second changes."""

    kind: str
    before: dict[str, Any]
    after: dict[str, Any]
    changes: list[Change]


def rows() -> dict[str, list[list[str]]]:
    """Return the rows of every file, header first; made-up people."""
    draw = Random(5)  # noqa: S311 - made-up people
    people = [
        [
            draw.choice("NES"),
            str(draw.randint(20, 60)),
            f"{draw.randint(10, 90)}.5",
            draw.choice("12"),
            draw.choice(["1", "2", "3", "-9"]),
            str(draw.randint(1, 4)),
            f"h{at // 2:02d}",
            f"{1 + at // 2 % 12:02d}-{1 + 5 * (at // 2) % 12:02d}-{7 * (at // 2) % 100:02d}",
        ]
        for at in range(N)
    ]
    header = ["region", "age", "income", "sex", "school", "weight", "house", "since"]
    names = [f"p{at:02d}" for at in range(N)]
    eif = [[f"e{at:02d}", f"s{at:02d}", *person] for at, person in enumerate(people[10:], start=10)]
    synthetic = [
        [name, *person[:2], draw.choice(people)[2], *person[3:4], draw.choice(people)[4], *person[5:]]
        for name, person in zip(names, people, strict=True)
    ]
    key = ["id", *header]
    return {
        "puf": [key, *([name, *person] for name, person in zip(names[:30], people[:30], strict=True))],
        "eif": [["broker", "serial", *header], *eif],
        "iuf": [["id", "broker", "serial"], *([names[at], f"e{at:02d}", f"s{at:02d}"] for at in range(10, 30))],
        "people": [key, *([name, *person] for name, person in zip(names, people, strict=True))],
        "synthetic": [key, *synthetic],
        "amounts": [
            ["id", "sales", "staff", "region"],
            *([f"f{at:02d}", str(3 * at % 37 + 4), str(at % 11 + 1), "NS"[at % 2]] for at in range(N)),
        ],
    }


def write_files(folder: Path) -> None:
    """Write every file as CSV and in the other forms that a change may name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in rows().items():
        _write(folder / f"{name}.csv", table, ",")
        _write(folder / f"{name}.txt", [[cell.replace(".", ",") for cell in row] for row in table], ";")
        _write(folder / f"{name}.utf16.csv", table, ",", encoding="utf-16")
        lines = ["".join(cell.ljust(8) for cell in row) for row in table[1:]]
        (folder / f"{name}.fwf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        columns = dict(zip(table[0], zip(*table[1:], strict=True), strict=True))
        pq.write_table(
            pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}),
            folder / f"{name}.parquet",
        )
    (folder / "rules.py").write_text(SCORES, encoding="utf-8")
    (folder / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")


def _write(path: Path, table: list[list[str]], delimiter: str, encoding: str = "utf-8") -> None:
    path.write_text("".join(delimiter.join(row) + "\n" for row in table), encoding=encoding)


def _forms(section: str, name: str, path: str = "path") -> list[Change]:
    """Other ways in which a file may be written."""
    columns = rows()[name][0]
    layout = {column: f"{8 * at + 1}-{8 * at + 8}" for at, column in enumerate(columns)}
    return [
        {f"{section}.{path}": f"{name}.txt", f"{section}.delimiter": ";", f"{section}.decimal": ","},
        {
            f"{section}.{path}": f"{name}.txt",
            f"{section}.delimiter": ";",
            f"{section}.decimal": ",",
            f"{section}.thousands": ".",
        },
        {f"{section}.{path}": f"{name}.utf16.csv", f"{section}.encoding": "utf-16"},
        {f"{section}.{path}": f"{name}.fwf", f"{section}.layout": layout},
        {f"{section}.{path}": f"{name}.parquet", f"{section}.format": "parquet"},
        {f"{section}.quote": "'"},
    ]


def _under(form: Change, section: str) -> dict[str, Any]:
    """A change of one section as that section."""
    return {"path": "people.csv"} | {key.removeprefix(f"{section}."): value for key, value in form.items()}


def _typing(section: str) -> list[Change]:
    """How the texts of a variable are read."""
    return [{f"{section}.missing": ["-9"]}, {f"{section}.missing": ["2", "-9"]}, {f"{section}.integer_coded": True}]


def _labels(section: str) -> Change:
    """The labels of codes, which change no number."""
    return {f"{section}.labels": {"1": "one", "2": "two"}}


HEAD: list[Change] = [
    {"title": "Another title"},
    {"agency": "An agency"},
    {"date": "2026-03-31"},
    {"language": "de"},
    {"checklist": {"answers": {"survey": "A survey."}}},
    {"checklist": {"file": "questions.yaml", "answers": {"age": "Old."}}},
    {"checklist": {"file": "questions.yaml", "further": ["ipc-ontario"]}},
    {
        "checklist": {
            "decision": {
                "board": "The board",
                "decision": "approved with conditions",
                "date": "2026-04-01",
                "conditions": ["Drop the income."],
                "names": [{"name": "A. Adams", "role": "chair"}],
            }
        }
    },
    {"release": {"policy": "opensafely", "strata": "true"}},
    {"release": {"policy": "opensafely", "one_to_one": "false"}},
    {"release": {"policy": "opensafely", "released_means": "within"}},
    {"release": {"policy": "base-5-random", "seed": "at least sixteen characters"}},
]
LINKED: list[Change] = [
    *HEAD,
    *_forms("files.puf", "puf"),
    *_forms("files.eif", "eif"),
    *_forms("files.iuf", "iuf"),
    {"files.original": {"path": "puf.csv"}},
    {"files.original": {"path": "puf.csv"}, "utility": {}},
    {"files.original": {"path": "puf.csv"}, "utility": {"loss": "overlap"}},
    {"files.original": {"path": "puf.csv"}, "utility": {"interactions": "2"}},
    {"files.original": {"path": "puf.csv"},
     "utility": {"regression": {"response": "income", "predictors": ["age", "sex"]}}},
    *(
        {
            "files.original": {
                **_under(form, "files.original"),
                "path": form.get("files.original.path", "puf.csv"),
            }
        }
        for form in _forms("files.original", "puf")
    ),
    {"files.eif.id": ["serial", "broker"], "files.iuf.eif_id": ["serial", "broker"]},
    {"files.puf.id": ["id"], "files.iuf.puf_id": ["id"]},
    {"files.iuf.unknown_links_at_most": "3"},
    {"files.puf.pad": {"school": "2"}, "files.eif.pad": {"school": "2"}},
    {"files.eif.pad": {"weight": "2", "sex": "2"}},
    {"files.iuf.pad": {"id": "2"}},
    {"files.original": {"path": "puf.csv", "pad": {"school": "2"}}},
    {"confirmed_csv": True},
    {"why": {}},
    {"why": {"max_size": "2"}, "confirmed_csv": True},
    {"why": {"suggest": True}, "decision": {"confirmed_rate_at_most": "0.1"}},
    {"why": {"recodings": [{"variable": "age", "width": "10"}, {"variable": "age", "bottom": "20", "top": "60"}]}},
    {"why": {"recodings": [{"variable": "school", "name": "two levels", "recode": {"1": "low", "2": "low"}}]}},
    {"linking_variables.0.coarsen": {"width": "5", "bottom": "20", "top": "70"}},
    {"linking_variables.3.coarsen": {"recode": {"2": "1"}}},
    {"linking_variables.3.recode": {"puf": {"1-2": "1", "otherwise": "3"}, "eif": {"1-2": "1", "3-": "3"}}},
    {"strata": None},
    {"strata.0.name": "area", "strata.0.puf": "region", "strata.0.eif": "region"},
    {"strata.0.missing": {"puf": ["N"], "eif": []}},
    {"strata.0.recode": {"puf": {"N": "E"}, "eif": {"N": "E"}}},
    {"strata.0.recode": {"puf": {}, "eif": {"S": "E"}}},
    {"strata.0.integer_coded": True},
    *_typing("linking_variables.3"),
    _labels("linking_variables.3"),
    {"strata.0.labels": {"N": "North"}},
    {"linking_variables.3.missing": {"puf": ["3", "-9"], "eif": ["-9"]}},
    {"linking_variables.3.recode": {"puf": {"3": "2"}, "eif": {"3": "2"}}},
    {"linking_variables.3.recode": {"eif": {"2": "1"}}},
    {"linking_variables.3.order": ["1", "2", "3", "-9"]},
    {"linking_variables.0.missing": ["33", "40"]},
    {
        "linking_variables.0.convert": {
            "puf": {"times": "2", "plus": "1"},
            "eif": {"times": "1/2", "plus": "-1"},
        }
    },
    {"linking_variables.0.type": "categorical"},
    {"linking_variables.0.name": "years", "linking_variables.0.puf": "age", "linking_variables.0.eif": "age"},
    {"linking_variables.1.eif": "weight"},
    {"binning.bins": "3"},
    {"binning.cutpoints": "eif"},
    {"binning.cutpoints": "each"},
    {"binning.scope": "study"},
    {"binning.quantiles": "groups"},
    {"binning.quantiles": "groups", "binning.ties": "high"},
    *({f"metrics.{name}": options} for name, oracle in ORACLES.items() for options in oracle.changes),
    {"metrics.adhoc": {"scores": {"sex": {"exact": True}, "age": {"function": "rules:near", "sha256": SCORES_SHA256}}}},
    {"rank_filter.max_pairs": "2"},
    {"rank_filter.keep": "6"},
    {"rates.interval": "wilson"},
    {"rates.level": "0.9"},
    {"larger_intruder": {}},
    {"larger_intruder": {"times": ["2", "3"]}},
    {"larger_intruder": {"population": "500"}},
    {"larger_intruder": {"seed": "7"}},
    {"rates.interval": "clustered", "rates.cluster": ["region", "school"]},
    {"rates.cluster": "school"},
    {"files.eif.person": "weight"},
    {"files.eif.named": "false"},
    {"decision.conditional_rate_at_most": "0.1"},
    {"decision": {"conditional_rate_at_most": {"taxicab": "0.1"}, "by": "upper"}},
    {"decision": {"expected_correct_rate_at_most": "0.1"}},
    {"decision": {"reach_at_most": "0.1", "set_by": "The board", "set_on": "2026-01-15"}},
    {"challenge": {"work": "0"}},
    {"challenge": {"work": "all"}},
    {"decision": {"single_rate_at_most": "0.1"}},
    {"decision": {"confirmed_rate_at_most": "0.1"}},
    {"decision": {"reach_at_most": "0.1"}},
    {"decision": {"confirmed_at_most": "3"}},
    {"decision": {"surest": {"right": "0.9", "at_most": "10"}}},
    {"decision": {"confirmed_by_any_at_most": "3"}},
    {"predecessor": "earlier-study"},
    {"intruder": "an employer"},
]  # fmt: skip
DATE = {"type": "date", "format": "DD-MM-YY", "latest_year": "2026"}
DATED: list[Change] = [
    {"linking_variables.0.latest_year": "2050"},
    {"linking_variables.0.format": {"puf": "DD-MM-YY", "eif": "MM-DD-YY"}},
    {"linking_variables.0.format": "MM-DD-YY"},
    {"linking_variables.0.coarsen": {"to": "month"}},
    {"linking_variables.0.coarsen": {"to": "year", "earliest": "1950-01-01", "latest": "2020-12-31"}},
    {"linking_variables.0.missing": ["01-01-00"]},
    {"why": {"recodings": [{"variable": "since", "to": "quarter"}]}},
    {"why": {"recodings": [{"variable": "since", "earliest": "1950-01-01", "latest": "2020-12-31"}]}},
    {"metrics.adhoc": {"scores": {"since": {"bands": [{"within": "31", "score": "5"}]}}}},
    {"binning.bins": "3"},
]
GROUPED: list[Change] = [
    {"units": {"puf": "house", "eif": ["house"]}},
    {"units": {"puf": "house", "eif": ["house"], "kind": "household"}},
    {"units.puf": ["house", "weight"]},
    {"units.eif": "serial"},
    {"units.members": "some"},
    {"units": None},
    {"linking_variables.0.level": "unit"},
    {"linking_variables.0.coarsen": {"to": "month"}},
    {"linking_variables.1.missing": ["33"]},
    {"metrics.unicity": {}},
    {"metrics.taxicab": {"alpha": "1/3"}},
    {"rank_filter.max_pairs": "2"},
    {"binning.bins": "3"},
]
HOUSEHOLDS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": "70"},
    {"simulate.puf_households": "25"},
    {"simulate.eif_households": "40"},
    {"simulate.known": "0.5"},
    {"simulate.lacking": "0.2"},
    {"simulate.wrong": "0.2"},
    {"simulate.moved": "0.3"},
    {"simulate.errors": "0.4"},
    {"simulate.age_noise": "0.6"},
    {"simulate.top_age": "60"},
    {"simulate.missing": "0.3"},
    {"units.members": "some"},
]
VISITS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.puf_patients": "25"},
    {"simulate.eif_patients": "40"},
    {"simulate.known": "0.7"},
    {"simulate.lacking": "0.1"},
    {"simulate.moved": "9"},
    {"simulate.errors": "0.4"},
    {"linking_variables.0.coarsen": {"to": "month"}},
]
MASKED: list[Change] = [
    *HEAD,
    *_forms("microaggregate", "amounts"),
    {"microaggregate.id": None, "microaggregate.seed": "4"},
    {"microaggregate.pad": {"id": "4", "staff": "3"}},
    {"microaggregate.variables": ["sales"]},
    {"microaggregate.missing": ["7"], "linking_variables.0.missing": ["7"], "linking_variables.1.missing": ["7"]},
    {"linking_variables.0.missing": ["5"]},
    {"linking_variables.0.recode": {"puf": {"4": "7"}, "eif": {"4": "7"}}},
    {"microaggregate.k": "4"},
    {"microaggregate.aggregate": "median"},
    {"microaggregate.sampling_fraction": "0.5"},
    {"microaggregate.corresponding": {"deviating": "1"}},
    {"microaggregate.corresponding": {"by": "0.1"}},
    {"microaggregate.corresponding": {"others_from": "0.02", "others_to": "0.05"}},
    {"microaggregate.seed": "9"},
    {"metrics.winkler.min_agree": "2"},
    {"metrics.winkler.agreement": "midpoint"},
    {"metrics.winkler.agreement": {"nearest": "3"}},
    {"metrics.winkler.agreement": {"closest": "2"}},
]  # fmt: skip
AMOUNTS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.records": "50"},
    {"simulate.variables": "4"},
    {"simulate.sigma": "0.5"},
    {"simulate.correlation": "0.1"},
    {"microaggregate.k": "5"},
]
SURVEY: list[Change] = [
    {"simulate.kind": "household-survey"},
    {"simulate.seed": "3"},
    {"simulate.households": "70"},
    {"simulate.puf_records": "30"},
    {"simulate.eif_records": "40"},
    {"simulate.overlap": "0.6"},
    {"simulate.original": "true"},
    {"simulate.original": "true", "utility": {"loss": "pairwise"}},
    {"simulate.treatment.swapping": "0.5"},
    {"simulate.treatment.noise": {"income": "0.5"}},
    {"simulate.treatment.microaggregation": {"income": "3"}},
    {"simulate.treatment.rounding": {"hours": "10"}},
    {"simulate.treatment.top_coding": {"age": "0.5"}},
    {"simulate.treatment.largest_household": "3"},
    {"simulate.treatment.missing": {"income": "0.5"}},
    {"simulate.brokers.sources": ["1", "10"]},
    {"simulate.brokers.person": "true"},
    {"simulate.last_year": {"moved": "0.1", "changed": {"age": "0.2"}}},
    {"simulate.brokers.adults_from": "30"},
    {"simulate.brokers.uncovered_region": "2"},
    {"simulate.brokers.duplicates": "0.2"},
    {"simulate.brokers.outdated": "0.6"},
    {"simulate.brokers.moved": "0.3"},
    {"simulate.brokers.errors": {"age": "0.5"}},
    {"simulate.brokers.noise": {"income": "0.5"}},
    {"simulate.brokers.rounding": {"income": "1000"}},
    {"simulate.brokers.missing": {"income": "0.5"}},
    {"file_risk": {"sampling_fraction": "0.1", "special": {"standard_error": "0.1"}}},
    {"binning.bins": "3"},
]
MATCHING: list[Change] = [
    *HEAD,
    *_forms("matching.confidential", "people"),
    *_forms("matching.synthetic.0", "synthetic"),
    {"matching.confidential.id": None, "matching.synthetic.0.id": None},
    {"matching.synthetic.0.id": ["id"]},
    {"matching.confidential.pad": {"school": "2"}, "matching.synthetic.0.pad": {"school": "2"}},
    *_typing("matching.synthesized.1"),
    *_typing("matching.known.1"),
    {"matching.known": None, "matching.scenarios": [{"name": "one", "known": ["age"]}]},
    {"matching.scenarios": [{"name": "two", "known": [{"name": "weight", "missing": ["1"], "integer_coded": True}]}]},
    {"matching.known": "all-subsets", "matching.candidates": ["age", "sex"], "matching.max_known": "1"},
    {"matching.known": "all-subsets",
     "matching.candidates": ["age", {"name": "sex", "missing": ["2"], "integer_coded": True}]},
    {"matching.radius": {"income": {"absolute": "5"}}},
    {"matching.radius": {"income": {"relative": "0.2"}, "age": {"absolute": "1"}}},
    {"matching.interval": "open"},
    {"matching.closest": {}},
    {"matching.closest": {"variables": ["age", "income"], "holdout": {"path": "synthetic.csv"}}},
    {"matching.closest": {"holdout": {"path": "people.csv", "pad": {"school": "2"}}}},
    *(
        {"matching.closest": {"holdout": _under(form, "matching.closest.holdout")}}
        for form in _forms("matching.closest.holdout", "people")
    ),
    {"matching.closest": {"holdout": {"path": "synthetic.csv"}}, "decision": {"nearer_excess_at_most": "0.1"}},
    {"matching.missing": "each_other"},
    {"matching.targets": {"variable": "sex", "equals": ["1"]}},
    {"matching.uncertain_targets": {"sampling_fraction": "0.3"}},
    {"matching.uncertain_targets": {"population_count": "weight"}},
    {"matching.targets": [{"variable": "age", "at_least": "30", "at_most": "55"}]},
    {"decision": {"expected_match_risk_at_most": "3"}},
    {"decision": {"true_match_rate_at_most": "0.1"}},
    {"decision": {"false_match_rate_at_least": "0.5"}},
]  # fmt: skip
SYNTHETIC: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": "60"},
    {"simulate.records": "45"},
    {"simulate.copies": "2"},
    {"simulate.noise": "0.5"},
    {"simulate.rounding": "1000"},
    {"simulate.missing": "0.4"},
    {"matching.missing": "each_other"},
    {"attribute_disclosure": {"released": "synthetic", "keys": ["AGE", "SEX"], "targets": ["OCC"]}},
]
LEARNT: list[Change] = [
    *HEAD,
    *_forms("attribute_disclosure.original", "people"),
    *_forms("attribute_disclosure.released.0", "synthetic"),
    {"attribute_disclosure.original.id": None, "attribute_disclosure.released.0.id": None},
    {"attribute_disclosure.original.id": None},
    {"attribute_disclosure.original.pad": {"school": "2"}, "attribute_disclosure.released.0.pad": {"school": "2"}},
    *_typing("attribute_disclosure.keys.1"),
    *_typing("attribute_disclosure.targets.1"),
    _labels("attribute_disclosure.keys.1"),
    _labels("attribute_disclosure.targets.1"),
    {"attribute_disclosure.keys.0.type": "numeric"},
    {"attribute_disclosure.keys.0.type": "numeric",
     "attribute_disclosure.keys.0.convert": {"times": "2", "plus": "1"}},
    {"attribute_disclosure.keys.0.name": "years", "attribute_disclosure.keys.0.column": "age"},
    {"attribute_disclosure.keys": [{"name": "since", **DATE}, {"name": "sex"}, {"name": "region"}]},
    {"attribute_disclosure.targets": [{"name": "since", **DATE, "within": {"absolute": "60"}}, {"name": "school"}]},
    {"attribute_disclosure.keys.1.recode": {"3": "2"}},
    {"attribute_disclosure.keys.1.order": ["1", "2", "3", "-9"]},
    {"attribute_disclosure.targets.1.recode": {"3": "2"}},
    {"attribute_disclosure.targets.1.order": ["1", "2", "3", "-9"]},
    {"attribute_disclosure.targets.1.name": "class", "attribute_disclosure.targets.1.column": "school"},
    {"attribute_disclosure.max_keys": "1"},
    {"decision": {"disco_at_most": "0.1"}},
    {"decision": {"disco_at_most": {"school": "0.2"}}},
    {"attribute_disclosure.sets": [["sex"], ["sex", "region"]]},
    {"attribute_disclosure.missing": "category"},
    {"attribute_disclosure.targets.0.within": {"absolute": "1000"}},
    {"attribute_disclosure.targets.0.convert": {"times": "2", "plus": "1"}},
    {"attribute_disclosure.released": [{"path": "synthetic.csv", "id": "id"}, {"path": "people.csv"}]},
    {"attribute_disclosure.holdout": {"path": "synthetic.csv"}},
    *(
        {"attribute_disclosure.holdout": _under(form, "attribute_disclosure.holdout")}
        for form in _forms("attribute_disclosure.holdout", "people")
    ),
    {"attribute_disclosure.holdout": {"path": "people.csv", "pad": {"school": "2"}}},
    {"binning.bins": "3"},
]  # fmt: skip
RISK: list[Change] = [
    *HEAD,
    *_forms("file_risk.file", "people"),
    {"file_risk.file.id": None},
    {"file_risk.file.pad": {"school": "2"}},
    {"file_risk.original": {"path": "people.csv", "pad": {"school": "2"}}},
    {"file_risk.population": {"file": {"path": "people.csv", "pad": {"school": "2"}}}},
    *_typing("file_risk.key_variables.1"),
    _labels("file_risk.key_variables.1"),
    {"decision": {"k_anonymity_at_least": "3"}},
    {"decision": {"k_anonymity_at_least": "3", "records_below_k_at_most": "0.2"}},
    {"decision": {"dis_at_most": "0.1"}},
    {"decision": {"share_above": {"risk": "0.04", "at_most": "0.1"}}},
    {"decision": {"k_map_at_least": "3", "average_risk_at_most": "0.2"}},
    {"decision": {"largest_risk_at_most": "0.1", "population_uniques_at_most": "2"}},
    {"decision": {"expected_reidentifications_at_most": "5"}},
    {"file_risk.population": {"file": {"path": "people.csv"}}, "decision": {"delta_presence_at_most": "0.5"}},
    {"file_risk.key_sets": {"up_to": "1"}, "file_risk.sensitive": ["income"],
     "decision": {"l_diversity_at_least": "2", "t_closeness_at_most": "0.5"}},
    {"file_risk.units": "house"},
    {"file_risk.key_variables": [{"name": "since", **DATE}, {"name": "sex"}]},
    {"file_risk.key_sets": {"up_to": "1"}, "file_risk.sensitive": [{"name": "since", **DATE}]},
    {"file_risk.key_variables.1.recode": {"3": "2"}},
    {"file_risk.key_variables.1.order": ["1", "2", "3", "-9"]},
    {"file_risk.key_variables.0.type": "numeric"},
    {
        "file_risk.key_variables.0.type": "numeric",
        "file_risk.key_variables.0.convert": {"times": "2", "plus": "1"},
    },
    {"file_risk.key_variables.0.name": "years", "file_risk.key_variables.0.column": "age"},
    {"file_risk.missing": "category"},
    {"file_risk.missing": "wildcard"},
    {"file_risk.collapse": [{"variable": "school", "recode": {"1": "2"}}]},
    {"file_risk.original": {"path": "synthetic.csv"}},
    {"file_risk.original": {"path": "synthetic.csv", "id": ["id"]}},
    *(
        {"file_risk.original": _under(form, "file_risk.original")}
        for form in _forms("file_risk.original", "people")
    ),
    {"file_risk.sampling_fraction": "0.3"},
    {"file_risk.sampling_fraction": None, "file_risk.weight": "weight"},
    {"file_risk.max_order": "2"},
    {"file_risk.weighting": "normalised"},
    {"file_risk.dis_suda": "user-guide"},
    {"file_risk.special": {"standard_error": "0.2"}},
    {"file_risk.special.seed": "7"},
    {"file_risk.population_models": {}},
    {"file_risk.population_models": {"log_linear": ["main"], "household": "region"}},
    {"file_risk.population_models": {"household": ["region", "school"], "seed": "3"}},
    {"file_risk.population_models.log_linear": [[["age", "sex"]], "two-way"]},
    {"file_risk.scenarios": [{"name": "Neighbour", "known": ["age", "sex"], "description": "Next door."}]},
    {"file_risk.scenarios": [{"name": "Employer", "known": ["sex"]}], "decision": {"unique_share_at_most": "0.1"}},
    {"file_risk.scenarios": [{"name": "Employer", "known": ["sex"]}],
     "decision": {"unique_share_at_most": {"Employer": "0.2"}}},
    {"file_risk.key_sets": {}},
    {"file_risk.key_sets": {"variables": ["age", "sex"], "up_to": "2"}},
    {"file_risk.key_sets": {}, "file_risk.sensitive": ["income"]},
    {
        "file_risk.key_sets": {"up_to": "1"},
        "file_risk.sensitive": [
            {
                "name": "place",
                "column": "region",
                "recode": {"N": "E"},
                "order": ["E", "S"],
                "labels": {"E": "east", "S": "south"},
            },
            {"name": "weight", "integer_coded": True},
        ],
    },
    {"file_risk.key_sets": {"up_to": "1"},
     "file_risk.sensitive": [
         {"name": "income", "type": "numeric", "distance": "ordered", "convert": {"times": "2", "plus": "1"}},
         {"name": "weight", "missing": ["4"]},
     ]},
    {"file_risk.population": {"file": {"path": "people.csv"}}},
    {"file_risk.population": {"file": {"path": "people.csv"}, "numerical_study": {"samples": "3"}}},
    {
        "file_risk.population": {
            "file": {"path": "people.csv"},
            "numerical_study": {"samples": "3", "fraction": "0.6", "strata": ["region"], "seed": "5"},
        }
    },
    *(
        {"file_risk.population": {"file": _under(form, "file_risk.population.file")}}
        for form in _forms("file_risk.population.file", "people")
    ),
    {"binning.bins": "3"},
]  # fmt: skip
AUTHORITIES: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": ["70", "60"]},
    {"simulate.fraction": "0.3"},
    {"file_risk.weighting": "normalised"},
    {"file_risk.population": {"numerical_study": {"samples": "2"}}},
]
TWO_FILES = [
    {
        "name": "file",
        "combinations": {
            "csv": {},
            "text": {"files.eif.path": "eif.txt", "files.eif.delimiter": ";", "files.eif.decimal": ","},
        },
    }
]
VARIED: list[Change] = [
    {"variants": [{"set": "metrics.taxicab.alpha", "values": ["0.25", "0.5", "0.75"]}]},
    {"variants": [{"set": "binning.bins", "name": "cut", "values": ["3", "4"]}]},
    {"variants": [{"name": "both", "combinations": {"x": {"binning.bins": "3"}, "y": {"rank_filter.max_pairs": "2"}}}]},
    {"variants": [{"set": "linking_variables.school.missing", "values": {"none": [], "two": ["2"]}}]},
    {"variants": [{"set": "linking_variables.school", "values": {"without": None}}]},
    {"variants": [{"set": "files.puf.path", "values": {"exchanged": "people.csv"}}]},
    {"variants": TWO_FILES, "together": "file"},
    {"variants": TWO_FILES, "together": "file", "files.eif.person": "weight"},
    {"variants": TWO_FILES, "together": "file", "decision": {"together_confirmed_rate_at_most": "0.1"}},
    {"variants": TWO_FILES, "together": "file", "decision": {"together_best_rank_correct_rate_at_most": "0.1"}},
    {"confirmed_csv": True},
    {"binning.bins": "4"},
    {"rank_filter.max_pairs": "3"},
    {"metrics.taxicab.alpha": "0.75"},
    {"linking_variables.3.missing": ["2"]},
    {"metrics.unicity": {}},
]  # fmt: skip

VALUED: list[Change] = [
    {"confirm.learn": ["income"]},
    {"confirm.learn": [{"name": "since", **DATE}], "confirm.within": {"since": "60"}},
    {"confirm.within": {"age": "0", "income": "5"}},
    {"confirm.by": "values"},
    *_typing("confirm.learn.0"),
    _labels("confirm.learn.0"),
    {"confirm.learn.0.recode": {"3": "2"}},
    {"confirm.learn.0.order": ["1", "2", "3", "-9"]},
    {"confirm.learn.0.name": "class", "confirm.learn.0.column": "school"},
    {"confirm.learn.1.type": "categorical"},
    {"confirm.learn.1.convert": {"times": "2", "plus": "1"}},
    {"decision": {"excess_precision_at_most": "0.05"}},
    {"metrics": {"taxicab": {}, "adhoc": {}}},
    {"files.puf.path": "people.csv"},
    {"strata": []},
]
VARIABLES = [
    {"name": "age", "type": "numeric"},
    {"name": "income", "type": "numeric"},
    {"name": "sex", "type": "categorical"},
    {"name": "school", "type": "categorical"},
]
LINKING = {
    "files": keyed_by("id", ["broker", "serial"]),
    "strata": [{"name": "region"}],
    "linking_variables": VARIABLES,
    "metrics": {"taxicab": {}},
}
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "linked": (LINKING, LINKED),
    "valued": (
        {
            "files": {
                "puf": {"path": "synthetic.csv"},
                "eif": {"path": "eif.csv", "id": ["broker", "serial"]},
                "iuf": {"path": "eif.csv", "eif_id": ["broker", "serial"]},
            },
            "strata": ["region"],
            "linking_variables": [{"name": "sex", "type": "categorical"}, {"name": "age", "type": "numeric"}],
            "metrics": {"euclidean": {}},
            "confirm": {
                "by": "values",
                "learn": [{"name": "school"}, {"name": "income", "type": "numeric"}],
                "within": {"age": "1"},
            },
        },
        VALUED,
    ),
    "varied": ({**LINKING, "variants": [{"set": "binning.bins", "values": ["2", "3"]}]}, VARIED),
    "dated": ({**LINKING, "linking_variables": [{"name": "since", **DATE}, *VARIABLES[2:]]}, DATED),
    "grouped": (
        {
            **LINKING,
            "strata": [],
            "units": {"puf": "house", "eif": "house"},
            "linking_variables": [{"name": "since", **DATE}, VARIABLES[0], VARIABLES[2]],
        },
        GROUPED,
    ),
    "households": (
        {
            "simulate": {"kind": "households", "households": "60", "puf_households": "20", "eif_households": "30"},
            "units": {"puf": "household", "eif": "address"},
            "linking_variables": [{"name": "AGE", "type": "numeric", "eif": "age_years"}],
            "metrics": {"taxicab": {}},
        },
        HOUSEHOLDS,
    ),
    "visits": (
        {
            "simulate": {"kind": "visits", "households": "60", "puf_patients": "20", "eif_patients": "30"},
            "units": {"puf": "patient", "eif": "member", "members": "some"},
            "linking_variables": [{"name": "ADMITTED", "type": "date", "eif": "day", "format": {"eif": "DD.MM.YYYY"}}],
            "metrics": {"taxicab": {}},
        },
        VISITS,
    ),
    "masked": (
        {
            "microaggregate": {"path": "amounts.csv", "id": "id", "variables": ["sales", "staff"]},
            "linking_variables": [
                {"name": "sales", "type": "numeric"},
                {"name": "staff", "type": "numeric"},
                {"name": "region", "type": "categorical"},
            ],
            "metrics": {"winkler": {}},
        },
        MASKED,
    ),
    "amounts": (
        {
            "simulate": {"kind": "skewed-amounts", "records": "40"},
            "microaggregate": {"variables": ["x1", "x2"]},
            "linking_variables": [{"name": "x1", "type": "numeric"}, {"name": "x2", "type": "numeric"}],
            "metrics": {"winkler": {}},
        },
        AMOUNTS,
    ),
    "survey": (
        {
            "simulate": {"households": "60", "puf_records": "40", "eif_records": "50"},
            "linking_variables": [
                {"name": "age", "type": "numeric", "puf": "AGE", "eif": "age_years"},
                {
                    "name": "income",
                    "type": "numeric",
                    "puf": "INCOME",
                    "eif": "income_est",
                    "missing": ["-9", "", "-8"],
                },
            ],
            "metrics": {"taxicab": {}},
        },
        SURVEY,
    ),
    "matching": (
        {
            "matching": {
                "confidential": {"path": "people.csv", "id": "id"},
                "synthetic": [{"path": "synthetic.csv"}],
                "known": [{"name": "age"}, {"name": "sex"}],
                "synthesized": [{"name": "income"}, {"name": "school"}],
            }
        },
        MATCHING,
    ),
    "learnt": (
        {
            "attribute_disclosure": {
                "original": {"path": "people.csv", "id": "id"},
                "released": [{"path": "synthetic.csv", "id": "id"}],
                "keys": [{"name": "age"}, {"name": "sex"}, {"name": "region"}],
                "targets": [{"name": "income", "type": "numeric", "within": {"relative": "0.2"}}, {"name": "school"}],
            }
        },
        LEARNT,
    ),
    "synthetic": (
        {
            "simulate": {
                "kind": "synthetic-survey",
                "households": "50",
                "records": "40",
                "copies": "1",
                "holdout": "9",
            },
            "matching": {"known": ["AGE", "SEX"], "synthesized": ["OCC"], "closest": {}},
        },
        SYNTHETIC,
    ),
    "risk": (
        {
            "file_risk": {
                "file": {"path": "people.csv", "id": "id"},
                "key_variables": [{"name": "age"}, {"name": "school"}, {"name": "sex"}],
                "sampling_fraction": "0.1",
                "special": {"standard_error": "0.1"},
            }
        },
        RISK,
    ),
    "authorities": (
        {
            "simulate": {"kind": "local-authorities", "households": ["60", "50"], "fraction": "0.2"},
            "file_risk": {
                "file": "survey",
                "key_variables": ["AGE", "SEX", "MARSTAT"],
                "sampling_fraction": "0.2",
                "special": {"standard_error": "0.1"},
                "population": {},
            },
        },
        AUTHORITIES,
    ),
}
"""Every kind of study: its base, and the changes that a study of the kind may make."""


def changed(study: dict[str, Any], change: Change) -> dict[str, Any]:
    """Return a study with the values of a change."""
    study = copy.deepcopy(study)
    for key, value in change.items():
        *way, last = key.split(".")
        section: Any = study
        for part in way:
            if isinstance(section, list):
                section = section[int(part)]
                continue
            if not isinstance(section.get(part), dict | list):
                section[part] = {}
            section = section[part]
        if value is None:
            section.pop(last, None)
        else:
            section[last] = copy.deepcopy(value)
    return study


def transitions(seed: int, folder: Path) -> Iterator[Transition]:
    """Draw pairs of valid studies, the kinds in turn; the second has one or two changes more than the first.

    :func:`write_files` has written the files that studies name into the folder.
    """
    draw = Random(seed)  # noqa: S311 - draws test cases
    number = 0
    while True:
        for kind, (base, changes) in KINDS.items():
            study = {"id": f"t{number:03d}", **base}
            before = _valid(study, draw.sample(changes, draw.randint(0, 2)), folder)
            steps = draw.sample(changes, draw.randint(1, 2))
            after = _valid(before, steps, folder) if before else None
            if before is None or after is None or after == before:
                continue
            yield Transition(kind, before, after, steps)
            number += 1


def _valid(study: dict[str, Any], steps: list[Change], folder: Path) -> dict[str, Any] | None:
    """Return the study after the changes, or None if it is not a valid study."""
    for step in steps:
        try:
            study = changed(study, step)
        except (IndexError, KeyError, TypeError, ValueError):
            return None
    file = write_study(folder, study, "check")
    try:
        members = family.Family(file)
        family.check_files(members.members, file)
    except InputError:
        return None
    finally:
        file.unlink()
    return study


def write_study(folder: Path, study: dict[str, Any], name: str = "") -> Path:
    """Write a study file into a folder."""
    file = folder / f"{name or study['id']}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return file
