"""The section `file_risk.population_models` of a study file (METHODS §7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from reident.sections.base import Section, one_or_many, refuse_repeats, refuse_strangers, word_or
from reident.sections.files import Name, Names

Interaction = Annotated[tuple[Name, ...], Field(min_length=2)]
LogLinear = Annotated[
    Annotated[Literal["main", "two-way"], Tag("word")]
    | Annotated[tuple[Interaction, ...], Field(min_length=1), Tag("list")],
    Discriminator(word_or("list")),
]
"""A log-linear model: of main effects, of all two-way interactions, or of main effects and these interactions."""


class PopulationModels(Section):
    """Models of the population from which the file was drawn."""

    log_linear: Annotated[tuple[LogLinear, ...], Field(min_length=1, max_length=12)] = ("main", "two-way")
    """The log-linear models; a list of interactions, such as `[[age, sex], [age, region]]`, is one too.
    Source: METHODS §7.3."""
    household: Annotated[Names | None, BeforeValidator(one_or_many(str))] = None
    """The column or columns of the file that identify a household. If absent: the risk of households is not computed.
    Source: METHODS §7.2."""
    seed: int = Field(1, ge=0)
    """The seed for simulating the files from which the intervals of log-linear models come."""

    def check(self, names: Sequence[str]) -> None:
        """Refuse a model with interactions of other variables than those of the key."""
        for number, model in enumerate(self.log_linear, start=1):
            place = f"`.file_risk.population_models.log_linear[{number}]`"
            for interaction in () if isinstance(model, str) else model:
                refuse_repeats(interaction, "log_linear")
                refuse_strangers(interaction, names, f"{place} must have interactions of key variables")
