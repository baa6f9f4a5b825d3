"""The section `decision` of a study file: the limits that the verdict of the report compares with."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from reident.sections.base import Day, Line, Section

_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]
_Metric = Annotated[str, Field(min_length=1)]


def _is_absent(value: Any) -> bool:
    """Return whether a limit is not given; a limit of 0 is one."""
    return value is None


def _form(value: Any) -> str:
    return "metrics" if isinstance(value, Mapping) else "all"


Shares = Annotated[
    Annotated[_Share, Tag("all")] | Annotated[Annotated[dict[_Metric, _Share], Field(min_length=1)], Tag("metrics")],
    Discriminator(_form),
]
Counts = Annotated[
    Annotated[_Count, Tag("all")] | Annotated[Annotated[dict[_Metric, _Count], Field(min_length=1)], Tag("metrics")],
    Discriminator(_form),
]

LIMITS: dict[str, tuple[str, ...]] = {
    "metrics": (
        "conditional_rate_at_most",
        "expected_correct_rate_at_most",
        "single_rate_at_most",
        "confirmed_rate_at_most",
        "reach_at_most",
        "confirmed_at_most",
    ),
    "metrics.any": ("confirmed_by_any_at_most",),
    "metrics.surest": ("surest",),
    "together": ("together_confirmed_rate_at_most", "together_best_rank_correct_rate_at_most"),
    "file_risk": ("k_anonymity_at_least", "dis_at_most"),
    "file_risk.risks": (
        "largest_risk_at_most",
        "average_risk_at_most",
        "share_above",
        "expected_reidentifications_at_most",
        "population_uniques_at_most",
        "k_map_at_least",
    ),
    "file_risk.population": ("delta_presence_at_most",),
    "file_risk.scenarios": ("unique_share_at_most",),
    "file_risk.sensitive": ("l_diversity_at_least", "t_closeness_at_most"),
    "matching": ("expected_match_risk_at_most", "true_match_rate_at_most", "false_match_rate_at_least"),
    "matching.closest.holdout": ("nearer_excess_at_most",),
    "attribute_disclosure": ("disco_at_most",),
    "confirm": ("excess_precision_at_most",),
}
"""The limits by the section that they are for, in the order of the report."""


class Surest(Section):
    """The limit on the claims that an intruder makes first."""

    right: float = Field(gt=0, le=1)
    """The share of right claims that an intruder would act on, as a fraction. Source: METHODS §6.7."""
    at_most: _Count
    """The largest number of surest claims of which that share is right with which a metric passes."""


class ShareAbove(Section):
    """The limit on the records whose risk is above a threshold."""

    risk: float = Field(gt=0, le=1)
    """The threshold of the risk of a record, as a fraction, such as 0.09. Source: METHODS §7.6."""
    at_most: _Share
    """The largest share of records with a higher risk, as a fraction of the records with a complete key, with which the
    file passes."""


class Decision(Section):
    """The limits of the verdict in the report, and whose they are."""

    set_by: Line | None = Field(None, exclude_if=_is_absent)
    """Who set the limits, for the first page of the report. If absent: the report says that it is not stated."""
    set_on: Day | None = Field(None, exclude_if=_is_absent)
    """The date on which the limits were set."""
    conditional_rate_at_most: Shares | None = None
    """The largest conditional rate, as a fraction, with which a metric passes. One number for all metrics, or a mapping
    from metrics to numbers. Source: METHODS §6."""
    expected_correct_rate_at_most: Shares | None = None
    """The largest share of suspected records that one guess would get right, as a fraction, with which a metric passes.
    One number for all metrics, or a mapping from metrics to numbers. Source: METHODS §6."""
    single_rate_at_most: Shares | None = None
    """The largest share of records with exactly one candidate whose candidate is right, as a fraction, with which a
    metric passes. One number for all metrics, or a mapping from metrics to numbers. Source: METHODS §6."""
    confirmed_rate_at_most: Shares | None = None
    """The largest confirmed rate, as a fraction, with which a metric passes. One number for all metrics, or a mapping
    from metrics to numbers. Source: METHODS §6."""
    reach_at_most: Shares | None = None
    """The largest reach, as a fraction, with which a metric passes. One number for all metrics, or a mapping from
    metrics to numbers. Source: METHODS §6."""
    confirmed_at_most: Counts | None = None
    """The largest number of confirmed records with which a metric passes. One number for all metrics, or a mapping from
    metrics to numbers. Source: METHODS §6."""
    confirmed_by_any_at_most: int | None = Field(None, ge=0, exclude_if=_is_absent)
    """The largest number of records that at least one metric confirms, with which the attack passes. Source: METHODS
    §6.2."""
    surest: Surest | None = Field(None, exclude_if=_is_absent)
    """The largest number of claims, the surest first, of which a share is right, for all metrics and their agreement.
    Source: METHODS §6.7."""
    together_confirmed_rate_at_most: Shares | None = Field(None, exclude_if=_is_absent)
    """`together`: the largest share of records confirmed with any of the files, as a fraction, with which a metric
    passes. One number for all metrics, or a mapping from metrics to numbers. Source: METHODS §6.6."""
    together_best_rank_correct_rate_at_most: Shares | None = Field(None, exclude_if=_is_absent)
    """`together`: the largest share of the records suspected with any of the files for which one best guess is right,
    as a fraction, with which a metric passes. One number for all metrics, or a mapping from metrics to numbers.
    Source: METHODS §6.6."""
    by: Literal["estimate", "upper"] = "estimate"
    """What `conditional_rate_at_most` is compared with: the rate itself, or the upper end of its interval. Source:
    METHODS §6.
    """
    k_anonymity_at_least: int | None = Field(None, ge=2)
    """`file_risk`: the smallest size of a cell of the whole key with which the file passes. Source: METHODS §7."""
    records_below_k_at_most: float = Field(0, ge=0, le=1)
    """`file_risk`: the largest share of records in smaller cells than `k_anonymity_at_least`, as a fraction of the
    records with a complete key, with which the file passes."""
    dis_at_most: float | None = Field(None, ge=0, le=1)
    """`file_risk`: the largest DIS, general form, as a fraction, with which the file passes. Source: METHODS §7."""
    largest_risk_at_most: float | None = Field(None, ge=0, le=1, exclude_if=_is_absent)
    """`file_risk`: the largest risk of a record, as a fraction, with which the file passes. Source: METHODS §7.6, as of
    the limits up to `delta_presence_at_most`."""
    average_risk_at_most: float | None = Field(None, ge=0, le=1, exclude_if=_is_absent)
    """`file_risk`: the largest mean risk of the records, as a fraction, with which the file passes."""
    share_above: ShareAbove | None = Field(None, exclude_if=_is_absent)
    """`file_risk`: the largest share of records with a higher risk than a threshold."""
    expected_reidentifications_at_most: float | None = Field(None, ge=0, exclude_if=_is_absent)
    """`file_risk`: the largest sum of the risks of the records, a number of records, with which the file passes."""
    population_uniques_at_most: int | None = Field(None, ge=0, exclude_if=_is_absent)
    """`file_risk`: the largest number of records that are unique in the file and in the population, with which the file
    passes."""
    k_map_at_least: int | None = Field(None, ge=2, exclude_if=_is_absent)
    """`file_risk`: the smallest number of people of the population who match a record, with which the file passes."""
    delta_presence_at_most: float | None = Field(None, ge=0, le=1, exclude_if=_is_absent)
    """`file_risk.population`: the largest share of the people who match a record that are in the file, as a fraction,
    with which the file passes."""
    unique_share_at_most: Shares | None = None
    """`file_risk.scenarios`: the largest share of sample uniques among the records compared, as a fraction, with which
    a scenario passes. One number for all scenarios, or a mapping from their names to numbers. Source: METHODS §7.5."""
    l_diversity_at_least: Counts | None = Field(None, exclude_if=_is_absent)
    """`file_risk.sensitive`: the smallest number of values in a cell, of any scenario or set, with which a sensitive
    variable passes. One number for all variables, or a mapping from their names to numbers. Source: METHODS §7.5."""
    t_closeness_at_most: Shares | None = Field(None, exclude_if=_is_absent)
    """`file_risk.sensitive`: the largest distance t between a cell, of any scenario or set, and the file, with which a
    sensitive variable passes. One number for all variables, or a mapping from their names to numbers. Source: METHODS
    §7.5."""
    expected_match_risk_at_most: float | None = Field(None, ge=0)
    """Matching: the largest expected match risk, as a number of records, with which a scenario passes. Source: METHODS
    §8."""
    true_match_rate_at_most: float | None = Field(None, ge=0, le=1)
    """Matching: the largest true match rate, as a fraction, with which a scenario passes."""
    false_match_rate_at_least: float | None = Field(None, ge=0, le=1)
    """Matching: the smallest false match rate, as a fraction, with which a scenario passes. A scenario without a unique
    match passes."""
    nearer_excess_at_most: float | None = Field(None, ge=0, le=1, exclude_if=_is_absent)
    """`matching.closest`: the largest excess of the share of closest records that are confidential over its
    expectation, as a fraction, with which every synthetic file passes. Source: METHODS §8.1."""
    disco_at_most: Shares | None = None
    """`attribute_disclosure`: the largest DiSCO, as a fraction, with which a target passes, for the most dangerous set
    of keys and on average over the released files. One number for all targets, or a mapping from their names to
    numbers. Source: METHODS §12."""

    excess_precision_at_most: Shares | None = Field(None, exclude_if=_is_absent)
    """`confirm`: the largest excess of the precision over the better guess within the strata, as a fraction, with which
    a metric passes, among all people and among those with unusual values. One number for all metrics, or a mapping from
    metrics to numbers. Source: METHODS §14."""

    def given(self, section: str, name: str | None = None) -> dict[str, Any]:
        """Return the limits for a section that are given, by key; or those of one metric, scenario or target of it."""
        limits = {key: getattr(self, key) for key in LIMITS[section]}
        if name is not None:
            limits = {key: limit.get(name) if isinstance(limit, Mapping) else limit for key, limit in limits.items()}
        return {key: limit for key, limit in limits.items() if limit is not None}

    @model_validator(mode="after")
    def _has_a_limit(self) -> Decision:
        if not any(map(self.given, LIMITS)):
            raise ValueError("must have at least one limit. Add a limit, or remove `decision`.")
        return self

    @model_validator(mode="after")
    def _options_have_their_limit(self) -> Decision:
        if self.by == "upper" and self.conditional_rate_at_most is None:
            raise ValueError(
                "`.by` must not be `upper` without `conditional_rate_at_most`, the only limit with an interval. Remove "
                "it, or add that limit."
            )
        if self.records_below_k_at_most and self.k_anonymity_at_least is None:
            raise ValueError(
                "`.records_below_k_at_most` must not be given without `k_anonymity_at_least`. Remove it, or add k."
            )
        return self

    def each(self, section: str, names: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
        """Yield every limit for a section: its key, the name that it applies to, empty without names, and the limit."""
        for key, limit in self.given(section).items():
            if isinstance(limit, Mapping):
                yield from ((key, name, one) for name, one in limit.items())
            else:
                yield from ((key, name, limit) for name in names or [""])

    def check(self, sections: Mapping[str, Sequence[str] | None], unmeasured: Container[str] = ()) -> None:
        """Refuse a limit on a section that the study does not have, or on a rate that it does not compute.

        Parameters
        ----------
        sections : mapping
            The sections that limits are for, by their keys: the metrics that the study computes, the names of the
            scenarios of ``file_risk`` and the targets of ``attribute_disclosure``; None for a section that it does not
            have.
        unmeasured : container
            The sensitive variables that every scenario and set has.
        """
        for section in LIMITS:
            needed = _NEEDED.get(section, section)
            names = sections[needed]
            for key, name, _ in self.each(section, names or ()):
                if names is None:
                    raise ValueError(
                        f"`.decision.{key}` must not be given without `{needed}`. Remove it, or add `{needed}`."
                    )
                if name and name not in names:
                    kind, remedy = _NAMED[section]
                    raise ValueError(f"`.decision.{key}.{name}` must be a limit of {kind}. {remedy}")
                if section == "file_risk.sensitive" and name in unmeasured:
                    raise ValueError(
                        f"`.decision.{key}` must not be a limit of `{name}`, which every scenario and set of key "
                        "variables has, so that its diversity is not measured. Add a scenario without it, or give the "
                        "limit by the names of other variables."
                    )


_NEEDED = {"metrics.any": "metrics", "metrics.surest": "metrics", "file_risk.risks": "file_risk"}
"""The section that the study must have, where it is not the one by which :data:`LIMITS` names the limits."""

_METRIC = ("a metric that the study computes", "Correct the metric, or add it to `metrics`.")
_NAMED = {
    "metrics": _METRIC,
    "together": _METRIC,
    "confirm": _METRIC,
    "file_risk.scenarios": ("a scenario of `file_risk`", "Correct the name, or add it to `file_risk.scenarios`."),
    "file_risk.sensitive": (
        "a sensitive variable of `file_risk`",
        "Correct the name, or add it to `file_risk.sensitive`.",
    ),
    "attribute_disclosure": (
        "a target of `attribute_disclosure`",
        "Correct the name, or add it to `attribute_disclosure.targets`.",
    ),
}
"""What a mapping of limits may name, by section, and what to do about another name."""
