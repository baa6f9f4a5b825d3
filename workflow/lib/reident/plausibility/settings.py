"""What the checks of a description take from the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.linkage.settings import Variable


@dataclass(frozen=True)
class DescriptionCheckSettings:
    """What the checks of a description take from the study.

    Attributes
    ----------
    keys : the key columns of ``puf`` and ``eif`` in the prepared tables
    """

    variables: tuple[Variable, ...]
    keys: Mapping[str, tuple[str, ...]]
