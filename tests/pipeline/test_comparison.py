"""The comparison of variants: one line for each of them, with the very numbers of their own tables."""

import pandas as pd
import pytest
from making.studies import study
from reident.ledger import stored
from reident.pipeline import comparison
from reident.pipeline.family import Compared
from reident.pipeline.steps import COMPARED, compared_tables

RATES = pd.DataFrame(
    {
        "metric": ["unicity", "unicity", "taxicab", "taxicab"],
        "stratum": ["ALL", "s0001", "ALL", "s0001"],
        "n_puf": [10, 5, 10, 5],
        "conditional_rate": ["0.30000000000000004", "", "0.1", "0.2"],
    }
)


def compared(folder, name, members, tables):
    """The comparison of tables as the step makes it: they are read from files and it is written to one."""
    paths = [folder / str(at) / COMPARED[name].path for at in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        stored.write(path, stored.encoded(table))
    path = folder / "table.csv"
    lines = comparison.compare(COMPARED[name].compared, members, [stored.read(path) for path in paths])
    stored.write(path, stored.encoded(lines))
    return stored.read_text(path).to_dict("list")


def test_every_variant_has_a_line_per_metric_of_the_whole_study_to_the_letter(tmp_path):
    members = [Compared("k-3", {"k": "3"}, True), Compared("k-10", {"k": "10"}, False)]
    other = RATES.assign(conditional_rate=["", "", "0.5", "0.6"])
    assert compared(tmp_path, "rates", members, [RATES, other]) == {
        "variant": ["k-3", "k-3", "k-10", "k-10"],
        "reference": ["yes", "yes", "no", "no"],
        "set_k": ["3", "3", "10", "10"],
        "metric": ["unicity", "taxicab", "unicity", "taxicab"],
        "n_puf": ["10", "10", "10", "10"],
        "conditional_rate": ["0.30000000000000004", "0.1", "", "0.5"],
    }


@pytest.mark.parametrize(
    ("name", "column", "values"),
    [
        ("matching", "file", ["1", "mean", "confidential"]),
        ("filerisk", "chosen", [False, True, False]),
        ("agreements", "stratum", ["s0001", "ALL", "s0002"]),
    ],
)
def test_one_line_of_a_table_is_about_the_whole_study(tmp_path, name, column, values):
    number = next(column.name for column in COMPARED[name].columns if column.type == "number")
    table = pd.DataFrame({column: values, number: ["0.1", "0.2", "0.3"]})
    assert compared(tmp_path, name, [Compared("study", {"seed": "1"}, True)], [table]) == {
        "variant": ["study"], "reference": ["yes"], "set_seed": ["1"], number: ["0.2"],
    }  # fmt: skip


def test_a_study_compares_what_it_computes_and_nothing_without_variants():
    assert compared_tables(study()) == []
    assert compared_tables(study(variants=[{"set": "binning.bins", "values": [3]}])) == ["rates", "surest", "verdict"]
