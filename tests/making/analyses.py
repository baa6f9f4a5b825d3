"""What each analysis adds to tests of all analyses: names of the module `cases.py` beside its own tests."""

from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def gathered(name: str) -> dict[str, Any]:
    """Return the value that a name has in the cases of each analysis, by the analysis; those without it are left out.

    The names are `COMPARED`, how the results of a variant differ (`making.variants`); `CHANGES` and `KINDS`, changes of
    a study and kinds of studies (`making.transitions`); `ATTACKED_AGAIN`, what runs its step again; `FIGURES`, results
    for its figures; `CELLS`, the cells of the notebook that it has to itself; `HOUSEHOLDS`, its keys in a study of
    simulated households, every table of which is made.
    """
    modules = {file.parent.name: import_module(f"{file.parent.name}.cases") for file in TESTS.glob("*/cases.py")}
    return {analysis: getattr(module, name) for analysis, module in sorted(modules.items()) if hasattr(module, name)}
