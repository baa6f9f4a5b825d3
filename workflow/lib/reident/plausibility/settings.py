"""The settings of the checks of a description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.intake.settings import PreparationSettings
from reident.linkage.settings import Variable


@dataclass(frozen=True)
class DescriptionCheckSettings:
    """The settings of the step `check_description`.

    Attributes
    ----------
    keys : the key columns of ``puf`` and ``eif`` in the prepared tables
    files : the files, and the columns that the study declares; None if nothing else of them is looked at
    """

    variables: tuple[Variable, ...]
    keys: Mapping[str, tuple[str, ...]]
    files: PreparationSettings | None = None
