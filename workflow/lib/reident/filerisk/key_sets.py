"""Scenarios and sets of key variables in the section `file_risk` of a study file (METHODS §7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from reident.sections.base import Line, Section, refuse_repeats, refuse_strangers
from reident.sections.files import Name
from reident.sections.keys import n_sets_up_to, refuse_many_sets, sets_up_to

_Known = Annotated[tuple[Name, ...], Field(min_length=1)]


class RiskScenario(Section):
    """An intruder who knows some of the key variables."""

    name: Name = Field(max_length=80)
    """The name of the intruder in the report."""
    known: _Known
    """The key variables that this intruder knows, by their names."""
    description: Line | None = None
    """Who the intruder is and where the knowledge comes from, for the report."""


class KeySets(Section):
    """Every set of some key variables up to a size."""

    variables: _Known | None = None
    """The key variables of the sets, by their names. If absent: all of them."""
    up_to: int = Field(3, ge=1)
    """The largest number of variables in a set."""

    def list_sets(self, key: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the sets, by size and then in the order of the variables; ``key`` has the names of all."""
        return sets_up_to(self.variables or key, self.up_to)


def check_scenarios(scenarios: Sequence[RiskScenario], sets: KeySets | None, key: Sequence[str]) -> None:
    """Refuse scenarios and sets with other variables than those of the key, and too many sets."""
    for at, scenario in enumerate(scenarios, start=1):
        _check_names(scenario.known, key, f"scenarios[{at}].known")
    if sets is None:
        return
    _check_names(sets.variables or (), key, "key_sets.variables")
    n = n_sets_up_to(len(sets.variables or key), sets.up_to)
    refuse_many_sets(n, "file_risk.key_sets", "Reduce `up_to`, or list fewer `variables`.")


def _check_names(names: Sequence[str], key: Sequence[str], where: str) -> None:
    refuse_repeats(names, where)
    refuse_strangers(names, key, f"`.file_risk.{where}` must consist of names of key variables")
