"""The findings of a validation: errors, warnings, and help for correcting them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import pandas as pd

from reident.errors import InputError


class Findings:
    """The errors and warnings of one study, each once, in the order in which they are found.

    Attributes
    ----------
    errors, warnings : dict
        By message, the message with the variant of which it is found first.
    hints : dict
        Lists of columns and tables of codes; they may name codes of categories, and belong on the terminal alone.
    variant : str
        The variant whose files are looked at; empty for the study itself.
    """

    def __init__(self) -> None:
        self.errors: dict[str, str] = {}
        self.warnings: dict[str, str] = {}
        self.hints: dict[str, str] = {}
        self.variant = ""

    def error(self, message: str) -> None:
        """Add an error."""
        self.errors.setdefault(message, self._of_variant(message))

    def warn(self, message: str) -> None:
        """Add a warning."""
        self.warnings.setdefault(message, self._of_variant(message))

    def warn_all(self, warnings: pd.DataFrame) -> None:
        """Add the warnings of a step, see :func:`reident.intake.severity.table`."""
        for message in warnings["warning"]:
            self.warn(message)

    def hint(self, text: str) -> None:
        """Add help for correcting an error."""
        self.hints.setdefault(text, self._of_variant(text))

    def _of_variant(self, message: str) -> str:
        return f"{message} (variant {self.variant})" if self.variant else message

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note an error of the block instead of raising it."""
        try:
            yield
        except InputError as error:
            self.error(str(error))

    def note_all(self, messages: Iterable[str]) -> None:
        """Add several errors."""
        for message in messages:
            self.error(message)
