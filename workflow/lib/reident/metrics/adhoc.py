"""Adhoc: the sum of scores 0…5 that the study defines for each variable (METHODS §4.4)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from reident.exact import SCALE
from reident.metrics.contract import Metric, Scored, Setting
from reident.section import Section

if TYPE_CHECKING:
    from reident.pairing import Pairing

Score = Annotated[Decimal, Field(ge=0, le=5, decimal_places=12)]


class Band(Section):
    """A band of differences between the two values of a numeric variable."""

    within: float = Field(ge=0, description="The largest difference of the band, itself included.")
    score: Score = Field(description="The score of a pair in the band, 0 to 5.")
    relative: bool = Field(
        False, description="Whether `within` is a share of the absolute value in the public use file."
    )


class Cell(Section):
    """The score of one pair of categories."""

    puf: str = Field(description="The category in the public use file, after recoding.")
    eif: str = Field(description="The category in the external intruder file, after recoding.")
    score: Score = Field(description="The score of the pair, 0 to 5.")


class VariableScore(Section):
    """How one linking variable is scored: exactly one of `exact`, `bands`, `table`, `function`."""

    exact: bool = Field(False, description="5 where the two values are equal, otherwise 0; also written `exact`.")
    bands: tuple[Band, ...] | None = Field(
        None, min_length=1, description="Numeric variables: the narrowest band that holds the difference counts."
    )
    beyond: Score = Field(Decimal(0), description="The score of a difference outside every band.")
    table: tuple[Cell, ...] | None = Field(
        None, min_length=1, description="Categorical variables: the score by pair of categories."
    )
    otherwise: Score = Field(Decimal(0), description="The score of a pair of categories that the table does not name.")
    function: str | None = Field(
        None,
        pattern=r"^[A-Za-z_]\w*:[A-Za-z_]\w*$",
        description="`module:name`, a vectorised function in a Python file beside the study file.",
    )
    sha256: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="The approved SHA-256 of that Python file; without it nothing runs."
    )

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"exact": True} if value == "exact" else value

    @model_validator(mode="after")
    def _one_rule(self) -> VariableScore:
        rules = [self.exact, self.bands is not None, self.table is not None, self.function is not None]
        if sum(rules) != 1:
            raise ValueError("takes exactly one of `exact`, `bands`, `table` and `function`.")
        if self.function is not None and self.sha256 is None:
            raise ValueError("a scoring function needs the `sha256` of its file, so that it is the approved one.")
        if self.bands is not None and len({(band.within, band.relative) for band in self.bands}) < len(self.bands):
            raise ValueError("two bands have the same `within`; keep one of them.")
        if self.table is not None and len({(cell.puf, cell.eif) for cell in self.table}) < len(self.table):
            raise ValueError("a pair of categories stands twice in the table; keep one of the two.")
        return self


class Options(Section):
    """Adhoc metric."""

    scores: dict[str, VariableScore] = Field(
        default_factory=dict,
        description="By linking variable: `exact`, `{bands: [{within, score}, …]}`, `{table: [{puf, eif, score}, …]}` "
        "or `{function: module:name, sha256: …}`. Undeclared variables: categorical `exact`, numeric bands in "
        "standard deviations of the public use file. Source: METHODS §4.4.",
    )


DEFAULT_BANDS = ((0.1, 5), (0.25, 4), (0.5, 3), (1.0, 2), (2.0, 1))
"""(within, score) in standard deviations of the public use file, for undeclared numeric variables."""


def score(pairing: Pairing, options: Options, setting: Setting) -> Scored:
    raise NotImplementedError


METRIC = Metric("adhoc", "Adhoc", Options, "prepared", ranked=True, best="high", score=score)
