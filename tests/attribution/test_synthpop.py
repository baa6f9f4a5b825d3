"""Attribute disclosure of SD2011, the example of synthpop's vignette, against synthpop itself (METHODS §12).

Nowok, Raab and Dibben, synthpop 1.9-3, vignette *Practical privacy metrics for synthetic data*: four keys of the 5,000
records of SD2011, and a synthetic file by `syn(seed = 8564)`. ``Rscript tests/attribution/sd2011.R SYNTHPOP FOLDER``
makes both files from the sources of the package, and prints the figures below (R 4.2.2, rpart 4.1.19). Another version
of rpart draws another synthetic file: the vignette has 9.21 % and 12.63 % for the DiSCO of `depress` and `ls`.
"""

import os
from pathlib import Path

import pytest
from pyarrow import csv
from reident.attribution import assessment, prepare
from reident.attribution import step as attribution_step
from reident.study.model import Study

FOLDER = os.environ.get("REIDENT_SD2011", "")
KEYS = ["sex", "age", "region", "placesize"]
IDENTITY = {"uio": 48.38, "uis": 37.34, "uiois": 22.68, "repu": 14.86, "matched": 64.9}
"""In per cent, as everything here: `UiO`, `UiS`, `UiOiS`, `repU`, `iS`."""

COLUMNS = ["dorig", "dsyn", "disclosive", "disco", "disdio", "cap_original", "cap"]
"""`Dorig`, `Dsyn`, `DiS`, `DiSCO`, `DiSDiO`, `CAPd`, `DCAP`."""

TARGETS = {
    "depress": [53.3, 46.26, 34.18, 9.54, 6.14, 74.1460952, 16.3862468],
    "ls": [58.46, 49.28, 35.74, 13.78, 8.76, 78.5450476, 23.0318932],
    "marital": [79.24, 71.58, 48.94, 35.18, 29.52, 90.2550476, 43.6567345],
    "workab": [90.9, 87.4, 57.42, 52.1, 48.82, 95.9330476, 56.5570714],
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not FOLDER, reason="REIDENT_SD2011 names no folder with the files of synthpop"),
]


@pytest.fixture(scope="module")
def summary():
    """One line for each target."""
    options = {
        "original": {"path": "original.csv"},
        "released": [{"path": "synthetic.csv"}],
        "keys": KEYS,
        "sets": [KEYS],
        "targets": list(TARGETS),
        "missing": "category",
    }
    study = Study.model_validate({"id": "sd2011", "attribute_disclosure": options})
    files = {"attribution_original": "original.csv", "attribution_released_1": "synthetic.csv"}
    texts = {name: _read(Path(FOLDER) / file) for name, file in files.items()}
    prepared = prepare.prepare(attribution_step.attribution_files(study), texts)
    found = assessment.assess(attribution_step.attribution_rules(study), *prepared[:4]).summary
    return found[found["file"] == "1"].set_index("target")


def _read(path):
    text = csv.ConvertOptions(column_types=dict.fromkeys([*KEYS, *TARGETS], "string"), strings_can_be_null=False)
    return csv.read_csv(path, convert_options=text)


@pytest.mark.parametrize("target", TARGETS)
def test_measures_are_those_of_synthpop(summary, target):
    expected = [*IDENTITY.values(), *TARGETS[target]]
    assert (100 * summary.loc[target, [*IDENTITY, *COLUMNS]]).tolist() == pytest.approx(expected, abs=1e-7)


def test_the_original_has_the_risk_that_the_vignette_prints(summary):
    """48 % of the records are unique, and the keys disclose each target of over 50 %."""
    assert round(100 * summary["uio"].iloc[0]) == 48
    assert (summary["dorig"] > 0.5).all()
