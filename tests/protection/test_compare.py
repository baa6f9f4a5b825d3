"""Rates before and after protection: strata are compared by their values, not by their ids."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from making.studies import manifest
from reident.linkage.settings import COMPARED_RATES
from reident.pipeline.tables import TABLES
from reident.protection.compare import Attack, compare


def attack(strata, shift, width=1, metrics=("unicity", "taxicab")):
    """The rates of strata with these values; every number tells its attack, metric and stratum apart."""
    names = tuple(f"v{at}" for at in range(width))
    lines = [(f"s{at:04d}", *values, 3, 4, 1) for at, values in enumerate(strata, start=1)]
    listed = manifest(*lines, names=names)
    rates = pd.DataFrame(
        [
            {"metric": metric, "stratum": stratum}
            | {name: shift + 100 * place + 10 * at + j for j, name in enumerate(COMPARED_RATES)}
            for place, metric in enumerate(metrics)
            for at, stratum in enumerate(["ALL", *listed["stratum"]])
        ]
    )
    return Attack(rates, listed)


def test_a_stratum_of_the_file_before_protection_alone_moves_the_others():
    """Region E occurs only before protection, W only after it."""
    after, before = attack([("N",), ("W",)], 0), attack([("E",), ("N",)], 1000)
    found = compare(("v0",), after, before)
    assert list(found.columns) == TABLES["compare_protection"][0].names
    ids = found.loc[found["metric"] == "taxicab", ["stratum", "stratum_before"]].to_numpy().tolist()
    assert ids == [["ALL", "ALL"], ["", "s0001"], ["s0001", "s0002"], ["s0002", ""]]
    north = found[(found["metric"] == "taxicab") & (found["stratum"] == "s0001")].iloc[0]
    assert (north["n_puf_before"], north["n_puf_after"]) == (1120, 110)
    east = found[(found["metric"] == "unicity") & (found["stratum_before"] == "s0001")].iloc[0]
    assert pd.isna(east["n_puf_after"])
    assert east["expected_correct_rate_before"] == 1000 + 10 + 6


VALUES = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["", "1", "01"])), max_size=5, unique=True)


@given(one=VALUES.map(sorted), two=VALUES.map(sorted))
def test_every_line_of_both_attacks_is_in_the_comparison_once(one, two):
    after, before = attack(one, 0, 2), attack(two, 1000, 2)
    found = compare(("v0", "v1"), after, before)
    assert len(found) == 2 * (1 + len({*one, *two}))
    for side, ids, own, strata in (("after", "stratum", after, one), ("before", "stratum_before", before, two)):
        values = dict(zip(own.manifest["stratum"], strata, strict=True))
        known = found[found[ids] != ""]
        assert len(known) == len(own.rates)
        for line in own.rates.to_dict("records"):
            row = known[(known["metric"] == line["metric"]) & (known[ids] == line["stratum"])].iloc[0]
            assert [row[f"{name}_{side}"] for name in COMPARED_RATES] == [line[name] for name in COMPARED_RATES]
            other = {"after": "stratum_before", "before": "stratum"}[side]
            if line["stratum"] != "ALL":
                assert (row[other] != "") == (values[line["stratum"]] in ({*one} & {*two}))
