"""The report's section on micro-aggregation: what was masked, and what was found beside the claim (METHODS §9)."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from reident import figures, tables
from reident.tables.microaggregation import rule_words

CONFIRMED = {"half gap": (0.913, 0.843, 0.436), "midpoint": (0.947, 0.925, 0.591)}


def write(folder: Path, *, variants: bool = True, v: int = 3, **options) -> tables.Results:
    """A results folder with what the section reads."""
    own = {"k": 3, "aggregate": "mean", "corresponding": None, **options}
    study = {
        "id": "masked",
        "microaggregate": own,
        "metrics": {"winkler": {"agreement": {"nearest": 9}, "min_agree": 1}},
        "linking_variables": [{"name": f"x{at}", "type": "numeric"} for at in range(1, v + 1)],
    }
    (folder / "microaggregation").mkdir(parents=True)
    (folder / "comparison").mkdir()
    (folder / "study.json").write_text(json.dumps(study))
    lines = [
        {
            "variable": f"x{at}", "n_records": 1000, "n_missing": 10 * at, "n_distinct": 990, "n_masked": 330,
            "n_groups": 330, "n_smallest": 3, "n_largest": 3 + at % 2, "variance_kept": "0.998900", "largest_r2": "",
        }
        for at in range(1, v + 1)
    ]  # fmt: skip
    pd.DataFrame(lines).to_csv(folder / "microaggregation/variables.csv", index=False)
    account = [("in", 1000), ("not in the sample", 900), ("used", 100)]
    lines = [("microaggregate", "original", *line) for line in account]
    table = pd.DataFrame(lines, columns=["step", "file", "cause", "rows"])
    table.to_csv(folder / "microaggregation/account.csv", index=False)
    pd.DataFrame(range_of("half gap", v)).to_csv(folder / "agreements.csv", index=False)
    rates = [{"metric": metric, "stratum": "ALL", "confirmed_rate": rate} for metric, rate in RATES.items()]
    pd.DataFrame(rates).to_csv(folder / "rates.csv", index=False)
    if variants:
        compared = [
            {"variant": f"k-{k}_{rule}", "reference": "yes" if (k, rule) == (3, "half gap") else "no", "set_k": k,
             "set_rule": rule, **line}
            for k in (3, 10) for rule in CONFIRMED for line in range_of(rule, v)
        ]  # fmt: skip
        pd.DataFrame(compared).drop(columns="stratum").to_csv(
            folder / "comparison/agreements.csv", index=False
        )
        every = [
            {"variant": f"k-{k}_{rule}", "reference": "no", "set_k": k, "set_rule": rule, "metric": metric,
             "confirmed_rate": rate}
            for k in (3, 10) for rule in CONFIRMED for metric, rate in RATES.items()
        ]  # fmt: skip
        pd.DataFrame(every).to_csv(folder / "comparison/rates.csv", index=False)
    return tables.Results(folder)


RATES = {"taxicab": 0.129, "euclidean": 0.998, "winkler": 0.913}


def range_of(rule: str, v: int) -> list[dict]:
    rates = [*CONFIRMED[rule], *[0.0] * v][:v]
    return [
        {"stratum": "ALL", "min_agree": at, "n_puf": 1000, "confirmed_rate": rate}
        for at, rate in enumerate(rates, start=1)
    ]


def rows(table: str) -> list[str]:
    return [line for line in table.splitlines() if line.startswith("|")][2:]


def test_the_premise(tmp_path):
    text = tables.masked_premise(write(tmp_path))
    for said in (
        "in groups of 3",
        "by the mean",
        "3 variables of 1,000 records",
        "100 masked records",
        "the original file",
    ):
        assert said in text
    deviations = {"deviating": 3, "by": 0.3, "others_from": 0.01, "others_to": 0.03}
    text = tables.masked_premise(write(tmp_path / "other", corresponding=deviations, aggregate="median"))
    assert "up to three variables by up to 30" in text
    assert "by the median" in text
    assert "the original file" not in text


def test_the_variables(tmp_path):
    lines = rows(tables.masked_variables(write(tmp_path)))
    assert len(lines) == 3
    assert lines[0] == "| **x1** | 1.0\u00a0% | 990 | 330 | 3 – 4 | 99.89\u00a0% | – |"


def test_the_claim_stands_beside_what_was_found(tmp_path):
    text = tables.claim(write(tmp_path))
    parts = (
        "near 100\u00a0%",
        "**Found here: 91.3\u00a0%**",
        "43.6\u00a0% if all three variables must agree",
        "rule midpoint re-identifies the most, 94.7",
    )
    for said in parts:
        assert said in text
    alone = tables.claim(write(tmp_path / "alone", variants=False, v=10))
    assert "0\u00a0% if at least seven must agree" in alone
    assert "Of all that is compared" not in alone


def test_the_table_has_every_variant_and_the_other_metrics(tmp_path):
    found = tables.claim_table(write(tmp_path))
    lines = rows(found)
    assert len(lines) == 4
    assert [cell.strip() for cell in lines[0].split("|")[2:-1]] == [
        f"{share}\u00a0%" for share in ("91.3", "84.3", "43.6", "12.9", "99.8")
    ]
    assert lines[0].startswith("| **k 3")
    alone = rows(tables.claim_table(write(tmp_path / "alone", variants=False)))
    assert len(alone) == 1
    assert "99.8" in alone[0]
    wide = tables.claim_table(write(tmp_path / "wide", v=10))
    assert [f"at least {least} " in wide for least in (1, 5, 7, 10)] == [True] * 4


@pytest.mark.parametrize(("variants", "panels"), [(True, 2), (False, 1)])
def test_the_figure(tmp_path, variants, panels):
    found = figures.agreements(write(tmp_path, variants=variants))
    assert "91.3 % at 1, 84.3 % at 2, 43.6 % at 3" in found.alt
    assert found.svg.count('id="axes_') == panels
    assert figures.agreements(write(tmp_path / "again", variants=variants)) == found


def test_one_variable_has_no_range(tmp_path):
    assert figures.agreements(write(tmp_path, variants=False, v=1)) is None


def test_rules_in_words():
    assert [rule_words(rule) for rule in ("half_gap", "midpoint", {"nearest": 1360})] == [
        "half gap", "midpoint", "nearest 1,360",
    ]  # fmt: skip


def test_without_tables_there_is_no_section(tmp_path):
    results = write(tmp_path)
    for file in ("agreements.csv", "microaggregation/variables.csv", "microaggregation/account.csv"):
        (tmp_path / file).unlink()
    parts = (
        tables.masked_premise,
        tables.masked_variables,
        tables.claim,
        figures.agreements,
        tables.claim_table,
    )
    assert tables.section(results, "Micro-aggregation", *parts) == []
