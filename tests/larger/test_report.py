"""What the report shows of a larger intruder (METHODS §6.5)."""

import re

import pytest
from larger.cases import write_larger
from making.report import added, cells, rows
from reident.larger import report as larger

results = added(write_larger)


def test_the_table_has_a_line_for_each_metric_and_size(results):
    study = results(population=26_000)
    lines = rows(larger.larger_table(study))
    assert [line[0] for line in lines[::10]] == ["**Unicity**", "**Taxicab**"]
    assert [line[1] for line in lines[:10]] == [
        "1/16×", "1/8×", "1/4×", "1/2×", "3/4×", "1×", "2×", "5×", "10×", "13×",
    ]  # fmt: skip
    assert [line[2] for line in lines[5:10]] == ["2,000", "4,000", "10,000", "20,000", "26,000"]
    assert all(line[4] == "–" for line in lines[:6])
    assert all(re.search(r"\d to \d|\d – \d|\d–\d", line[4]) for line in lines[6:10])
    assert all(line[7:] == ["–"] * 3 for line in lines[6:10])
    assert all(line[5:7] == ["–", "–"] for line in lines[6:10])
    assert all("–" not in line[3] + line[5] + line[6].replace("–", "", 1) for line in lines[16:20])


@pytest.mark.parametrize("options", [{"fixed": ("unicity", "taxicab")}, {"rivals": (5,)}, {"population": 1500}])
def test_the_section_is_shown_without_an_estimate(results, options):
    study = results(**options)
    assert larger.larger_curves_figure(study) is not None
    assert "–" in str(larger.larger_table(study))
    assert cells(study, "larger")["larger"]
