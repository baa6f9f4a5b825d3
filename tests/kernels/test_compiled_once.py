"""Code that was compiled for one study serves others, whatever their number of variables (METHODS §4.2)."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from reident.kernels import taxicab

CODE = """
import numpy as np
from numba.core import event
from reident.kernels import taxicab

class Compilations(event.Listener):
    number = 0
    def on_start(self, event): Compilations.number += 1
    def on_end(self, event): pass

event.register("numba:compile", Compilations())
generator = np.random.default_rng(0)
numbers = []
for v in (3, 5, 8, 13, 64):
    puf, eif = (generator.integers(-1, 3, (80, v)).astype(np.int32) for _ in range(2))
    taxicab.nearest(puf, eif, different=2, missing=1, limit=4, keep=5)
    numbers.append(Compilations.number)
assert numbers[0], "nothing was compiled"
assert numbers[1:] == [numbers[0]] * 4, numbers
"""


def of_each_number(v):
    """The signatures for which each compiled function of a search is compiled, or read from the cache."""
    generator = np.random.default_rng(0)
    puf, eif = (generator.integers(-1, 3, (80, v)).astype(np.int32) for _ in range(2))
    taxicab.nearest(puf, eif, different=2, missing=1, limit=4, keep=5)
    return {name: value.signatures for name, value in vars(taxicab).items() if isinstance(value, Dispatcher)}


def test_another_number_of_variables_has_the_same_types():
    first = of_each_number(3)
    assert any(first.values())
    assert all(of_each_number(v) == first for v in (5, 8, 13, 64))


@pytest.mark.slow
def test_another_number_of_variables_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", CODE], check=True, env=environment)
