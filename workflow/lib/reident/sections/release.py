"""The section `release` of a study file, and the files of rounding policies (METHODS §11)."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from reident.sections.base import Line, Paragraph, Pattern, Section, refuse_repeats

MAX_COUNT = 10**12
"""The largest count that a policy publishes."""

MIN_SEED = 16
"""Characters of a seed: a shorter one could be found by trying."""

MAX_EDITIONS = 20
"""Earlier editions that a study can name."""

RECORD = "edition.json"
"""What the folder of an edition has for programs."""

OLD_KEYS = ("cut_points", "extremes", "intervals", "rates")
"""Keys of policies about numbers that editions no longer have. They change nothing: what an agency has approved stays
as it is."""


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
    """The releasable edition: a short public statement, all of whose numbers follow a rounding policy."""

    policy: str = Field(min_length=1)
    """The rounding policy: the name of a file in config/rounding, or the path of a file of your own, which ends in
    `.yaml`."""
    seed: Annotated[str, Field(min_length=MIN_SEED, max_length=200)] | None = Field(
        None,
        repr=False,
        description="The secret from which a policy with random rounding draws, the same for all editions of the same "
        f"data. At least {MIN_SEED} characters. Required by these policies, not allowed with others.",
    )
    after: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=MAX_EDITIONS)] = ()
    """The earlier editions about the same people, each as its folder `releasable` or as the `.zip` file that has it.
    What they tell is public: the new edition starts from there, or tells nothing."""
    strata: bool = False
    """Whether the statement also has the records found by any metric in each stratum."""
    one_to_one: bool = True
    """Whether readers may take it that no two released records are of one person. If they may not, the statement can
    tell more."""
    released_means: Literal["within"] | None = None
    """`within` if the file is released only when it is within all limits: the release itself then tells that, and
    the statement takes it as public."""

    @model_validator(mode="before")
    @classmethod
    def _has_no_old_key(cls, data: Any) -> Any:
        if isinstance(data, dict) and "known" in data:
            raise ValueError(
                "`.known` must not be given: an edition now holds against readers who have both files, whatever they "
                "count in them. Remove it."
            )
        if isinstance(data, dict) and data.get("policy") == "none":
            raise ValueError(
                "`.policy` must not be `none`, which rounds nothing: the internal report has the exact numbers. Choose "
                "a policy that rounds."
            )
        return data

    @property
    def path(self) -> str | None:
        """The path of the policy, relative to the study file; None for a bundled policy."""
        return self.policy if self.policy.endswith((".yaml", ".yml")) else None

    @property
    def edition_files(self) -> tuple[str, ...]:
        """The paths of the earlier editions: of a folder, that of its statement."""
        return tuple(
            edition if edition.endswith(".zip") else f"{edition.rstrip('/')}/{RECORD}" for edition in self.after
        )

    @property
    def named_files(self) -> dict[tuple[str | int, ...], str]:
        """The files that the section names, as written, by their location in the study file."""
        files: dict[tuple[str | int, ...], str] = {}
        if self.path is not None:
            files["release", "policy"] = self.path
        return files | {("release", "after", at): path for at, path in enumerate(self.edition_files)}

    @model_validator(mode="after")
    def _names_differ(self) -> Release:
        refuse_repeats(self.after, "after")
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
    """The share of the interval of one text that every count must keep."""

    small: float = Field(1.0, ge=0, le=1)
    """For the text of small counts: how far apart the smallest and the largest possible count must stay, as a share of
    the distance of the ends that the text itself has."""
    rounded: float = Field(0.5, ge=0, le=1)
    """The same for a rounded count."""


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
    rounding: Literal["nearest", "midpoint", "random"]
    """How a count becomes a multiple of its base: `nearest`, ties to even; `midpoint`, the middle of its class; or
    `random`, one of the two multiples around it."""
    small: Small | None = None
    """The counts of which no number is published. If absent: there are none."""
    zero: Literal["small", "shown"] = "shown"
    """Whether 0 has the text of a small count, or that of the number that 0 is rounded to, 0. No statement tells that a
    count is 0."""
    bands: tuple[Band, ...] = Field(min_length=1, max_length=20)
    """The bands of counts, the smallest first."""
    protect: Protect = Field(default_factory=Protect)
    """What a statement must leave open of every count."""

    @model_validator(mode="before")
    @classmethod
    def _drops_old_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if data.get("rounding") == "exact" or data.get("internal"):
            raise ValueError(
                "must round: exact counts must not leave, and the internal report has them. Choose `nearest`, "
                "`midpoint` or `random`, and remove `internal`."
            )
        return {key: value for key, value in data.items() if key not in OLD_KEYS}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The classes of counts that are rounded alike, the smallest first, up to :data:`MAX_COUNT`."""
        low = 0 if self.small is None else self.small.below
        steps: list[Step] = []
        for band in self.bands:
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
        alone = len(self.bands) == 1 and self.bands[0].nearest is not None
        if self.rounding in {"midpoint", "random"} and not alone:
            raise ValueError(
                f"`.bands` must be one band with `nearest` if `rounding` is `{self.rounding}`. Remove the others."
            )
        ends = [band.up_to for band in self.bands]
        if None in ends[:-1] or ends[-1] is not None:
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
    def _frees_a_record(self) -> Policy:
        if self.margin < 1:
            raise ValueError(
                "`.bands` must round every count that is not small, so that no record is certain: `nearest` from 2, "
                "for `midpoint` from 4. Increase the base."
            )
        return self

    @property
    def margin(self) -> int:
        """How many records stay free, M: half of the narrowest rounded text. Source: METHODS §11.1."""
        unit = min(step.unit for step in self.steps)
        return {"nearest": unit // 2, "midpoint": (unit - 1) // 2, "random": unit - 1}[self.rounding]


def nearest(count: int, unit: int) -> int:
    """Return the multiple of a unit that is nearest to a count; of two equally near ones, the even multiple."""
    multiple, remainder = divmod(count, unit)
    return (multiple + (2 * remainder > unit or (2 * remainder == unit and multiple % 2 == 1))) * unit
