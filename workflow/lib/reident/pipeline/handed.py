"""Settings on their way to a job: packed, so that the job imports what they need only when it asks for them."""

from __future__ import annotations

import pickle
from typing import Any


class Handed:
    """Settings that a job receives unseen: the report of Snakemake prints parameters, and labels are data."""

    def __init__(self, value: Any = None, packed: bytes | None = None) -> None:
        self._value, self._packed = value, packed

    @property
    def value(self) -> Any:
        """The settings, unpacked on first use."""
        if self._packed is not None:
            self._value, self._packed = pickle.loads(self._packed), None  # noqa: S301 - made by this run
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of: the settings as bytes."""
        return Handed, (None, pickle.dumps(self.value, protocol=4))

    def __repr__(self) -> str:
        """Return a text without the value."""
        return "the settings of the step"
