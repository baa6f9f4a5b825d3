"""The languages in which a report can be written."""

from __future__ import annotations

from typing import Literal, get_args

Code = Literal["en", "de"]
"""The code of a language, as in BCP 47."""

LANGUAGES: tuple[str, ...] = get_args(Code)
DEFAULT_LANGUAGE: Code = "en"
