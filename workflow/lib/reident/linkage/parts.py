"""What each step of linkage takes from the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reident.sections.base import Section
    from reident.sections.linkage import Binning, Rates


@dataclass(frozen=True)
class Variable:
    """A linking variable as the metrics know it: its values are typed, its codes are the study's."""

    name: str
    type: Literal["numeric", "categorical"]
    integer_coded: bool = False


@dataclass(frozen=True)
class Linkage:
    """How records of both files are compared.

    Attributes
    ----------
    keys : the key columns of ``puf`` and ``eif`` in the study's tables
    strata : names of the strata variables
    variables : the linking variables
    """

    keys: Mapping[str, tuple[str, ...]]
    strata: tuple[str, ...]
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Stratifying:
    """What stratification takes from the study: the linkage, and the names of the PUF and the EIF for messages."""

    linkage: Linkage
    files: tuple[str, str]


@dataclass(frozen=True)
class Cutting:
    """What binning takes from the study."""

    linkage: Linkage
    binning: Binning


@dataclass(frozen=True)
class Scoring:
    """What scoring takes from the study.

    Attributes
    ----------
    linkage : Linkage
    scope : where standard deviations are taken
    keep : the best ranks with at most this many pairs are kept of a record
    options : the section of the metric
    """

    linkage: Linkage
    scope: Literal["stratum", "study"]
    keep: int
    options: Section


@dataclass(frozen=True)
class Ranking:
    """What the rank filter takes from the study: the key columns of the PUF, and the limit."""

    key: tuple[str, ...]
    max_pairs: int


@dataclass(frozen=True)
class Confirming:
    """What confirmation takes from the study: the key columns of both files, and how many pairs scoring kept."""

    keys: Mapping[str, tuple[str, ...]]
    keep: int


@dataclass(frozen=True)
class Rating:
    """What the rates take from the study: the linkage, the metrics in their order, the rank limit, the intervals."""

    linkage: Linkage
    metrics: tuple[str, ...]
    max_pairs: int
    rates: Rates


@dataclass(frozen=True)
class Describing:
    """What the description takes from the study.

    Attributes
    ----------
    linkage : Linkage
    columns : the columns of the PUF and the EIF that hold each linking variable
    metrics : the metrics in their order
    """

    linkage: Linkage
    columns: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Counting:
    """What counting agreements takes from the study: the key of the PUF, and the range of `min_agree`."""

    key: tuple[str, ...]
    n_variables: int
    min_agree: int
