"""The pages of a study of units: the brief counts units and members, a figure shows units by size."""

import json

import pytest
from making.report import Shape, cells, write_results
from reident.report.blocks import units
from reident.report.results import Results
from unit.report.test_language import english, german, texts


def test_the_brief_counts_units_and_members(tmp_path):
    study = Results(write_results(tmp_path, Shape(units=True)))
    shown = units.units_front(study)
    whole = study.table("units/members.csv").query("stratum == 'ALL'").set_index("metric")
    best = study.whole["n_confirmed"].idxmax()
    assert f"{whole.at[best, 'n_units']:,} units with {whole.at[best, 'n_members']:,} members" in shown
    assert f"with {whole.at[best, 'n_confirmed_members']:,} of the {whole.at[best, 'n_members']:,} members" in shown
    assert "gives" in shown


def test_units_are_drawn_and_listed_by_size(tmp_path):
    study = Results(write_results(tmp_path, Shape(units=True)))
    figure, table = units.units_figure(study), units.units_sizes(study)
    sizes = study.table("units/sizes.csv")
    best = study.whole["n_confirmed"].idxmax()
    for line in sizes[sizes["metric"] == best].itertuples():
        assert f"of {line.n_units:,} units" in figure.alt
        assert f"| {line.n_units:,} | {line.n_suspected:,} | {line.n_confirmed:,} |" in table
    assert "10 or more" in figure.alt


def test_without_links_of_rows_no_member_is_told_apart(tmp_path):
    folder = write_results(tmp_path, Shape(units=True))
    path = folder / "units/members.csv"
    table = Results(folder).table("units/members.csv")
    table.drop(columns=["n_linked_members", "n_named_members", "named_member_rate"]).to_csv(path, index=False)
    study = Results(folder)
    assert "own row" not in units.units_front(study)
    assert "Own row" not in units.units_members(study)


def test_a_study_of_records_has_none_of_it(tmp_path):
    study = Results(write_results(tmp_path, Shape()))
    assert units.units_front(study) is None
    assert units.units_figure(study) is None


@pytest.mark.parametrize("cell", ["front", "rates"])
def test_no_word_is_left_in_english(tmp_path, cell):
    study = german(write_results(tmp_path, Shape(units=True, strata=("Nord", "Süd"), title="Erhebung", agency="Amt")))
    shown = [text for pieces in cells(study, cell).values() for piece in pieces for text in texts(piece)]
    assert {word for text in shown for word in english(text)} == set()
    assert json.loads((study.folder / "study.json").read_text())["language"] == "de"
