"""Makes the results folder of a study of micro-aggregation."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from reident.report import tables

CONFIRMED = {"half gap": (0.913, 0.843, 0.436), "midpoint": (0.947, 0.925, 0.591)}


def write_masked(
    folder: Path, *, variants: bool = True, v: int = 3, rules: tuple[str, ...] = (), **options
) -> tables.Results:
    """Write the tables that the report reads; rules without numbers of their own have those of the half gap."""
    masking = {"k": 3, "aggregate": "mean", "corresponding": None, **options}
    study = {
        "id": "masked",
        "microaggregate": masking,
        "metrics": {"winkler": {"agreement": {"nearest": 9}, "min_agree": 1}},
        "linking_variables": [{"name": f"x{at}", "type": "numeric"} for at in range(1, v + 1)],
        "variants": [{"name": name} for name in ("k", "rule")] if variants else [],
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
            for k in (3, 10) for rule in rules or CONFIRMED for line in range_of(rule, v)
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
    rates = [*CONFIRMED.get(rule, CONFIRMED["half gap"]), *[0.0] * v][:v]
    return [
        {"stratum": "ALL", "min_agree": at, "n_puf": 1000, "confirmed_rate": rate}
        for at, rate in enumerate(rates, start=1)
    ]
