"""The section `seal`, and the file of a sign-off (METHODS §10). No step takes either: they change no result."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from reident.sections.base import Day, Section

Line = Annotated[str, Field(min_length=1, max_length=2000)]


class Seal(Section):
    """The content of a sealed file beside the code, the ledger, the tables and the report."""

    inputs: Literal["hashes", "include"] = "hashes"
    """What the sealed file has of the source files: `hashes`, their SHA-256, sizes and numbers of rows, or
    `include`, also the files, as confidential as they are."""
    sign_with: Line | None = None
    """The SSH key that signs: a private key, or the public key of one that the agent of `ssh-add` holds; `~` is
    your home folder. If absent: the sealed file is not signed."""


class Signatory(Section):
    """A person who signs, or who was present."""

    name: Line
    """The name of the person."""
    role: Line
    """The role of the person, for example `chair`."""


class SignOff(Section):
    """The decision of a board on a sealed study."""

    board: Line
    """The board that decides."""
    decision: Literal["approved", "approved with conditions", "rejected"]
    """The decision on the release."""
    conditions: tuple[Line, ...] = ()
    """The conditions, one sentence each. Required with `approved with conditions`, and only there."""
    names: Annotated[tuple[Signatory, ...], Field(min_length=1)]
    """The persons who decided, each with a role."""
    date: Day
    """The date of the decision, YYYY-MM-DD."""

    @model_validator(mode="after")
    def _conditions_fit(self) -> SignOff:
        if bool(self.conditions) != (self.decision == "approved with conditions"):
            raise ValueError(
                "`.conditions` must be given with `approved with conditions`, and only there. Correct one of the two."
            )
        return self
