"""Bins where a file or a stratum has no value."""

import numpy as np
import pytest
from making.studies import in_strata, manifest, study, table
from reident.linkage import bins
from reident.linkage import step as linkage_step


def binned(puf, eif, strata=("a",), **binning):
    """Bin ``stratum value`` records (``~`` missing) in two bins; a stratum is its value of s."""
    settings = linkage_step.cutting(
        study(linking_variables=[{"name": "v", "type": "numeric"}], binning={"bins": 2, **binning})
    )
    line = {value: at for at, value in enumerate(strata)}
    files, stratum = {}, {}
    for side, rows in (("puf", puf), ("eif", eif)):
        text = table("s v", *rows)
        files[side] = text.select(["v"]).set_column(0, "v", text["v"].cast("float64"))
        stratum[side] = in_strata(*(line.get(value) for value in text["s"].to_pylist()))
    listed = manifest(*((f"s{at:04d}", 0, 0, 0) for at in range(1, len(strata) + 1)))
    return bins.bin_files(settings, files, stratum, listed)


def test_a_scope_whose_cutting_file_has_no_value_has_no_bins():
    found = binned(["a ~", "b 1"], ["a 5", "b 5"], strata=("a", "b"))
    assert found.files["eif"]["v"].to_pylist() == [None, 2]
    lines = found.cutpoints.set_index("scope")
    assert bool(np.isnan(lines.at["s0001", "bin"]))
    assert lines.loc[["s0001"], ["n_puf", "n_eif"]].to_numpy().tolist() == [[0, 0]]


@pytest.mark.parametrize("scope", ["stratum", "study"])
def test_a_stratum_of_one_file_alone_makes_no_value_missing(scope):
    of_none = bins.OUTSIDE if scope == "stratum" else 2
    found = binned(["a 1"], ["a 1", "b 7", "b ~"], strata=("a", "b"), scope=scope)
    assert found.files["eif"]["v"].to_pylist() == [1, of_none, None]
    found = binned(["a 1", "c 3"], ["a 1"], strata=("a", "c"), cutpoints="eif", scope=scope)
    assert found.files["puf"]["v"].to_pylist() == [1, of_none]
