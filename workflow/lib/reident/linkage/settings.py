"""The settings of each step of linkage, and the linking variables that they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reident.sections.base import Section
    from reident.sections.linkage import Binning, Rates


WHOLE = "ALL"
"""The stratum of lines about the whole study."""

COMPARED_RATES = (
    "n_puf", "n_suspected", "n_confirmed", "suspected_rate", "confirmed_rate", "conditional_rate",
    "expected_correct_rate",
)  # fmt: skip
SIDES = ("before", "after")
"""The columns of the rates that are compared before and after protection, and how the two are named."""

ANY, ALL, EXACTLY, ONE = "any", "all", "exactly", "file"
"""What a line on several files is about: at least one of them, every one, exactly as many as its label says, or
the file of its label alone."""


AGREEMENT = "agreement"
"""Stands for the agreement of the metrics where tables have a metric."""


@dataclass(frozen=True)
class Variable:
    """A linking variable as the metrics know it: its values are typed, its codes are the study's."""

    name: str
    type: Literal["numeric", "categorical", "date"]
    integer_coded: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers; those of dates are the numbers of days."""
        return self.type != "categorical"


@dataclass(frozen=True)
class OrderedVariable(Variable):
    """A linking variable with its categories from lowest to highest, where the study declares their order."""

    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class StratificationSettings:
    """The settings of the step `stratify`: the strata variables, and the names of both files for messages."""

    strata: tuple[str, ...]
    files: tuple[str, str]


@dataclass(frozen=True)
class BinningSettings:
    """The settings of the step `bin`."""

    variables: tuple[Variable, ...]
    binning: Binning


@dataclass(frozen=True)
class ScoringSettings:
    """The settings of the step `score` for a metric.

    Attributes
    ----------
    scope : where standard deviations are taken
    keep : the best ranks with at most this many pairs are kept for each record
    members : of units, whether the intruder knows all members or some; None where records are compared
    """

    variables: tuple[Variable, ...]
    scope: Literal["stratum", "study"]
    keep: int
    options: Section
    members: Literal["all", "some"] | None = None


@dataclass(frozen=True)
class WeighingSettings:
    """The settings of the step `weigh`.

    Attributes
    ----------
    probability, weight : the threshold, one of the two
    informed : whether the intruder knows the true links
    partial : the names of those with a level for partial agreement
    differences : whether numbers are compared by their difference, not by bins
    bands : by variable, the differences at which levels end; otherwise at shares of all pairs
    competition : whether the pairs of a record rule each other out
    frequency : whether the frequency of single values counts
    """

    variables: tuple[OrderedVariable, ...]
    probability: float | None
    weight: float | None
    informed: bool
    partial: tuple[str, ...] = ()
    differences: bool = False
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    competition: bool = False
    frequency: bool = False


@dataclass(frozen=True)
class AssignmentSettings:
    """The settings of the step `rank` for one-to-one assignment: the rank limit within which pairs are assigned."""

    max_pairs: int


@dataclass(frozen=True)
class ConfirmationSettings:
    """The settings of the confirmation.

    Attributes
    ----------
    keys : the key columns of ``puf`` and ``eif`` in the prepared tables
    max_pairs : the rank limit
    keep : the largest rank limit to report on
    """

    keys: Mapping[str, tuple[str, ...]]
    max_pairs: int
    keep: int


@dataclass(frozen=True)
class RatingSettings:
    """The settings of the rates.

    Attributes
    ----------
    tolerances : by metric, the number of linking variables that may differ completely in a suspected pair, if no
        linking value is missing in either file, and if one is; none for a metric that weighs, whose weights decide it
    """

    metrics: tuple[str, ...]
    tolerances: Mapping[str, tuple[int, int]]
    variables: tuple[str, ...]
    max_pairs: int
    rates: Rates


@dataclass(frozen=True)
class MemberSettings:
    """The settings of the step `count_members`.

    Attributes
    ----------
    scoring : by metric, those of scoring
    tables : by metric, the table that it compares
    """

    scoring: Mapping[str, ScoringSettings]
    tables: Mapping[str, str]


@dataclass(frozen=True)
class DescriptionSettings:
    """The settings of the description.

    Attributes
    ----------
    columns : the columns of the PUF and the EIF that hold each linking variable
    """

    variables: tuple[Variable, ...]
    columns: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class RateStepSettings:
    """The settings of the step `rate`: those of the rates, the description and the comparison of the metrics."""

    rating: RatingSettings
    describing: DescriptionSettings
    comparing: MetricComparisonSettings


@dataclass(frozen=True)
class JoiningSettings:
    """The settings of the step `join_files`.

    Attributes
    ----------
    files : the labels of the files
    low_is_best : by metric, in their order, whether a lower score is the better one
    released : the key columns and the strata variables of the prepared PUF, which all attacks must share
    person : whether the files name the person of each record
    """

    files: tuple[str, ...]
    low_is_best: Mapping[str, bool]
    released: tuple[str, ...]
    person: bool
    rates: Rates


@dataclass(frozen=True)
class ClaimSettings:
    """The settings of the order of the claims: whether a lower score is the better one, and intervals."""

    low_is_best: bool
    rates: Rates


@dataclass(frozen=True)
class ConfirmStepSettings:
    """The settings of the step `confirm`: those of the confirmation and those of the order of the claims."""

    confirming: ConfirmationSettings
    claiming: ClaimSettings


@dataclass(frozen=True)
class MetricComparisonSettings:
    """The settings of the comparison of the metrics.

    Attributes
    ----------
    right : the share of right claims of `decision.surest`, where the study has it
    """

    rating: RatingSettings
    right: float | None


@dataclass(frozen=True)
class AgreementSettings:
    """The settings of the step `agreements`: every `min_agree`; None if no agreements are counted."""

    limits: tuple[int | None, ...]
