"""Which intervals an edition has, and whether they are those of its study: read from its public files alone."""

import csv
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from oracles import rating


def intervals(folder: Path) -> list[tuple[str, str, str, str]]:
    """Every interval of the tables: the ends and the two counts of its rate, as they are printed."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            for line in csv.DictReader(stream):
                ends = {name: text for name, text in line.items() if name.endswith(("_low", "_high", "_bound"))}
                if any(ends.values()):
                    assert set(ends) == {"conditional_low", "conditional_high"}, path.name
                    found.append((*ends.values(), line["n_confirmed"], line["n_suspected"]))
    return found


def strange(folder: Path, rates: dict) -> list[tuple[str, str, str, str]]:
    """The intervals that are not those of the study's method, from the printed counts, rounded outward."""
    found = intervals(folder)
    if rates.get("interval") == "clustered":
        return found
    return [one for one in found if one[:2] != _outward(rates, int(one[2]), int(one[3]), one[0])]


def _outward(rates: dict, part: int, whole: int, like: str) -> tuple[str, str]:
    decimals = len(like.partition(".")[2])
    low, high = (Fraction(end) * 10**decimals for end in rating.interval(rates, part, whole))
    return f"{floor(low) / 10**decimals:.{decimals}f}", f"{ceil(high) / 10**decimals:.{decimals}f}"
