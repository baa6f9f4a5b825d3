"""Many small strata scored at once: their pairs are those of each alone, and of the definitions (METHODS §4, §5)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import pairs as oracle
from oracles import unicity as unicity_oracle
from oracles.mixed import as_rows
from reident.kernels import strata, taxicab, unicity
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import MAX_SMALL, Estimates, ScoringContext
from reident.linkage.pairing import Comparison, spread, spreads
from reident.linkage.settings import Variable

ALPHAS = st.sampled_from(["0.5", "1", "1/3"])
BANDS = {"bands": [{"within": 0.5, "score": "4"}, {"within": 2, "score": "1.5"}], "beyond": "0.5"}
RELATIVE = {"bands": [{"within": 0.1, "score": "3", "relative": True}]}
TABLE = {
    "table": [{"puf": "v0", "eif": "v1", "score": "3"}, {"puf": "v1", "eif": "v1", "score": "5"}],
    "otherwise": "1",
}
OPTIONS = {
    "taxicab": st.fixed_dictionaries({"alpha": ALPHAS}),
    "euclidean": st.fixed_dictionaries(
        {"alpha": ALPHAS, "norm": st.sampled_from(["primer", "rms"]), "whole_steps": st.booleans()}
    ),
    "adhoc": st.fixed_dictionaries(
        {
            "scores": st.fixed_dictionaries(
                {}, optional={"c0": st.just(TABLE), "x0": st.sampled_from([BANDS, RELATIVE]), "c1": st.just("exact")}
            ),
            "threshold": st.sampled_from(["half_of_maximum", "1", "0.5"]),
        }
    ),
    "unicity": st.sampled_from([{"interactions": word} for word in ("all", "full", "jointly_observed")])
    | st.integers(1, 4).map(lambda order: {"max_order": order}),
    "fellegi_sunter": st.just({"levels": "bins", "competition": False, "frequency": False}),
}


@st.composite
def sizes(draw):
    """The numbers of PUF and EIF records of each stratum: none, few, or as many as a small stratum can have."""
    one = st.tuples(st.integers(0, 10), st.integers(0, 10)) | st.sampled_from([(1, 1), (1, 63), (63, 1), (32, 32)])
    return draw(st.lists(one, max_size=8))


@st.composite
def comparisons(draw, reads):
    """Both files of a study of small strata, and a choice of them in any order."""
    both, (nc, nn) = draw(sizes()), draw(st.sampled_from([(1, 0), (0, 1), (2, 1), (4, 3), (1, 2)]))
    missing, codes = draw(st.sampled_from([0.0, 0.1, 0.6])), draw(st.integers(1, 5))
    kind = draw(st.sampled_from(["few", "many", "constant"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    files, of = {}, {}
    for side, counts in zip(("puf", "eif"), zip(*both, strict=True) if both else ((), ()), strict=True):
        place = rng.permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
        n = len(place)
        columns = {
            f"c{j}": pa.array([f"v{code}" for code in rng.integers(0, codes, n)], pa.string()) for j in range(nc)
        }
        for j in range(nn):
            if reads == "binned":
                columns[f"x{j}"] = pa.array(rng.integers(1, 6, n).astype(np.int32))
            else:
                values = {
                    "few": rng.integers(-1, 4, n) * 0.1,
                    "many": rng.normal(size=n) * 1e3,
                    "constant": np.full(n, 0.1),
                }
                columns[f"x{j}"] = pa.array(values[kind])
        absent = {name: rng.random(n) < missing for name in columns}
        files[side] = pa.table(
            {
                name: pa.array(column.to_numpy(zero_copy_only=False), column.type, mask=absent[name])
                for name, column in columns.items()
            }
        )
        of[side] = pa.table({"stratum": place})
    if reads == "prepared":  # numbers are never null, but NaN
        files = {side: _with_nan(table) for side, table in files.items()}
    variables = tuple(Variable(f"c{j}", "categorical") for j in range(nc))
    variables += tuple(Variable(f"x{j}", "numeric") for j in range(nn))
    scope = draw(st.sampled_from(["stratum", "study"]))
    chosen = draw(st.lists(st.sampled_from(range(len(both))), unique=True)) if both else []
    return Comparison(variables, files, of, len(both), scope), np.array(chosen, np.int64)


def _with_nan(table):
    columns = {name: table[name] for name in table.column_names}
    return pa.table(
        {
            name: column.fill_null(np.nan) if pa.types.is_floating(column.type) else column
            for name, column in columns.items()
        }
    )


@st.composite
def weights(draw, variables):
    """The weights of the levels of each variable, and the least sum of a suspected pair."""
    lines = [
        (variable.name, level, float(draw(st.integers(-3, 4))))
        for variable in variables
        for level in ("agree", "differ", "missing")
    ]
    model = pd.DataFrame({"least_weight": [float(draw(st.integers(-4, 4)))]})
    return Estimates(pd.DataFrame(lines, columns=["variable", "level", "weight"]), model)


@pytest.mark.parametrize("name", sorted(OPTIONS))
@given(data=st.data())
@examples(40)
def test_the_pairs_of_many_strata_are_those_of_each_alone(name, data):
    metric = REGISTRY[name]
    comparison, chosen = data.draw(comparisons(metric.reads))
    options = metric.options.model_validate(data.draw(OPTIONS[name]))
    context = ScoringContext(
        keep=data.draw(st.sampled_from([1, 2, 3, 20, 100])),
        threads=data.draw(st.sampled_from([1, 2])),
        any_missing=comparison.any_missing,
        weights=data.draw(weights(comparison.variables)) if metric.weighs else None,
    )
    found = metric.score_small(comparison.pairings(chosen), options, context)
    n_puf = n_eif = 0
    expected = {field: [] for field in ("puf", "eif", "score", "ambiguous", "variables")}
    for stratum in chosen.tolist():
        pairing = comparison.pairing(stratum)
        alone = metric.score(pairing, options, context)
        alone = alone._replace(puf=alone.puf + n_puf, eif=alone.eif + n_eif)
        for field, values in expected.items():
            values.extend([] if getattr(alone, field) is None else getattr(alone, field).tolist())
        n_puf, n_eif = n_puf + len(pairing.puf.codes), n_eif + len(pairing.eif.codes)
    assert found.score.dtype == np.float64
    for field, values in expected.items():
        assert ([] if getattr(found, field) is None else getattr(found, field).tolist()) == values, field


CODES = st.integers(0, 2**32).map(np.random.default_rng)


@given(sizes(), st.integers(1, 5), CODES, st.sampled_from([1, 2, 5]), st.integers(0, 6))
def test_taxicab_of_small_strata_is_that_of_the_definition(both, v, rng, keep, limit):
    starts = strata.Starts(*(np.append(0, np.cumsum([size[side] for size in both])).astype(int) for side in (0, 1)))
    puf, eif = (rng.integers(-1, 3, (start[-1], v)).astype(np.int32) for start in starts)
    found = taxicab.nearest(puf, eif, different=2, missing=1, limit=limit, keep=keep, starts=starts)
    rows, ambiguous, after = [], [], []
    for s in range(len(both)):
        p, e = starts.puf[s], starts.eif[s]
        own = puf[p : starts.puf[s + 1]], eif[e : starts.eif[s + 1]]
        kept, full, following = oracle.nearest(*own, different=2, missing=1, limit=limit, keep=keep)
        rows += [(i + p, k + e, h) for i, k, h in kept]
        ambiguous += full
        after += following
    assert as_rows(found) == (rows, ambiguous, after)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=5),
    st.integers(1, 4),
    CODES,
    st.sampled_from([("all", None), ("all", 1), ("all", 2), ("full", None), ("jointly_observed", None)]),
)
def test_unicity_of_small_strata_is_that_of_the_definition(both, v, rng, kind):
    starts = strata.Starts(*(np.append(0, np.cumsum([size[side] for size in both])).astype(int) for side in (0, 1)))
    puf, eif = (rng.integers(-1, 3, (start[-1], v)).astype(np.int32) for start in starts)
    found = unicity.shared_uniques_in_strata(puf, eif, starts, sets=kind[0], max_order=kind[1])
    rows = []
    for s in range(len(both)):
        p, e = starts.puf[s], starts.eif[s]
        own = puf[p : starts.puf[s + 1]], eif[e : starts.eif[s + 1]]
        rows += [(i + p, k + e, *best) for i, k, *best in unicity_oracle.shared_uniques(*own, *kind)]
    assert [*zip(*(column.tolist() for column in found), strict=True)] == rows


@given(st.lists(st.lists(st.sampled_from([np.nan, 0.1, 0.3, -7.0, 1e15, 1e-9]), max_size=6), max_size=5))
def test_the_standard_deviations_of_strata_are_those_of_each(own):
    values = np.array([value for stratum in own for value in stratum])[:, np.newaxis]
    starts = np.append(0, np.cumsum([len(stratum) for stratum in own])).astype(int)
    expected = [spread(np.array(stratum, float)[:, np.newaxis]) for stratum in own]
    assert spreads(values, starts).tobytes() == np.array(expected).tobytes()


def test_a_set_of_the_records_of_a_small_stratum_is_one_word():
    assert MAX_SMALL == strata.MAX_RECORDS
    records, starts = np.zeros((33, 1), np.int32), strata.Starts(np.array([0, 33]), np.array([0, 32]))
    with pytest.raises(ValueError, match="more than 64 records"):
        unicity.shared_uniques_in_strata(records, records[:32], starts)


@pytest.mark.parametrize("starts", [([0, 1], [0, 2]), ([0, 2], [0, 1, 2]), ([1, 2], [0, 2]), ([0, 3, 2], [0, 1, 2])])
def test_strata_must_cover_both_files(starts):
    records = np.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match="starts must ascend from 0"):
        taxicab.nearest(
            records, records, different=1, missing=1, limit=1, keep=1, starts=strata.Starts(*map(np.array, starts))
        )
