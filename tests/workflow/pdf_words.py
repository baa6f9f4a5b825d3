"""Where the words of a PDF stand: enough of its text model to tell whether one leaves its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdf import PageObject
from pypdf.generic import ArrayObject, ByteStringObject, ContentStream, TextStringObject


class Run(NamedTuple):
    """Glyphs that one operator shows, from left to right, in points from the page's lower left corner."""

    left: float
    right: float
    base: float


Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1, 0, 0, 1, 0, 0)


def times(first: Matrix, then: Matrix) -> Matrix:
    """The matrix that does the first and then the other."""
    a, b, c, d, e, f = first
    A, B, C, D, E, F = then
    return (
        a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F,
    )  # fmt: skip


class _Font:
    """The widths of a composite font's two-byte glyphs, in thousandths of its size."""

    def __init__(self, font: Any) -> None:
        descendant = font["/DescendantFonts"][0].get_object()
        self.usual = float(descendant.get("/DW", 1000))
        self.widths: dict[int, float] = {}
        parts = iter(descendant.get("/W", []))
        for first in parts:
            second = next(parts)
            second = second.get_object()
            if isinstance(second, ArrayObject):
                self.widths.update({int(first) + at: float(width) for at, width in enumerate(second)})
            else:
                width = float(next(parts))
                self.widths.update(dict.fromkeys(range(int(first), int(second) + 1), width))

    def width(self, shown: bytes) -> float:
        """The advance of a string of glyphs."""
        glyphs = [int.from_bytes(shown[at : at + 2], "big") for at in range(0, len(shown), 2)]
        return sum(self.widths.get(glyph, self.usual) for glyph in glyphs)


def runs(page: PageObject) -> Iterator[Run]:
    """The runs of glyphs of a page. Figures, whose letters are paths, have none."""
    fonts = {name: _Font(font.get_object()) for name, font in page["/Resources"].get("/Font", {}).items()}
    state, stack = UNIT, []
    text = line = UNIT
    font, size = None, 1.0
    for operands, operator in ContentStream(page.get_contents(), page.pdf).operations:
        match operator:
            case b"q":
                stack.append((state, font, size))
            case b"Q":
                state, font, size = stack.pop()
            case b"cm":
                state = times(tuple(map(float, operands)), state)
            case b"BT":
                text = line = UNIT
            case b"Tf":
                font, size = fonts[operands[0]], float(operands[1])
            case b"Tm":
                text = line = tuple(map(float, operands))
            case b"Td":
                text = line = times((1, 0, 0, 1, *map(float, operands)), line)
            case b"Tj" | b"TJ":
                width = _advance(operands[0], font) * size / 1000
                whole = times(text, state)
                end = times((1, 0, 0, 1, width, 0), whole)
                yield Run(min(whole[4], end[4]), max(whole[4], end[4]), whole[5])
                text = times((1, 0, 0, 1, width, 0), text)
            case b"T*" | b"TD" | b"'" | b'"' | b"Tc" | b"Tw" | b"Tz":
                raise AssertionError(f"an operator that typst did not use when this was written: {operator!r}")


def _advance(shown: Any, font: _Font) -> float:
    parts = shown if isinstance(shown, ArrayObject) else [shown]
    return sum(font.width(_bytes(part)) if _is_text(part) else -float(part) for part in parts)


def _is_text(part: Any) -> bool:
    return isinstance(part, TextStringObject | ByteStringObject | bytes)


def _bytes(part: Any) -> bytes:
    return part.original_bytes if isinstance(part, TextStringObject) else bytes(part)
