"""What carries each confirmed pair is what brute force gives: every change as a study of its own (METHODS §6.3)."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import why as oracle
from oracles.checks import rounding_splits_a_tie
from oracles.strategies import studies
from oracles.study import METRICS
from oracles.study import run as judge
from reident.linkage import bins
from reident.linkage import step as linkage_step
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.recodings import LEFT_OUT, changes
from reident.linkage.unique_sets import smallest_sets
from reident.sections.coarsening import plain
from reident.why import explanation
from reident.why import step as why_step
from workflow.library_run import run

EXACT = ("unicity", "taxicab", "winkler", "fellegi_sunter")
"""Metrics whose scores the oracle has without rounding."""


def files_of(tables, study):
    cut = bins.bin_files(linkage_step.cutting(study), tables.prepared, tables.strata, tables.manifest)
    return AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest, binned=cut.files)


def explained(tables, metric):
    positions = {name: own.positions for name, own in tables.metrics.items()}
    settings = why_step.explaining(tables.study, metric)
    return explanation.explain(settings, metric, files_of(tables, tables.study), positions, ScoringContext())


def keys_of(tables, pairs):
    names = [*tables.study.keys["puf"], *tables.study.keys["eif"]]
    width = len(tables.study.keys["puf"])
    rows = zip(*(pairs[name].to_pylist() for name in names), strict=True)
    return [(row[:width], row[width:]) for row in rows]


@examples(25)
@given(drawn=studies(fewest=1, most=9), metric=st.sampled_from(METRICS))
def test_what_carries_a_pair_is_what_other_studies_confirm(drawn, metric):
    study, *rows = drawn
    for variable in study["linking_variables"]:
        variable.pop("coarsen", None)
    study |= {"why": {"max_size": "3"}}
    tables = run(study, *rows)
    assume(not rounding_splits_a_tie(judge(study, *rows), tables))
    found = explained(tables, metric)
    pairs = keys_of(tables, found.pairs)
    tried = changes(linkage_step.ordered_variables(tables.study), None, tables.prepared["puf"])
    names = [variable["name"] for variable in study["linking_variables"]]
    lost = {}
    for change in tried:
        coarsening = None if change.coarsening is None else plain(change.coarsening)
        other = oracle.changed(study, change.variable, coarsening)
        confirmed = oracle.confirmed if metric in EXACT else by_the_library
        kept = confirmed(other, metric, rows)
        lost[change.variable, change.title] = set(pairs) - kept
        records = {pair[0] for pair in pairs}
        line = found.recodings.set_index(["variable", "recoding"]).loc[(change.variable, change.title)]
        assert line["n_confirmed"] == len(records)
        after = {pair[0] for pair in kept}
        assert line["n_prevented"] == len(records - after)
        assert line["n_newly_confirmed"] == len(after - records)
        assert line["net_change"] == len(after) - len(records)
    for pair, line in zip(pairs, found.pairs.to_pylist(), strict=True):
        carriers = [name for name in names if pair in lost[name, LEFT_OUT]]
        assert line["carried_by"] == "+".join(carriers)
        prevented = [
            f"{variable}: {title}" for (variable, title), some in lost.items() if title != LEFT_OUT and pair in some
        ]
        assert line["prevented_by"] == "; ".join(prevented)
        agree, sets = oracle.smallest_sets(study, rows, pair, 3)
        assert line["agreeing"] == "+".join(names[j] for j in agree)
        assert line["n_unique_sets"] == len(sets)
        assert line["unique_size"] == (len(sets[0]) if sets else None)
        assert line["unique_set"] == ("+".join(names[j] for j in sets[0]) if sets else "")
        confirming = [name for name, own in tables.metrics.items() if pair in true_pairs(tables, own.confirmed)]
        assert line["confirming"] == "+".join(confirming)
    assert pairs == sorted(true_pairs(tables, tables.metrics[metric].confirmed))


def true_pairs(tables, confirmed):
    return set(keys_of(tables, confirmed.filter(confirmed["confirmed"])))


def by_the_library(study, metric, rows):
    """The whole chain of steps on a study with the coarser values in its file; numbers are rounded as in the step."""
    if study is None:
        return set()
    try:
        tables = run({**study, "metrics": {metric: study["metrics"][metric]}}, *rows)
    except ValueError as error:  # scores that cannot exceed the threshold
        assert "No pair would be suspected" in str(error)  # noqa: PT017 - refused by the study
        return set()
    return true_pairs(tables, tables.metrics[metric].confirmed)


CODES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.tuples(st.integers(-1, 1), *(st.integers(-1, 2) for _ in range(4))), min_size=n, max_size=n)
)


@examples(200)
@given(rows=CODES, data=st.data(), max_size=st.integers(1, 5))
def test_the_smallest_sets_are_those_of_every_set_tried(rows, data, max_size):
    table = np.array(rows, np.int32)
    stratum, codes = table[:, 0], table[:, 1:]
    inside = np.flatnonzero(stratum >= 0)
    held = inside[data.draw(st.lists(st.integers(0, max(len(inside) - 1, 0)), max_size=4))] if len(inside) else inside
    agree = np.array([[data.draw(st.booleans()) and codes[e, j] >= 0 for j in range(4)] for e in held], bool).reshape(
        -1, 4
    )
    found = smallest_sets(codes, stratum, held, agree, max_size)
    for at, e in enumerate(held):
        others = [o for o in range(len(codes)) if o != e and stratum[o] == stratum[e]]
        unique = [
            members
            for members in every_set(max_size)
            if agree[at, list(members)].all()
            and not any((codes[o, list(members)] == codes[e, list(members)]).all() for o in others)
        ]
        smallest = [members for members in unique if len(members) == len(unique[0])]
        assert found.n_sets[at] == len(smallest)
        assert found.size[at] == (len(smallest[0]) if smallest else 0)
        assert found.first[at] == -1 or found.sets[found.first[at]] == smallest[0]
        assert found.containing[at].tolist() == [sum(j in some for some in smallest) for j in range(4)]


def every_set(max_size):
    from itertools import combinations

    return [some for size in range(1, min(max_size, 4) + 1) for some in combinations(range(4), size)]
