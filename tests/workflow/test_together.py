"""An intruder with several files through the real command: bytes, variants, refusals, the report."""

from __future__ import annotations

import copy
import json
from random import Random

import pandas as pd
import pytest
from workflow.commands import CHECKOUT, PRELOADED, made, snakemake

from workflow import small

pytestmark = pytest.mark.slow

VARIED = [
    {"name": "broker", "combinations": {"all": {}, "some": {"files.eif.path": "some.csv", "files.iuf.path": "l.csv"}}}
]
FILES = ["together/rates.csv", "rates.csv", "variants/broker-some/rates.csv"]


def study(**more):
    own = copy.deepcopy(small.STUDY) | {"variants": copy.deepcopy(VARIED)}
    own["files"]["eif"]["person"] = "phone"
    return own | more


def second(rows):
    """A second broker's file: two in three records of the first, with other values now and then, and their links."""
    draw = Random(3)  # noqa: S311 - made-up people
    head, *body = rows["eif"]
    kept = [row if draw.random() < 0.8 else [*row[:3], "50", *row[4:]] for at, row in enumerate(body) if at % 3]
    known = {tuple(row[:2]) for row in kept}
    return {"eif": [head, *kept], "iuf": [rows["iuf"][0], *(row for row in rows["iuf"][1:] if tuple(row[2:]) in known)]}


def write(folder, content, order=None):
    """Write the study with both files, where a person has the same number, perhaps with rows in another order."""
    rows = copy.deepcopy(small.rows())
    other = second(rows)
    for table in (rows["eif"], other["eif"]):
        table[:] = [[*row, "phone" if at == 0 else f"{row[0]}-{row[1]}"] for at, row in enumerate(table)]
    for table in (*rows.values(), *other.values()):
        if order is not None:
            table[1:] = order.sample(table[1:], len(table) - 1)
    path = small.write(folder, content, rows)
    for name, table in (("some.csv", other["eif"]), ("l.csv", other["iuf"])):
        (folder / name).write_text(small.csv_text(table), encoding="utf-8")
    return path


def run(folder, path, *arguments, **options):
    return snakemake(*arguments, studies=[path], folder=folder, program=PRELOADED, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    limit = {"together_confirmed_rate_at_most": 0.01}
    ended = run(folder / "run", write(folder / "in", study(together="broker", decision=limit)))
    assert ended.code == 0, ended.shown
    assert "together_confirmed_rate_at_most" in ended.shown
    return folder / "run"


def test_numbers_do_not_depend_on_cores_rows_and_hash_seed(finished, tmp_path):
    path = write(tmp_path / "in", study(together="broker"), Random(5))  # noqa: S311 - an order
    ended = run(tmp_path / "run", path, *made("small", *FILES), cores=1, environment={"PYTHONHASHSEED": "1"})
    assert ended.code == 0, ended.shown
    for name in FILES:
        one, other = (folder / "results/small" / name for folder in (finished, tmp_path / "run"))
        assert one.read_bytes() == other.read_bytes()


def test_the_rates_of_variants_are_those_without_the_option(finished, tmp_path):
    ended = run(tmp_path / "run", write(tmp_path / "in", study()), *made("small", *FILES[1:]))
    assert ended.code == 0, ended.shown
    for name in FILES[1:]:
        one, other = (folder / "results/small" / name for folder in (finished, tmp_path / "run"))
        assert one.read_bytes() == other.read_bytes()


def test_each_file_alone_has_the_rates_of_its_variant(finished):
    results = finished / "results/small"
    table = pd.read_csv(results / "together/rates.csv")
    for label, place in (("all", "."), ("some", "variants/broker-some")):
        rates = pd.read_csv(results / place / "rates.csv")
        own = table[(table["files"] == "file") & (table["label"] == label)].reset_index(drop=True)
        shared = [name for name in rates.columns if name in own.columns]
        own = own.merge(rates[["metric", "stratum"]])
        rates = rates.merge(own[["metric", "stratum"]])
        pd.testing.assert_frame_equal(own[shared], rates[shared], check_exact=True, check_dtype=False)
    joint = table[(table["files"] == "any") & (table["stratum"] == "ALL")]
    assert (joint["n_corroborated"] > 0).all()


def test_the_entry_names_both_attacks_and_the_report_has_the_section(finished):
    entry = json.loads((finished / "results/small/ledger/join_files.json").read_text(encoding="utf-8"))
    paths = [line["path"] for line in entry["inputs"]["pairs"]]
    assert paths[:2] == ["confirmed/unicity.pairs.parquet", "variants/broker-some/confirmed/unicity.pairs.parquet"]
    page = (finished / "reports/small/disclosure-review.html").read_text(encoding="utf-8")
    assert "An intruder with several files" in page
    assert "An intruder who holds both files" in page
    assert "With all files: above the limit" in page


def test_other_released_records_are_refused(tmp_path):
    content = study(together="broker")
    content["variants"][0]["combinations"]["some"]["strata"] = [{"name": "region", "missing": ["N"]}]
    ended = run(tmp_path / "run", write(tmp_path / "in", content), *made("small", "together/rates.csv"))
    assert ended.code != 0
    assert "the variant `some` must have the released records of the study" in ended.shown


@pytest.mark.long
def test_the_bundled_studies_of_two_brokers_and_of_two_waves_run(tmp_path):
    studies = [CHECKOUT / f"config/studies/{name}.yaml" for name in ("example-several-files", "example-waves")]
    targets = made("example-several-files", "together/rates.csv") + made("example-waves", "rates.csv")
    ended = snakemake(*targets, studies=studies, folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    table = pd.read_csv(tmp_path / "run/results/example-several-files/together/rates.csv")
    whole = table[table["stratum"] == "ALL"]
    single = whole[whole["files"] == "file"].groupby("metric")["n_confirmed"].max()
    joint = whole[whole["files"] == "any"].set_index("metric")
    assert (joint["n_confirmed"] > 1.3 * single.reindex(joint.index)).all()
    assert (joint["corroborated_confirmed_rate"] > 0).all()
    waves = pd.read_csv(tmp_path / "run/results/example-waves/rates.csv").query("stratum == 'ALL'")
    assert (waves["conditional_rate"] > 100 * waves["baseline_rate"]).all()
