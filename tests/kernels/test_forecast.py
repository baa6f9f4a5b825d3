"""The pairs of unicity are forecast from those of some records (METHODS §4.1)."""

import numpy as np
import pytest
from reident.errors import InputError
from reident.kernels import unicity
from reident.linkage.metrics import unicity as metric

DESIGNS = [
    # records of the PUF and of the EIF, variables, categories, share of missing values, largest set
    (300, 400, 4, 3, 0.0, None),
    (300, 400, 4, 12, 0.0, None),
    (300, 400, 8, 3, 0.0, None),
    (300, 400, 8, 5, 0.1, None),
    (2000, 1500, 5, 6, 0.0, None),
    (2000, 1500, 6, 10, 0.05, None),
    (1500, 3000, 8, 6, 0.0, None),
    (1500, 3000, 8, 6, 0.2, None),
    (2000, 2000, 10, 20, 0.02, 3),
    (2000, 2000, 12, 6, 0.0, 4),
]


def _files(n_puf, n_eif, v, categories, missing, seed=0):
    generator = np.random.default_rng([n_puf, v, categories, seed])
    people = generator.integers(0, categories, (n_puf + n_eif, v)) // generator.integers(1, 3, v)
    puf, eif = people[:n_puf].copy(), people[n_puf // 2 : n_puf // 2 + n_eif].copy()
    for file in (puf, eif):
        file[generator.random(file.shape) < missing] = -1
    return puf.astype(np.int32), eif.astype(np.int32)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_a_forecast_is_close_to_the_number_of_pairs(design):
    *sizes, most = design
    puf, eif = _files(*sizes)
    pairs = len(unicity.shared_uniques(puf, eif, max_order=most)[0])
    assert unicity.forecast(puf, eif, most) == pytest.approx(pairs, rel=0.25, abs=20)


@pytest.mark.parametrize("design", DESIGNS[:4], ids=str)
def test_a_forecast_from_all_records_is_exact(design):
    *sizes, most = design
    puf, eif = _files(*sizes)
    pairs = len(unicity.shared_uniques(puf, eif, max_order=most)[0])
    assert unicity.forecast(puf, eif, most, n_records=len(puf)) == pytest.approx(pairs)


def test_pairs_beyond_the_memory_are_refused_with_one_sentence():
    puf, eif = _files(*DESIGNS[7][:-1])
    with pytest.raises(InputError, match=r"^unicity finds about [\d,]+ pairs in a stratum, .*`max_order`"):
        metric._check_memory(puf, eif, None, 1000.0)
    metric._check_memory(puf, eif, None, 1e12)
    metric._check_memory(puf, eif, None, 45.0 * unicity.forecast(puf, eif) + 1)
