"""An attack after changes is the attack of a study with these changes, and some records are attacked as all are."""

import random

import numpy as np
import pyarrow as pa
import pytest
from making.studies import plain
from pandas.testing import assert_frame_equal
from reident.linkage import attack, bins
from reident.linkage import step as linkage_step
from reident.linkage.attack import AttackFiles
from reident.linkage.counterfactual import recode
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.ranking import within
from reident.sections.coarsening import Coarsening
from workflow.library_run import run

METRICS = {
    "unicity": {"interactions": "all"},
    "taxicab": {},
    "euclidean": {},
    "adhoc": {},
    "winkler": {"min_agree": "2"},
    "fellegi_sunter": {"m": "informed", "one_to_one": "true"},
}


def study(**sections):
    variables = [
        {"name": "x", "type": "numeric", "missing": [""]},
        {"name": "y", "type": "numeric"},
        {"name": "c", "type": "categorical"},
        {"name": "d", "type": "categorical", "missing": [""], "order": ["1", "2", "3"]},
    ]
    content = {"linking_variables": variables, "metrics": METRICS, "strata": ["s"], "rank_filter": {"max_pairs": "2"}}
    return plain(**content | sections)


@pytest.fixture(scope="module")
def rows():
    """Both files and the links; values are missing and tied, and a stratum is small."""
    draw = random.Random(3)  # noqa: S311 - made-up records
    people = [
        {
            "x": draw.choice(["", *map(str, range(9))]),
            "y": str(draw.randint(0, 30)),
            "c": draw.choice("abc"),
            "d": draw.choice(["1", "2", "3", ""]),
            "s": "n" if at % 9 else "t",
        }
        for at in range(140)
    ]
    puf = [{"p": f"p{at:03}", **people[at]} for at in range(100)]
    eif = [{"e": f"e{at:03}", **people[at]} for at in range(40, 140)]
    return puf, eif, [{"p": f"p{at:03}", "e": f"e{at:03}"} for at in range(40, 100, 2)]


@pytest.fixture(scope="module")
def tables(rows):
    return run(study(), *rows)


def files_of(tables, *, binned):
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    cut = bins.bin_files(linkage_step.cutting(tables.study), tables.prepared, tables.strata, tables.manifest)
    return files._replace(binned=cut.files) if binned else files


@pytest.mark.parametrize("binned", [True, False])
@pytest.mark.parametrize(
    ("changes", "coarsen"),
    [({"c": None}, {}), ({"x": None, "d": None}, {}), ({"x": {"width": "5"}, "c": None}, {"x": {"width": "5"}})],
)
def test_an_attack_after_changes_is_that_of_a_study_with_them(rows, tables, changes, coarsen, binned):
    left = [
        variable | ({"coarsen": coarsen[variable["name"]]} if variable["name"] in coarsen else {})
        for variable in study()["linking_variables"]
        if changes.get(variable["name"], "") is not None
    ]
    expected = run(study(linking_variables=left), *rows)
    typed = {name: value and Coarsening.model_validate(value) for name, value in changes.items()}
    settings, files = recode(linkage_step.attacking(tables.study), files_of(tables, binned=binned), typed)
    found = attack.attack(settings, files, ScoringContext())
    assert_frame_equal(found.rates[expected.rates.columns], expected.rates, check_exact=True, check_dtype=False)
    for name, metric in found.metrics.items():
        assert metric.confirmed.equals(expected.metrics[name].confirmed)


def test_without_any_variable_there_is_no_attack(tables):
    changes = dict.fromkeys(("x", "y", "c", "d"))
    assert recode(linkage_step.attacking(tables.study), files_of(tables, binned=True), changes) is None


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("budget", [attack.PAIRS_PER_SHARD, 500])
def test_some_records_have_the_pairs_that_they_have_among_all(tables, metric, budget):
    settings, files = linkage_step.attacking(tables.study), files_of(tables, binned=False)
    compared = attack.compare(settings, files)
    some = np.zeros(100, bool)
    some[[3, 9, 44, 60, 61]] = True

    def pairs(records):
        found = attack.suspect(settings, metric, files, compared, ScoringContext(), records, budget)
        table = pa.concat_tables(rows.filter(within(rows, settings.max_pairs)) for rows in found)
        return table.filter(pa.array(some[table["puf"].to_numpy()])).sort_by(
            [("puf", "ascending"), ("eif", "ascending")]
        )

    assert pairs(some).equals(pairs(None))
