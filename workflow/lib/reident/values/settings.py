"""The settings of confirmation by values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.intake.settings import Extract, PreparationSettings
from reident.linkage.attack_settings import SearchSettings
from reident.linkage.settings import StratificationSettings
from reident.sections.files import LinkFile
from reident.sections.keys import KeyVariable

EVERYONE, UNUSUAL = "all", "unusual"
"""The people of a line: all whose values are known, or those without the most frequent values of their stratum."""


@dataclass(frozen=True)
class ValuesSettings:
    """The settings of the step `confirm_values`.

    Attributes
    ----------
    preparing : those of reading the released file, whose key is its row, and the external file
    stratifying : the strata variables and the names of both files
    search : the metrics, and how many pairs of a person scoring keeps
    confidential : the file of the values of people
    strata : the strata variables as that file has them
    learn : the variables that are learnt
    beside : the linking variables that must agree too
    within : by name of a numeric variable, the largest difference
    level : the level of confidence intervals
    """

    preparing: PreparationSettings
    stratifying: StratificationSettings
    search: SearchSettings
    confidential: LinkFile
    strata: tuple[KeyVariable, ...]
    learn: tuple[KeyVariable, ...]
    beside: tuple[KeyVariable, ...]
    within: Mapping[str, float]
    level: float

    @property
    def tolerances(self) -> list[float]:
        """The largest difference of each learnt number, in their order."""
        return [self.within.get(one.name, 0.0) for one in self.learn if one.is_numeric]

    @property
    def extracts(self) -> dict[str, Extract]:
        """The extracts of the files, by side."""
        files, learnt = self.preparing.files, [variable.column for variable in self.learn]
        columns = {side: [getattr(column, side) for column in self.preparing.columns] for side in ("puf", "eif")}
        others = [variable.column for variable in (*self.strata, *self.beside)]
        return {
            "puf": Extract(files.puf, (), list(dict.fromkeys([*columns["puf"], *learnt]))),
            "eif": Extract(files.eif, files.eif.id, columns["eif"]),
            "iuf": Extract(self.confidential, self.confidential.eif_id, list(dict.fromkeys([*others, *learnt]))),
        }
