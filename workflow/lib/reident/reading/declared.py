"""Declarations in a file of a statistical program: missing values, and labels that say so (METHODS §1).

Each column of text that is read from such a file has this beside it, as metadata of its field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

UNKNOWN = frozenset(
    {
        "unknown", "not stated", "not known", "not available", "not reported", "not ascertained", "not answered",
        "no answer", "no response", "nonresponse", "non-response", "refused", "refusal", "don't know", "dont know",
        "do not know", "n.s.", "none given", "not applicable", "inapplicable", "no data", "missing value",
        "k.a.", "k. a.", "keine angabe", "keine antwort", "unbekannt", "nicht angegeben", "nicht bekannt",
        "weiß nicht", "weiss nicht", "verweigert", "antwort verweigert", "trifft nicht zu", "fehlend",
        "inconnu", "non renseigné", "sans réponse", "non réponse", "ne sait pas", "refus", "non applicable",
        "onbekend", "geen antwoord", "weet niet", "weigert", "geweigerd", "niet van toepassing",
        "desconocido", "no sabe", "sin respuesta", "no responde", "no contesta", "ns/nc", "no aplica",
    }
)  # fmt: skip
"""Words that say that a value is not known."""

_WORDS = UNKNOWN | {"missing", "na", "n/a", "dk", "rf", "ref"}
_NUMBER = re.compile(r"^[-+]?\d+\s*[.):=-]?\s+")
_BETWEEN = re.compile(r"\s*(?:/|,|;|\(|\)|\bor\b|\boder\b|\bou\b|\bof\b|\bo\b)\s*")
_SPECIAL = re.compile(r"\.[A-Za-z_]")
_FIELD = b"declared"


def says_missing(label: str) -> bool:
    """Whether a label says that a value is not known, as "Refused", "98 Don't know" or "Refused / not stated" do."""
    text = _NUMBER.sub("", " ".join(label.replace("’", "'").casefold().split())).strip(" .!*()[]<>-")
    parts = [part for part in _BETWEEN.split(text) if part]
    return text in _WORDS or (bool(parts) and all(part.strip(" .") in _WORDS for part in parts))


class Declared(NamedTuple):
    """The codes of a column that its file declares to be missing.

    Attributes
    ----------
    ranges : sequence of pairs of float or str
        The first and the last code of each range of missing values.
    codes : sequence of float or str
        The codes whose labels say that a value is not known.
    special : bool
        Whether the program writes missing values of several kinds as ``.A`` or ``.a``.
    """

    ranges: Sequence[Sequence[float | str]] = ()
    codes: Sequence[float | str] = ()
    special: bool = False

    def __call__(self, value: str | float) -> bool:
        """Whether a code of the file, as text or as a number, is declared missing."""
        if self == NOTHING:
            return False
        number = value if isinstance(value, float) else _number(value)
        if self.special and isinstance(value, str) and _SPECIAL.fullmatch(value):
            return True
        for one in (value, number):
            for low, high in [*self.ranges, *((code, code) for code in self.codes)]:
                if type(one) is type(low) and low <= one <= high:  # type: ignore[operator]
                    return True
        return False

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers that are declared missing; bool (n,)."""
        result = np.zeros(len(values), bool)
        for low, high in [*self.ranges, *((code, code) for code in self.codes)]:
            if isinstance(low, float) and isinstance(high, float):
                result |= (values >= low) & (values <= high)
        return result

    def field(self, name: str) -> pa.Field:
        """Return the field of a column of text with this beside it."""
        plain = pa.field(name, pa.string())
        return plain.with_metadata({_FIELD: json.dumps(self)}) if self != NOTHING else plain

    @classmethod
    def read(cls, field: pa.Field) -> Declared:
        """Return the declaration of a column in a file."""
        stored = (field.metadata or {}).get(_FIELD)
        return NOTHING if stored is None else cls(*json.loads(stored))

    @classmethod
    def compose(
        cls, ranges: Sequence[Mapping[str, float | str]], labels: Mapping[float | str, str], *, special: bool
    ) -> Declared:
        """Return the declaration by ranges of missing values and labels of codes."""
        ends = [[_plain(one["lo"]), _plain(one["hi"])] for one in ranges]
        codes = [_plain(code) for code, label in labels.items() if says_missing(str(label))]
        return cls(ends, codes, special)


NOTHING = Declared()


def _plain(code: float | str) -> float | str:
    return code.strip() if isinstance(code, str) else float(code)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
