"""What carries confirmed pairs at the edges: nothing confirmed, one record, one variable, other orders of records."""

import random

import pytest
from making.studies import plain
from reident.linkage import bins
from reident.linkage import step as linkage_step
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext
from reident.why import explanation
from reident.why import step as why_step
from workflow.library_run import run

METRICS = {
    "unicity": {"interactions": "all"},
    "taxicab": {},
    "fellegi_sunter": {"m": "informed", "one_to_one": "true"},
    "winkler": {"min_agree": "2"},
}


def rows(n, draw):
    values = [
        {"x": str(draw.randint(0, 60)), "c": draw.choice("abc"), "d": draw.choice(["1", "2", ""])} for _ in range(n)
    ]
    puf = [{"p": f"p{at}", **own} for at, own in enumerate(values)]
    eif = [{"e": f"e{at}", **own} for at, own in enumerate(values)]
    return puf, eif, [{"p": f"p{at}", "e": f"e{at}"} for at in range(n)]


def study(**sections):
    variables = [
        {"name": "x", "type": "numeric"},
        {"name": "c", "type": "categorical"},
        {"name": "d", "type": "categorical", "missing": [""]},
    ]
    return plain(**{"linking_variables": variables, "metrics": METRICS, "why": {}} | sections)


def explained(content, puf, eif, iuf, metric):
    tables = run(content, puf, eif, iuf)
    cut = bins.bin_files(linkage_step.cutting(tables.study), tables.prepared, tables.strata, tables.manifest)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest, binned=cut.files)
    positions = {name: own.positions for name, own in tables.metrics.items()}
    settings = why_step.explaining(tables.study, metric)
    return explanation.explain(settings, metric, files, positions, ScoringContext())


@pytest.mark.parametrize("metric", METRICS)
def test_without_a_link_nothing_is_carried(metric):
    puf, eif, _ = rows(6, random.Random(1))  # noqa: S311 - made-up records
    found = explained(study(), puf, eif, [{"p": "p0", "e": "e5"}], metric)
    found = found if not found.pairs.num_rows else explained(study(), puf[:1], eif[1:], [], metric)
    assert found.pairs.num_rows == 0
    assert (found.recodings["n_confirmed"] == 0).all()
    assert found.recodings["prevented_rate"].isna().all()
    assert found.variables["unique_share"].isna().all()


@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_records_does_not_matter(metric):
    draw = random.Random(7)  # noqa: S311 - made-up records
    files = rows(30, draw)
    first = explained(study(), *files, metric)
    for side in files:
        draw.shuffle(side)
    again = explained(study(), *files, metric)
    assert first.pairs.num_rows > 0
    assert again.pairs.equals(first.pairs)
    assert again.recodings.equals(first.recodings)
    assert again.variables.equals(first.variables)
