"""Makes the results folder of a study of micro-aggregation."""

from pathlib import Path

import pandas as pd
from reident.report import results
from reident.study.model import Study, canonical_json

CONFIRMED = {"half gap": (0.913, 0.843, 0.436), "midpoint": (0.947, 0.925, 0.591), "closest 3": (0.998,)}
"""By rule the confirmed rates from one agreement on; `closest` counts none."""

FIRST = {"half gap": (0.601, 0.894), "midpoint": (0.712, 0.931), "closest 3": (0.991, 0.997)}
"""By rule the share that is alone in first place, and that among three candidates."""


def write_masked(
    folder: Path, *, variants: bool = True, v: int = 3, rules: tuple[str, ...] = (), rule: str = "half gap", **options
) -> results.Results:
    """Write the tables that the report reads; rules without numbers of their own have those of the half gap."""
    names = [f"x{at}" for at in range(1, v + 1)]
    agreement = {"closest": v} if rule.startswith("closest") else {"nearest": 9}
    keys = {
        "id": "masked",
        "simulate": {"kind": "skewed-amounts", "seed": 1, "records": 1000, "variables": v},
        "microaggregate": {"variables": names, "k": 3, **options},
        "linking_variables": [{"name": name, "type": "numeric"} for name in names],
        "metrics": {"winkler": {"agreement": agreement}, "taxicab": {}, "euclidean": {}},
    }
    if variants:
        values = {"half gap": "half_gap", "midpoint": "midpoint", "closest 3": {"closest": 3}}
        keys["variants"] = [
            {"set": "microaggregate.k", "values": [3, 10]},
            {"set": "metrics.winkler.agreement", "name": "rule", "values": values},
        ]
    (folder / "microaggregation").mkdir(parents=True)
    (folder / "comparison").mkdir()
    (folder / "study.json").write_text(canonical_json(Study.model_validate(keys)), encoding="utf-8")
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
    pd.DataFrame(range_of(rule, v)).to_csv(folder / "agreements.csv", index=False)
    rates = [{"metric": metric, "stratum": "ALL", "confirmed_rate": rate} for metric, rate in RATES.items()]
    pd.DataFrame(rates).to_csv(folder / "rates.csv", index=False)
    if variants:
        compared = [
            {"variant": f"k-{k}_{rule}", "reference": "yes" if (k, rule) == (3, "half gap") else "no", "set_k": k,
             "set_rule": rule, **line}
            for k in (3, 10) for rule in rules or CONFIRMED for line in range_of(rule, v)
        ]  # fmt: skip
        pd.DataFrame(compared).drop(columns="stratum").to_csv(folder / "comparison/agreements.csv", index=False)
        every = [
            {"variant": f"k-{k}_{rule}", "reference": "no", "set_k": k, "set_rule": rule, "metric": metric,
             "confirmed_rate": rate}
            for k in (3, 10) for rule in CONFIRMED for metric, rate in RATES.items()
        ]  # fmt: skip
        pd.DataFrame(every).to_csv(folder / "comparison/rates.csv", index=False)
    return results.Results(folder)


RATES = {"taxicab": 0.129, "euclidean": 0.998, "winkler": 0.913}


def range_of(rule: str, v: int) -> list[dict]:
    """Return the lines of a rule; they share what is in first place."""
    rates = CONFIRMED.get(rule, CONFIRMED["half gap"])
    alone, few = FIRST.get(rule, FIRST["half gap"])
    counted = [None] if rule.startswith("closest") else range(1, v + 1)
    lines = zip(counted, [*rates, *[0.0] * v], strict=False)
    return [
        {"stratum": "ALL", "min_agree": at, "n_puf": 1000, "confirmed_rate": rate, "alone_rate": alone,
         "among_three_rate": few}
        for at, rate in lines
    ]  # fmt: skip
