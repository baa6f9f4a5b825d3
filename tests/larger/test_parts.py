"""A part of the file is attacked as in a study with this part; rivals are what brute force counts."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import larger
from oracles.checks import rounding_splits_a_tie
from oracles.preparing import distinct_links, prepare
from oracles.strategies import studies
from oracles.study import run as judge
from reident.errors import InputError
from reident.larger import curves, thinning
from reident.larger import step as larger_step
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.metrics.unicity import sets_in_force
from workflow.library_run import run


def with_section(study):
    return {**study, "larger_intruder": {"seed": "5"}}


def keys_of(tables, side):
    columns = tables.study.keys[side]
    return list(zip(*(tables.prepared[side][name].to_pylist() for name in columns), strict=True))


def whole(tables, links):
    """The tables of a study as thinning takes them."""
    places = {side: {key: at for at, key in enumerate(keys_of(tables, side))} for side in ("puf", "eif")}
    rows = sorted((places["puf"][one], places["eif"][other]) for one, other in links)
    columns = {side: pa.array([row[at] for row in rows], pa.int32()) for at, side in enumerate(("puf", "eif"))}
    return AttackFiles(tables.prepared, pa.table(columns), tables.strata, tables.manifest)


def only(rows, names, kept):
    """The rows whose key is among these."""
    return [row for row in rows if tuple(row[name] for name in names) in kept]


@examples(40)
@given(drawn=studies(fewest=2), share=st.sampled_from([1 / 4, 1 / 2, 3 / 4]), draw=st.integers(1, 3))
def test_a_part_is_attacked_as_a_study_with_that_part(drawn, share, draw):
    content, puf, eif, iuf = drawn
    tables = run(with_section(content), puf, eif, iuf)
    links = distinct_links(content, prepare(content, "puf", puf), prepare(content, "eif", eif), iuf)
    own = thinning.drawn(whole(tables, links), share, draw, 5)
    keys = keys_of(tables, "eif")
    place = np.sort(thinning.chosen(len(keys), share, draw, 5))
    kept = {keys[at] for at in place}
    files = content["files"]
    part_eif = only(eif, files["eif"]["id"], kept)
    part_iuf = only(iuf, files["iuf"]["eif_id"], kept)
    try:
        smaller = run(content, puf, part_eif, part_iuf)
    except InputError:
        assume(False)  # the part has no category or no stratum in common with the other file
    oracle = judge(content, puf, part_eif, part_iuf)
    assume(not rounding_splits_a_tie(oracle, smaller))
    pufids = keys_of(tables, "puf")
    for name, result in oracle.metrics.items():
        states = thinning.attacked(larger_step.thinning(tables.study, name), name, own, ScoringContext())
        expected = larger.claims(result, pufids)
        assert list(zip(states.candidates, states.links, strict=True)) == [expected[key] for key in pufids]
        assert states.held.sum() == result.rates["ALL"]["n_findable"]


@pytest.mark.slow
@examples(40)
@given(drawn=studies(fewest=1), budget=st.sampled_from([1, 20, 10**9]))
def test_rivals_are_the_records_between_a_person_and_the_top(drawn, budget):
    content, puf, eif, iuf = drawn
    tables = run(with_section(content), puf, eif, iuf)
    keep = tables.study.rank_filter.keep
    at_keep = {**content, "rank_filter": {"max_pairs": str(keep), "keep": str(keep)}}
    oracle = judge(at_keep, puf, eif, iuf)
    assume(not rounding_splits_a_tie(oracle, run(at_keep, puf, eif, iuf)))
    links = distinct_links(content, prepare(content, "puf", puf), prepare(content, "eif", eif), iuf)
    pufids, own = keys_of(tables, "puf"), whole(tables, links)
    for name, result in oracle.metrics.items():
        settings = larger_step.thinning(tables.study, name)
        options = settings.attack.metrics[name]
        if settings.attack.assigning(name) is not None or getattr(options, "max_order", None) is not None:
            continue
        if name == "unicity":
            missing = any(
                value is None
                for side, rows in (("puf", puf), ("eif", eif))
                for record in prepare(content, side, rows)
                for value in record.values
            )
            sets = sets_in_force(options, missing)
            expected = larger.unique_rivals(content, puf, eif, iuf, sets, keep)
            expected = {pufid: min(rivals, keep) for pufid, rivals in expected.items()}
        else:
            expected = larger.ranked_rivals(result, links, pufids, keep)
        states = thinning.whole(settings, name, own, tables.metrics[name].suspected)
        assert states.rivals.tolist() == [expected[key] for key in pufids]
        if name != "unicity":
            places = larger.ranked_places(result, links, pufids)
            assert list(zip(states.better, states.own, strict=True)) == [places[key] for key in pufids]
        table = thinning.counted(states, 1.0, 0, own)
        observed = curves.observed(table, ranked=REGISTRY[name].ranked)["best_guess_rate"].item()
        guesses = larger.best_guesses(result, links, pufids, REGISTRY[name].ranked)
        assert observed == pytest.approx(float(sum(guesses.values()) / len(pufids)), abs=1e-12)
        shards = thinning.attacked(settings, name, own, ScoringContext(), budget)
        for field in ("held", "better", "own", "first", "candidates", "links"):
            assert np.array_equal(getattr(shards, field), getattr(states, field))
