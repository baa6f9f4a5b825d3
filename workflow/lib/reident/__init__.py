"""Re-identification studies of public use files.

The library in nine functions, on data frames in memory or on a study file. They write no file, and their numbers are
those of the workflow. Everything else in this package may change.

============================= =================================================================
:func:`read_study`            a study file, checked
:func:`attack`                the suspected and confirmed pairs of each metric, and the rates
:func:`file_risk`             sample uniques, DIS and SUDA of one file
:func:`matching_risk`         the matching-based risk of synthetic files
:func:`closest`               the distances of synthetic records to the closest record
:func:`attribute_disclosure`  what could be learnt about a person from a released file
:func:`confirm_values`        what a file without records of people tells about persons
:func:`statement`             what may be told of an attack in public
:func:`open_results`          the tables of a study that the workflow has run
:class:`InputError`           what wrong input raises
:class:`RiskWarning`          the warning that a result may be invalid or understate the risk
============================= =================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reident.api.attribution import attribute_disclosure
    from reident.api.linked import attack
    from reident.api.results import open_results
    from reident.api.risk import closest, file_risk, matching_risk
    from reident.api.statement import statement
    from reident.api.study import read_study
    from reident.api.values import confirm_values
    from reident.errors import InputError, RiskWarning

__all__ = [
    "InputError",
    "RiskWarning",
    "attack",
    "attribute_disclosure",
    "closest",
    "confirm_values",
    "file_risk",
    "matching_risk",
    "open_results",
    "read_study",
    "statement",
]

_MODULES = {
    "InputError": "errors",
    "RiskWarning": "errors",
    "attack": "api.linked",
    "attribute_disclosure": "api.attribution",
    "closest": "api.risk",
    "confirm_values": "api.values",
    "file_risk": "api.risk",
    "matching_risk": "api.risk",
    "open_results": "api.results",
    "read_study": "api.study",
    "statement": "api.statement",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that steps do not wait for unused modules."""
    if name in _MODULES:
        return getattr(import_module(f"reident.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
