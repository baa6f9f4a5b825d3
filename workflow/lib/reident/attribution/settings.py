"""The settings of each step of attribute disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from reident.attribution.section import Target
from reident.intake.settings import Extract
from reident.matching.section import Radius
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable


@dataclass(frozen=True)
class AttributionFileSettings:
    """The settings of the step `prepare_attribution`.

    Attributes
    ----------
    files : the original file, the released ones and the holdout, by side
    released : the sides of the released files
    ids : the columns that identify a person, by side
    by_order : whether the rows of a file without such columns correspond by their order
    bins, ranks : how a numeric key is cut, see :func:`reident.linkage.bins.cut_points`
    """

    files: Mapping[str, SourceFile]
    released: tuple[str, ...]
    ids: Mapping[str, tuple[str, ...]]
    by_order: bool
    keys: tuple[KeyVariable, ...]
    targets: tuple[Target, ...]
    missing: Literal["excluded", "category"]
    bins: int
    ranks: Literal["mean", "high"] | None

    @property
    def original(self) -> str:
        """The side of the original file."""
        return next(iter(self.files))

    @property
    def holdout(self) -> str | None:
        """The side of the file of persons who are not in the original file, if there is one."""
        last = list(self.files)[-1]
        return None if last in (self.original, *self.released) else last

    @property
    def variables(self) -> tuple[KeyVariable, ...]:
        """The keys and the targets."""
        return (*self.keys, *self.targets)

    @property
    def extracts(self) -> dict[str, Extract]:
        """The extracts of the files that the study needs, by side."""
        columns = [variable.column for variable in self.variables]
        return {side: Extract(file, self.ids.get(side) or (), columns) for side, file in self.files.items()}


@dataclass(frozen=True)
class AttributionSettings:
    """The settings of the step `assess_attribution`.

    Attributes
    ----------
    id : the columns that identify a person of the original file; empty: the row does
    sets : the sets of keys
    targets : by name the largest difference of a correct inference; None for a categorical target
    category : whether missing is a category
    """

    id: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    targets: Mapping[str, Radius | None]
    category: bool
