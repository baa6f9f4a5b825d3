"""A study that lies outside the repository, with composite keys that would collide if they were joined or parsed:
the files that it makes keep their contract, and say what the brute-force oracle says."""

from __future__ import annotations

import csv
import json
import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles.claims import from_files
from oracles.rating import ALL
from oracles.study import run as judge

from workflow import small

pytestmark = pytest.mark.slow

METRICS = ("unicity", "taxicab", "euclidean", "adhoc")
KEYS = ["house", "person", "broker", "serial"]
ROWS = ["puf", "eif"]
RANKED = [*KEYS, "stratum", "score"]
RATES = [
    "metric", "stratum", "n_puf", "n_eif", "n_links", "n_pairs", "n_suspected", "n_confirmed", "n_ambiguous",
    "n_confirmed_pairs", "suspected_rate", "confirmed_rate", "conditional_rate", "conditional_low",
    "conditional_high", "pair_precision", "reach", "baseline_rate", "expected_correct", "expected_correct_rate",
    "best_rank_correct", "best_rank_correct_rate", "n_single", "n_single_confirmed", "single_rate", "n_false_outside",
    "n_compared", "passing_rate", "tolerance", "n_findable",
    "conditional_bound",
]  # fmt: skip
ACCOUNT = ["step", "file", "cause", "rows"]
VARIABLES = [variable["name"] for variable in small.STUDY["linking_variables"]]
CSV_FILES = {
    "rates.csv": RATES,
    "prepared/account.csv": ACCOUNT,
    "prepared/warnings.csv": ["severity", "warning", "affected", "share", "codes", "code", "fields"],
    "verdict/warnings.csv": ["about", "severity", "warning", "affected", "share", "code", "fields"],
    "strata/account.csv": ACCOUNT,
    "strata/manifest.csv": ["stratum", "region", "n_puf", "n_eif", "n_links", "pairs"],
    "binned/cutpoints.csv": ["scope", "variable", "file", "bin", "above", "up_to", "n_puf", "n_eif"],
    "description/agreement.csv": ["metric", "pairs", "variable", "n", "agree", "differ", "missing"],
    "description/overlap.csv": ["set", "metrics", "n_pufids"],
    **{f"suspected/{m}.distribution.csv": ["stratum", "rank", "n_pufids", "n_pairs"] for m in METRICS[1:]},
    "suspected/unicity.distribution.csv": ["stratum", "order", "n_pufids", "n_pairs"],
}
PARQUET_FILES = {
    "prepared/puf.parquet": ["house", "person", "region", *VARIABLES, "source_row"],
    "prepared/eif.parquet": ["broker", "serial", "region", *VARIABLES, "source_row"],
    "prepared/iuf.parquet": ROWS,
    "strata/puf.parquet": ["stratum"],
    "strata/eif.parquet": ["stratum"],
    "binned/puf.parquet": VARIABLES,
    "binned/eif.parquet": VARIABLES,
    **{f"scores/{m}/1-of-1.parquet": [*ROWS, "score"] for m in METRICS[1:]},
    **{f"suspected/{m}.parquet": [*ROWS, "score", "rank", "max_pairs"] for m in METRICS[1:]},
    **{f"confirmed/{m}.pairs.parquet": [*ROWS, "score", "confirmed"] for m in METRICS[1:]},
    **{f"confirmed/{m}.parquet": [*RANKED, "rank", "confirmed"] for m in METRICS[1:]},
    "scores/unicity/1-of-1.parquet": [*ROWS, "order", "variables"],
    "suspected/unicity.parquet": [*ROWS, "order"],
    "confirmed/unicity.pairs.parquet": [*ROWS, "order", "confirmed"],
    "confirmed/unicity.parquet": [*KEYS, "stratum", "order", "confirmed"],
}


def table(results, name):
    return pq.ParquetFile(results / name).read()


@pytest.mark.parametrize("name", CSV_FILES)
def test_a_csv_file_begins_with_the_columns_of_its_contract(finished, name):
    """What reads them by place goes on reading them, whatever columns later versions add."""
    lines = (finished.results / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[: len(CSV_FILES[name])] == CSV_FILES[name]


@pytest.mark.parametrize("name", PARQUET_FILES)
def test_a_parquet_file_has_exactly_the_columns_of_its_contract_and_text_keys(finished, name):
    found = table(finished.results, name)
    assert found.column_names == PARQUET_FILES[name]
    kinds = {field.name: field.type for field in found.schema}
    stratum = pa.int32() if name.startswith("strata/") else pa.string()
    for column, kind in {"stratum": stratum, "score": pa.float64(), "confirmed": pa.bool_()}.items():
        assert kinds.get(column, kind) == kind
    assert {kinds[key] for key in KEYS if key in kinds} <= {pa.string()}
    assert {kinds[row] for row in ROWS if row in kinds} <= {pa.int32()}
    assert not found.schema.metadata, "nothing of another program's making"


def pairs_by_key(results, stage, metric):
    """The pairs of a table as rows with keys; an ambiguous record, which has no pair, is left out."""
    pairs = table(results, stage.format(metric))
    if "house" in pairs.column_names:
        return pairs.to_pylist()
    files = {side: table(results, f"prepared/{side}.parquet").to_pylist() for side in ROWS}
    rows = [row for row in pairs.to_pylist() if row["eif"] is not None]
    return [files["puf"][row["puf"]] | files["eif"][row["eif"]] | row for row in rows]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("stage", ["scores/{}/1-of-1.parquet", "suspected/{}.parquet", "confirmed/{}.parquet"])
def test_pairs_are_sorted_by_pufid_then_best_first_then_eifid(finished, metric, stage):
    found = pairs_by_key(finished.results, stage, metric)
    sign = -1 if metric == "adhoc" else 1

    def place(pair):
        level = pair["order"] if metric == "unicity" else pair.get("rank", sign * pair["score"])
        return pair["house"], pair["person"], level, pair["broker"], pair["serial"]

    assert found
    assert [place(pair) for pair in found] == sorted(place(pair) for pair in found)
    assert len({tuple(pair[key] for key in KEYS) for pair in found}) == len(found)


def test_keys_are_the_texts_of_the_sources_with_their_zeros(finished):
    rows = small.rows()
    keys = {}
    for side in ROWS:
        names = table(finished.results, f"prepared/{side}.parquet").column_names[:2]
        lines = table(finished.results, f"prepared/{side}.parquet").select(names).to_pylist()
        keys[side] = [tuple(line.values()) for line in lines]
        assert keys[side] == sorted(tuple(row[:2]) for row in rows[side][1:])
    links = table(finished.results, "prepared/iuf.parquet").to_pylist()
    by_key = [keys["puf"][link["puf"]] + keys["eif"][link["eif"]] for link in links]
    assert by_key == sorted(tuple(row[:4]) for row in rows["iuf"][1:])
    assert {"0", "00", "1", "01"} < {row[0] for row in rows["puf"]}


@pytest.mark.parametrize("metric", METRICS)
def test_a_pair_is_confirmed_where_and_only_where_it_is_a_link(finished, metric):
    links = {tuple(row) for row in small.rows()["iuf"][1:]}
    found = table(finished.results, f"confirmed/{metric}.parquet").to_pylist()
    assert any(pair["confirmed"] for pair in found)
    for pair in found:
        assert pair["confirmed"] == (tuple(pair[key] for key in KEYS) in links)


@pytest.mark.parametrize("metric", METRICS)
def test_claims_are_those_of_the_confirmed_pairs(finished, metric):
    lines = pd.read_csv(finished.results / "rates.csv").set_index(["metric", "stratum"])
    for stratum, figures in from_files(finished.results, metric, ["house", "person"]).items():
        for column, value in figures.items():
            found = lines.at[(metric, stratum), column]
            assert pd.isna(found) if value is None else found == pytest.approx(float(value), rel=1e-14), column


@pytest.mark.parametrize("name", ["prepared/account.csv", "strata/account.csv"])
def test_the_row_accounts_close(finished, name):
    account = pd.read_csv(finished.results / name)
    for _, lines in account.groupby("file"):
        rows = lines.set_index("cause")["rows"]
        assert rows["in"] == rows.drop("in").sum()
    assert list(account["file"].unique()) == ["puf", "eif", "iuf"]


def test_rates_begin_with_the_whole_study_and_are_fractions(finished):
    with (finished.results / "rates.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    strata = ["ALL", "s0001", "s0002", "s0003", "s0004", "s0005"]
    assert [(line["metric"], line["stratum"]) for line in lines] == [(m, s) for m in METRICS for s in strata]
    for line in lines:
        for name in (column for column in RATES if column.endswith("rate")):
            assert line[name] == "" or 0 <= float(line[name]) <= 1
    assert {line["conditional_rate"] for line in lines if line["stratum"] == "s0005"} == {""}, (
        "a stratum of the EIF alone"
    )


def test_every_number_is_that_of_the_brute_force_oracle(finished):
    names = dict(zip(("puf", "eif", "iuf"), (small.PUF, small.EIF, small.IUF), strict=True))
    rows = {side: [dict(zip(names[side], row, strict=True)) for row in own[1:]] for side, own in small.rows().items()}
    oracle = judge(small.STUDY, rows["puf"], rows["eif"], rows["iuf"])
    manifest = pd.read_csv(finished.results / "strata/manifest.csv", keep_default_na=False)
    strata = {"ALL": ALL} | {line.stratum: (line.region,) for line in manifest.itertuples()}
    with (finished.results / "rates.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            expected = oracle.metrics[line["metric"]].rates[strata[line["stratum"]]]
            for column, value in expected.items():
                found = None if line[column] == "" else float(line[column])
                assert found == (value if value is None else pytest.approx(float(value), rel=1e-12)), (line, column)
    for metric in METRICS:
        pairs = table(finished.results, f"confirmed/{metric}.parquet").to_pylist()
        found = {((p["house"], p["person"]), (p["broker"], p["serial"])): p["confirmed"] for p in pairs}
        result = oracle.metrics[metric]
        assert found == {pair: pair in result.confirmed for pair in result.suspected}
        assert metric == "unicity" or any(pair.rank > 1 for pair in result.suspected.values()), "no rank to filter"


def test_the_review_is_there_in_every_form(finished):
    reports = finished.folder / "run" / "reports" / "small"
    assert (reports / "disclosure-review.html").read_text(encoding="utf-8").lstrip().startswith("<!DOCTYPE html>")
    assert (reports / "disclosure-review.pdf").read_bytes().startswith(b"%PDF-")
    assert json.loads((finished.results / "disclosure-review.ipynb").read_text(encoding="utf-8"))["cells"]


def test_the_resolved_study_has_every_default(finished):
    study = json.loads((finished.results / "study.json").read_text(encoding="utf-8"))
    assert study["rank_filter"] == {"keep": 20, "max_pairs": 5}
    assert study["binning"] == {
        "bins": 5,
        "cutpoints": "puf",
        "scope": "stratum",
        "quantiles": "averaged",
        "ties": None,
    }
    assert study["metrics"]["taxicab"] == {"alpha": "1/3"}
    assert math.isclose(study["rates"]["level"], 0.95)
