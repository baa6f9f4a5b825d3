"""The edition of a study with units: it counts units, and says so (METHODS §11.2, §11.5)."""

import dataclasses
import json

import numpy as np
import pytest
from making import gated
from making.released import SAMPLES, executed, write_released
from properties.test_unit_releases import drawn, passed, records
from reident.errors import InputError
from reident.release import earlier
from reident.report.edition.reading import Edition


@pytest.fixture(scope="module")
def study():
    return drawn(1)


@pytest.fixture(scope="module")
def units(study):
    return records(study, "all", clusters=False)


@pytest.mark.parametrize("known", [(), ("puf",)])
def test_a_study_of_households_makes_an_edition(study, units, known, tmp_path):
    made = passed(study, "all", units, "opensafely", known)
    record = json.loads(made.record)
    assert record["units"] is True
    assert {how for *_, how in record["containments"]["contained"]} >= {"passing", "found"}
    rows = made.audit.query("quantity == 'file_records' and other == 'category'").iloc[0]
    assert len(units.codes) > len(units.stratum)
    assert (rows["status"] == "public") == ("puf" in known)
    edition = Edition(gated.publish(made, tmp_path))
    assert set(edition.tables["attack.csv"][0].counts) == set(Edition(write_released(tmp_path / "e")).study[0].counts)
    assert edition.counted == "units"


def test_more_rows_than_units_contradict_an_edition_of_records(units):
    with pytest.raises(InputError, match="no study has these counts"):
        gated.passed(units, "none", known=("puf",))


def test_sentences_are_about_units_where_units_are_counted(tmp_path):
    sample = dataclasses.replace(SAMPLES["units"], file=False)
    pages = []
    for units in (True, False):
        edition = Edition(write_released(tmp_path / str(units), dataclasses.replace(sample, units=units)))
        shown = [o["data"] for cell in executed(edition).cells for o in cell.get("outputs", [])]
        pages.append(" ".join(str(text) for data in shown for kind, text in data.items() if "svg" not in kind))
    assert "units" in pages[0]
    assert "records" not in pages[0].replace("people with several records", "")
    assert "records" in pages[1]
    assert "unit" not in pages[1].replace("unity", "").replace("community", "")


def test_an_edition_of_records_is_not_linked_with_one_of_units(study, units, tmp_path):
    """Their counts have the same names and mean something else; those of the file on its own mean the same."""
    alone = passed(study, "all", units, "opensafely", ("puf",))
    before = gated.passed(gated.draw(np.random.default_rng(5)), "opensafely")
    edition = earlier.read(gated.publish(before, tmp_path / "releasable"))
    both = passed(study, "all", units, "opensafely", ("puf",), after=[edition])
    assert both.tables["attack"].equals(alone.tables["attack"])
