"""The section `release` of a study file, and the files of rounding policies (METHODS §11)."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from reident.sections.base import Line, Paragraph, Pattern, Section, refuse_repeats

MAX_COUNT = 10**12
"""The largest count that a policy publishes."""

MIN_SEED = 16
"""Characters of a seed: a shorter one could be found by trying."""

MAX_EDITIONS = 20
"""Earlier editions that a study can name."""

EDITION_FILES = (
    "attack.csv", "clusters.csv", "file.csv", "matching.csv", "cut-points.csv", "limits.csv", "release.json",
)  # fmt: skip
"""What the folder of an edition has for machines."""


Shown = Annotated[
    str,
    Field(max_length=20),
    Pattern(
        r"<[1-9][0-9]*|\[?[A-Za-z][A-Za-z ]+\]?",
        "must be `<` and an integer, or two or more letters, which may be in brackets. Write for example <15 or "
        "[REDACTED].",
    ),
]


class Release(Section):
    """The releasable edition: a second report, all of whose numbers follow a rounding policy."""

    policy: str = Field(min_length=1)
    """The rounding policy: the name of a file in config/rounding, or the path of a file of your own, which ends in
    `.yaml`."""
    seed: Annotated[str, Field(min_length=MIN_SEED, max_length=200)] | None = Field(
        None,
        repr=False,
        description="The secret from which a policy with random rounding draws, the same for all releases of the same "
        f"data. At least {MIN_SEED} characters. Required by these policies, not allowed with others.",
    )
    after: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=MAX_EDITIONS)] = ()
    """The earlier releasable editions of the same data, each as its folder `releasable` or as the sealed `.zip` file
    that has it. Nothing new may follow from all editions together."""
    known: tuple[Literal["puf", "eif"], ...] = ("puf",)
    """The files whose records, by stratum, the public can count. The audit takes these counts as known exactly."""

    @property
    def path(self) -> str | None:
        """The path of the policy, relative to the study file; None for a bundled policy."""
        return self.policy if self.policy.endswith((".yaml", ".yml")) else None

    @property
    def edition_files(self) -> dict[tuple[int, str], str]:
        """The paths of the earlier editions, by position from 0 and file; that of a sealed file has an empty name."""
        return {
            (at, name): f"{edition.rstrip('/')}/{name}" if name else edition
            for at, edition in enumerate(self.after)
            for name in ([""] if edition.endswith(".zip") else EDITION_FILES)
        }

    @property
    def named_files(self) -> dict[tuple[str | int, ...], str]:
        """The files that the section names, as written, by their location in the study file."""
        files: dict[tuple[str | int, ...], str] = {}
        if self.path is not None:
            files["release", "policy"] = self.path
        for (at, name), path in self.edition_files.items():
            files["release", "after", at, *([name] if name else [])] = path
        return files

    @model_validator(mode="after")
    def _names_differ(self) -> Release:
        refuse_repeats(self.after, "after")
        refuse_repeats(self.known, "known")
        return self


class Small(Section):
    """The counts that are too small to be published."""

    below: int = Field(ge=2, le=10_000)
    """The smallest count that is not small."""
    shown: Shown
    """What is published of a small count, for example `<15` or `[REDACTED]`."""

    @model_validator(mode="after")
    def _says_what_it_does(self) -> Small:
        if self.shown.startswith("<") and self.shown != f"<{self.below}":
            raise ValueError(f"`.shown` must be `<{self.below}`, as `below` is {self.below}. Correct one of the two.")
        return self


class Band(Section):
    """The rounding of counts up to a limit."""

    up_to: int | None = Field(None, ge=1)
    """The largest count of the band. Absent in the last band, and only there."""
    nearest: int | None = Field(None, ge=1, le=100_000)
    """The base to whose multiples counts are rounded. Exactly one of this and `significant_digits`."""
    significant_digits: int | None = Field(None, ge=1, le=12)
    """The number of significant digits to which counts are rounded."""

    @model_validator(mode="after")
    def _one_rule(self) -> Band:
        if (self.nearest is None) == (self.significant_digits is None):
            raise ValueError("must have exactly one of `nearest` and `significant_digits`. Correct the band.")
        return self


class Protect(Section):
    """The share of its interval that an audited count must keep."""

    small: float = Field(1.0, ge=0, le=1)
    """For a small count: the width of what can be derived about it, as a share of the interval that the policy itself
    gives."""
    rounded: float = Field(0.5, ge=0, le=1)
    """The same for a rounded count."""


class RateRule(Section):
    """The publication of rates of rounded counts."""

    decimals: int = Field(1, ge=0, le=4)
    """Decimals of a rate in per cent. Tables have rates as fractions, with two decimals more."""


class CutPointRule(Section):
    """The publication of cut points."""

    significant_digits: int | None = Field(None, ge=1, le=12)
    """Their significant digits. If absent: as they are, which only `exact` may do."""


class Step(NamedTuple):
    """Counts from `low` to `high` that are rounded to multiples of `unit`."""

    low: int
    high: int
    unit: int


class Policy(Section):
    """A file of a rounding policy."""

    title: Line
    """What the policy is called in an edition."""
    version: int = Field(ge=1)
    """The version of the file; increase it with every change."""
    source: Paragraph
    """The public source of the rules."""
    scope: Paragraph
    """One paragraph for every edition: what was done to the numbers, and why."""
    rounding: Literal["nearest", "midpoint", "random", "exact"]
    """How a count becomes a multiple of its base: `nearest`, with ties to the even multiple; `midpoint`, the middle of
    its class from one multiple to the next; `random`, one of the two multiples around it; or `exact`, not at all."""
    small: Small | None = None
    """The counts of which no number is published. If absent: there are none."""
    zero: Literal["small", "shown"] = "shown"
    """Whether 0 is published as a small count is, or as the number that 0 is rounded to, 0."""
    bands: tuple[Band, ...] = Field((), max_length=20)
    """The bands of counts, the smallest first. Required unless `exact`."""
    protect: Protect = Field(default_factory=Protect)
    """What the audit must leave open."""
    rates: RateRule = Field(default_factory=RateRule)
    """How rates are published."""
    extremes: Literal["suppressed", "shown"] = "suppressed"
    """Whether rates that would be published as 0 % or 100 % are published."""
    cut_points: CutPointRule = Field(default_factory=CutPointRule)
    """How cut points are published."""
    intervals: Literal["rounded", "absent"] = "rounded"
    """Whether the conditional rate has an interval, which is of the rounded counts, by the study's method. The edition
    of a study with clustered intervals has none. Source: METHODS §11.1."""
    internal: bool = False
    """Whether every page says that the edition must not leave the agency. Required with `exact`."""

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The classes of counts that are rounded alike, the smallest first, up to :data:`MAX_COUNT`."""
        low = 0 if self.small is None else self.small.below
        steps: list[Step] = []
        for band in self.bands or (Band(nearest=1),):
            high = min(band.up_to or MAX_COUNT, MAX_COUNT)
            while low <= high:
                end, unit = high, band.nearest
                if unit is None:
                    digits = len(str(low))
                    end, unit = (min(high, 10**digits - 1), 10 ** max(0, digits - (band.significant_digits or 0)))
                steps.append(Step(low, end, unit))
                low = end + 1
        return tuple(steps)

    def lower(self, count: int, unit: int) -> int:
        """Return the smallest number as which a count can be published."""
        if self.rounding == "midpoint":
            return -(-count // unit) * unit - unit // 2 if count else 0
        return nearest(count, unit) if self.rounding == "nearest" else count // unit * unit

    @model_validator(mode="after")
    def _bands_fit(self) -> Policy:
        if (self.rounding == "exact") == bool(self.bands):
            raise ValueError("`.bands` must be given unless `rounding` is `exact`. Correct one of the two.")
        alone = len(self.bands) == 1 and self.bands[0].nearest is not None
        if self.rounding in {"midpoint", "random"} and not alone:
            raise ValueError(
                f"`.bands` must be one band with `nearest` if `rounding` is `{self.rounding}`. Remove the others."
            )
        ends = [band.up_to for band in self.bands]
        if None in ends[:-1] or (ends and ends[-1] is not None):
            raise ValueError("`.bands` must have `up_to` in every band but the last. Correct the bands.")
        limits = [-1 if self.small is None else self.small.below - 1, *(end for end in ends if end is not None)]
        for at, (before, after) in enumerate(itertools.pairwise(limits), start=1):
            if after <= before:
                raise ValueError(
                    f"`.bands[{at}].up_to` must be greater than {before}, the largest count before it. Correct it."
                )
        return self

    @model_validator(mode="after")
    def _zero_fits(self) -> Policy:
        if self.zero == "small" and self.small is None:
            raise ValueError("`.zero` must be `shown` in a policy without `small`. Correct it, or add `small`.")
        if self.small is not None and self.rounding == "exact":
            raise ValueError("`.small` must not be given if `rounding` is `exact`. Remove it.")
        if self.small is not None and not self.lower(self.small.below, self.steps[0].unit):
            raise ValueError(
                f"`.small.below` must be so large that {self.small.below} is not published as 0. Increase it."
            )
        return self

    @model_validator(mode="after")
    def _keeps_the_order(self) -> Policy:
        """Refuse bands that publish a larger count as a smaller number, which misleads readers."""
        for step, successor in itertools.pairwise(self.steps):
            pair = self.lower(step.high, step.unit), self.lower(successor.low, successor.unit)
            if self.rounding == "nearest" and pair[0] > pair[1]:
                raise ValueError(
                    f"`.bands` must keep the order of counts, but {step.high} becomes {pair[0]} and {successor.low} "
                    f"becomes {pair[1]}. Correct `up_to`."
                )
        return self

    @model_validator(mode="after")
    def _exact_is_internal(self) -> Policy:
        if self.rounding == "exact" and not self.internal:
            raise ValueError("`.internal` must be `true` if `rounding` is `exact`. Add it.")
        if self.rounding != "exact" and self.cut_points.significant_digits is None:
            raise ValueError("`.cut_points.significant_digits` is missing. Write for example 2.")
        return self


def nearest(count: int, unit: int) -> int:
    """Return the multiple of a unit that is nearest to a count; of two equally near ones, the even multiple."""
    multiple, remainder = divmod(count, unit)
    return (multiple + (2 * remainder > unit or (2 * remainder == unit and multiple % 2 == 1))) * unit
