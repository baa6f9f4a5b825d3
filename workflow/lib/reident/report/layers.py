"""Draw the marks of a figure at another rank limit, as SVG that replaces those of the study's own.

Only marks are drawn, in the places that matplotlib gave to the axes: one path for all marks of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from reident.report.wording import defined

OWN = "own-limit"
"""The beginning of the identifiers of the marks that a layer replaces."""

POINTS = 72
"""Per inch: the unit of matplotlib's SVG."""


class Layers(NamedTuple):
    """The marks of a figure at the rank limits 1, 2, …, for pages and for phones, and the alternative texts."""

    wide: tuple[str, ...]
    narrow: tuple[str, ...]
    alts: tuple[str, ...]


def tag_artists(artists: Iterable[Artist], name: str) -> None:
    """Mark artists as those that a layer replaces; `name` is unique in the drawing."""
    for at, artist in enumerate(artists):
        artist.set_gid(f"{OWN}-{name}-{at}")


class Places:
    """Places of marks in axes whose layout is final, in points from the upper left corner of the drawing."""

    def __init__(self, axes: Axes) -> None:
        # A drawing has POINTS pixels per inch, so pixels are points.
        height, box = axes.figure.bbox.height, axes.bbox
        self.left, self.top, self.right, self.bottom = box.x0, height - box.y1, box.x1, height - box.y0
        (self._x, _, self._origin), (_, rise, foot), _ = axes.transData.get_affine().get_matrix()
        self._y, self._head = -rise, height - foot

    def x(self, value: float) -> float:
        """Return the horizontal place of a value."""
        return self._origin + value * self._x

    def y(self, value: float) -> float:
        """Return the vertical place of a value."""
        return self._head + value * self._y

    def bar(self, start: float, end: float, row: float, height: float) -> str:
        """Return the outline of a bar, `height` in rows."""
        x, width = self.x(start), (end - start) * self._x
        tall = abs(height * self._y)
        return f"M{_n(x)} {_n(self.y(row) - tall / 2)}h{_n(width)}v{_n(tall)}h{_n(-width)}z"

    def line(self, start: float, end: float, row: float) -> str:
        """Return a horizontal line."""
        return f"M{_n(self.x(start))} {_n(self.y(row))}H{_n(self.x(end))}"

    def nothing(self, row: float) -> str:
        """Return a dash at the left edge, for a row without a value."""
        return f"M{_n(self.left + 2)} {_n(self.y(row))}h4"

    def upright(self, value: float) -> str:
        """Return a line through the whole height of the axes."""
        return f"M{_n(self.x(value))} {_n(self.top)}V{_n(self.bottom)}"

    def dot(self, value: float, row: float) -> str:
        """Return a line without length, which a round cap makes a dot."""
        return f"M{_n(self.x(value))} {_n(self.y(row))}h0"

    def rows(self, draw: Callable[..., str], *values: Iterable[float]) -> Iterator[str]:
        """Yield what `draw` returns for the values of each row and the row, where all of them are defined."""
        for row, ends in enumerate(zip(*values, strict=True)):
            if all(map(defined, ends)):
                yield draw(*ends, row)

    def diamond(self, value: float, row: float, size: float) -> str:
        """Return the outline of a diamond, `size` points from side to side of its square."""
        half = size / 2**0.5
        return (
            f"M{_n(self.x(value) - half)} {_n(self.y(row))}l{_n(half)} {_n(-half)}l{_n(half)} {_n(half)}"
            f"l{_n(-half)} {_n(half)}z"
        )


def path(parts: Iterable[str], **look: object) -> str:
    """Return outlines as one path with properties of SVG; empty without any."""
    outline = "".join(parts)
    if not outline:
        return ""
    return f"<path d='{outline}'{_style({'fill': 'none'} | look)}/>"


def words(text: str, x: float, y: float, **look: object) -> str:
    """Return a text at a place; the page's own fonts draw it."""
    return f"<text x='{_n(x)}' y='{_n(y)}'{_style(look)}>{escape(text)}</text>"


def _style(look: dict[str, object]) -> str:
    # As a style: the style sheet of matplotlib's drawings outranks attributes.
    properties = (f"{name.replace('_', '-')}:{value}" for name, value in look.items())
    return f" style='{';'.join(properties)}'"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
