"""The settings of intake, and its extracts of source files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reident.sections.files import LinkedFiles, SourceFile, table_keys
from reident.sections.linkage import LinkingVariable, StrataVariable, StudyColumn
from reident.sections.units import Units


class Extract(NamedTuple):
    """The extract of a source file for a study: the columns that name a record, which may be none, and others."""

    source: SourceFile
    key: Sequence[str]
    columns: Sequence[str]

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [*self.key, *self.columns]


@dataclass(frozen=True)
class PreparationSettings:
    """The settings of the step `prepare`.

    Attributes
    ----------
    files : the descriptions of the PUF, the EIF and the IUF
    strata : the strata variables
    variables : the linking variables
    cluster : the columns of the PUF that identify a cluster
    units : the columns that identify a unit, if rows are grouped into units
    """

    files: LinkedFiles
    strata: tuple[StrataVariable, ...]
    variables: tuple[LinkingVariable, ...]
    cluster: tuple[str, ...] = ()
    units: Units | None = None

    @property
    def columns(self) -> tuple[StudyColumn, ...]:
        """The strata variables and the linking variables."""
        return (*self.strata, *self.variables)

    @property
    def sides(self) -> tuple[str, ...]:
        """The files that are read; of the file before protection the keys alone."""
        return ("puf", "eif", "iuf", *(["original"] if self.files.original else []))

    def file(self, side: str) -> SourceFile:
        """Return the description of one file."""
        return getattr(self.files, side)

    def file_name(self, side: str) -> str:
        """Return the name of one file without its folder, for messages."""
        return self.file(side).file_name

    def keys_of(self, side: str) -> list[str]:
        """Return the columns of a source file that identify a record or a unit, by the file's own names."""
        if side == "iuf":
            return [*self.files.iuf.puf_id, *self.files.iuf.eif_id]
        side = "puf" if side == "original" else side
        return list(getattr(self.files, side).id if self.units is None else getattr(self.units, side))

    @property
    def key_names(self) -> dict[str, tuple[str, ...]]:
        """The key columns of ``puf`` and ``eif`` in the prepared tables."""
        units = self.units
        return self.files.keys if units is None else table_keys({"puf": units.puf, "eif": units.eif})

    def row_key_of(self, side: str) -> tuple[str, ...]:
        """Return the key columns of the rows of a file of units; empty where links name units."""
        key = getattr(self.files, side).id
        return () if self.units is None or key == getattr(self.units, side) else key

    @property
    def extracts(self) -> dict[str, Extract]:
        """The columns to read of each file, by side."""
        return {side: Extract(self.file(side), self.keys_of(side), self._others_of(side)) for side in self.sides}

    def _others_of(self, side: str) -> list[str]:
        """Return the columns of a source file that the study needs beside the keys."""
        columns = self.columns if side in ("puf", "eif") else ()
        cluster = self.cluster if side == "puf" else ()
        rows = self.row_key_of(side) if side in ("puf", "eif") else ()
        others = [*(getattr(column, side) for column in columns), *cluster, *self.person_of(side), *rows]
        return others if self.units is None else [name for name in others if name not in self.keys_of(side)]

    def columns_of(self, side: str) -> list[str]:
        """Return the columns of a source file that the study needs, keys first."""
        return [*self.keys_of(side), *self._others_of(side)]

    def person_of(self, side: str) -> tuple[str, ...]:
        """Return the column that names the person of each record of a file; empty without one."""
        return (self.files.eif.person,) if side == "eif" and self.files.eif.person else ()
