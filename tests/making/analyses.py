"""What each analysis adds to tests of all analyses: names of the module `cases.py` beside its own tests."""

from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def gathered(name: str) -> list[Any]:
    """Return the value that a name has in the cases of each analysis that has it.

    The names are `COMPARED`, how the results of a variant differ (`making.variants`); `CHANGES` and `KINDS`, changes of
    a study and kinds of studies (`making.transitions`); `ATTACKED_AGAIN`, what runs its step again; `FIGURES`, results
    for its figures; `CELLS`, the cells of the notebook that it has to itself; `HOUSEHOLDS`, its keys in a study of
    simulated households, every table of which is made.
    """
    modules = [import_module(f"{file.parent.name}.cases") for file in sorted(TESTS.glob("*/cases.py"))]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
