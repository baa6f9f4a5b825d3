"""The records of a stratum as arrays: one code for one category in both files, -1 and NaN for what is missing."""

import numpy as np
import pyarrow as pa
import pytest
from making.studies import in_strata, study, table
from reident.linkage.pairing import Comparison, spread
from reident.pipeline import parts

NAN = np.nan


def comparison(puf, eif, strata=("a", "b"), **binning):
    """``stratum number category`` records of both files, ready to compare."""
    model = study(
        strata=["s"],
        linking_variables=[{"name": "n", "type": "numeric"}, {"name": "c", "type": "categorical"}],
        binning=binning,
    )
    files, stratum = {}, {}
    for side, rows in (("puf", puf), ("eif", eif)):
        text = table("s n c", *rows)
        files[side] = text.set_column(1, "n", text["n"].cast(pa.float64()))
        line = {value: at for at, value in enumerate(strata)}
        stratum[side] = in_strata(*(line.get(value) for value in text["s"].to_pylist()))
    part = parts.cutting(model)
    return Comparison(part.variables, files, stratum, len(strata), part.binning.scope)


def test_a_category_has_one_code_in_both_files_and_every_stratum():
    found = comparison(["a 1 y", "b 2 x", "a 3 ~"], ["a 4 z", "b 5 x", "a ~ y"])
    a, b = found.pairing(0), found.pairing(1)
    assert a.labels == (None, ["x", "y", "z"])
    assert a.puf.codes.tolist() == [[-1, 1], [-1, -1]]
    assert a.eif.codes.tolist() == [[-1, 2], [-1, 1]]
    assert b.puf.codes.tolist() == b.eif.codes.tolist() == [[-1, 0]]
    assert np.array_equal(a.eif.values, [[4, NAN], [NAN, NAN]], equal_nan=True)
    assert a.puf.codes.dtype == np.int32
    assert a.puf.codes.flags.c_contiguous


def test_records_outside_every_stratum_are_in_no_pairing():
    found = comparison(["~ 1 x", "a 2 x", "c 3 x"], ["a 1 x", "~ 1 x"])
    assert found.rows("puf", 0).tolist() == [1]
    assert found.rows("eif", 0).tolist() == [0]
    assert found.rows("puf", 1).tolist() == []
    assert len(found.pairing(1).puf.codes) == len(found.pairing(1).eif.codes) == 0


def test_a_block_of_puf_records_has_all_eif_records_and_the_spread_of_the_whole_stratum():
    found = comparison(["a 1 x", "a 3 x", "a 8 x"], ["a 1 x", "a 2 x"])
    whole, block = found.pairing(0), found.pairing(0, slice(1, 2))
    assert block.puf.values[:, 0].tolist() == [3]
    assert len(block.eif.codes) == 2
    assert block.spread[0] == whole.spread[0] == pytest.approx(np.std([1, 3, 8], ddof=1), rel=1e-15)


ANY = [
    ("nothing missing", ["a 1 x"], ["a 1 x"], False),
    ("a number in the PUF", ["a ~ x"], ["a 1 x"], True),
    ("a category in the EIF", ["a 1 x"], ["a 1 ~"], True),
    ("of a record in no stratum", ["a 1 x", "~ ~ x"], ["a 1 x"], True),
    ("only a strata value", ["a 1 x", "~ 1 x"], ["a 1 x"], False),
]


@pytest.mark.parametrize(("sentence", "puf", "eif", "missing"), ANY, ids=[case[0] for case in ANY])
def test_whether_any_linking_value_is_missing_in_either_whole_file(sentence, puf, eif, missing):
    assert comparison(puf, eif).any_missing is missing


SPREADS = [
    ("by hand", [1.0, 2.0, 4.0], np.sqrt(7 / 3)),
    ("missing values do not count", [1.0, NAN, 2.0, 4.0], np.sqrt(7 / 3)),
    ("constant", [5.0, 5.0, 5.0], 0.0),
    ("a constant that is no binary fraction", [0.1] * 7, 0.0),
    ("one value", [5.0, NAN], NAN),
    ("no value", [NAN, NAN], NAN),
    ("no record", [], NAN),
    ("small differences of large numbers", [1e15, 1e15 + 2, 1e15 + 4], 2.0),
]


@pytest.mark.parametrize(("sentence", "values", "found"), SPREADS, ids=[case[0] for case in SPREADS])
def test_the_sample_standard_deviation(sentence, values, found):
    assert np.allclose(spread(np.array(values, float)[:, None]), [found], rtol=1e-15, atol=0, equal_nan=True)


def test_the_spread_does_not_depend_on_the_order_of_records():
    values = np.random.default_rng(3).lognormal(8, 2, (500, 1))
    orders = [np.random.default_rng(seed).permutation(500) for seed in range(5)]
    assert len({float(spread(values[order])[0]) for order in orders}) == 1


SCOPED = [("stratum", [[1, 3], [10, 14]]), ("study", [[1, 3, 10, 14], [1, 3, 10, 14]])]


@pytest.mark.parametrize(("scope", "values"), SCOPED)
def test_the_scope_of_the_spread(scope, values):
    found = comparison(["a 1 x", "a 3 x", "b 10 x", "b 14 x"], ["a 1 x", "b 1 x"], scope=scope)
    spreads = [found.pairing(stratum).spread[0] for stratum in (0, 1)]
    assert spreads == pytest.approx([np.std(own, ddof=1) for own in values], rel=1e-15)
