"""What the report says of the rates before and after protection (METHODS §6.1)."""

from __future__ import annotations

import re

import pytest
from making import variants
from making.report import REGIONS, Shape, write_results, written
from reident.page import wording
from reident.protection import report as protection
from reident.report.results import Results

NB = wording.NO_BREAK


study = written(write_results, Shape(original=True))


def rows(markdown):
    """The cells of each line of the tables of a text, without headers."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ") and "--" not in line]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [(10, 5, f", which is 50.0{NB}% fewer"), (4, 5, f", which is 25.0{NB}% more"), (3, 3, ""), (0, 2, "")],
)
def test_the_change_is_a_share_of_the_number_before(before, after, words):
    assert protection._change(before, after) == words


def test_tables_by_metric_and_stratum_show_both_rates(study):
    line = study.table("protection/rates.csv").iloc[0]
    first = rows(protection.protection_by_metric(study))[1]
    assert first[0] == "**Unicity**"
    assert first[2] == f"{line['n_confirmed_before']:,.0f} → {line['n_confirmed_after']:,.0f}"
    shown = protection.protection_by_stratum(study)
    assert shown.count(f"| {REGIONS[0]} |") == len(study.metrics)
    assert "1 further stratum occurs only before protection." in shown


def test_with_variants_the_attack_before_protection_is_the_first_line(tmp_path):
    folder = write_results(tmp_path / "results", Shape(original=True, metrics=("unicity", "taxicab")))
    labels = [{"protection": name} for name in ("weak", "strong")]
    results = Results(variants.add_variants(folder, [variants.PROTECTION], labels, same=("unicity",)))
    shown = rows(protection.protection_by_variant(results))
    before = results.table("protection/rates.csv").set_index(["metric", "stratum"]).loc[("taxicab", "ALL")]
    assert [line[0] for line in shown] == ["protection", "*before protection*", "**weak**", "strong"]
    assert shown[1][1] == f"{before['n_confirmed_before']:,.0f}"
    assert "Taxicab, before protection" in protection.protection_by_variant_figure(results).alt
