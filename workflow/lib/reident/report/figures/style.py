"""The one visual language of the report's figures, and figures as SVG that never differ between runs.

Colours are told apart by every kind of colour vision and in grey; shape or place always says the
same as the colour. Letters are drawn as paths, so that no font of the machine matters.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from html import escape as escape_xml
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.report.wording import plain, shorten

INK = "#1d2733"
MUTED = "#5b6670"
RULE = "#dfe3e8"
CONFIRMED = "#0b3d62"
SUSPECTED = "#8db4d2"
AMBIGUOUS = "#dcd6c8"
LIMIT = "#b3441e"
LINES = {
    "unicity": ("#0b3d62", "o"),
    "taxicab": ("#c05a1c", "s"),
    "euclidean": ("#1b8a6b", "^"),
    "adhoc": ("#8a5aa8", "D"),
    "winkler": ("#7a6a00", "v"),
}
"""Colour and marker of a metric where several share an axis."""

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": False,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlepad": 7,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 7.5,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.solid_capstyle": "butt",
    "path.simplify": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "reident",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelsize": 7,
    "xtick.major.size": 0,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": 7.5,
    "ytick.major.pad": 6,
    "ytick.major.size": 0,
}


Look = dict[str, Any]
"""How matplotlib draws something."""


class Form(NamedTuple):
    """The room that a drawing has."""

    width: float
    narrow: bool


PAGE = Form(6.4, narrow=False)
PHONE = Form(3.6, narrow=True)
"""Inches: the measure of a page, and a phone's."""

NARROW = "application/vnd.reident.narrow+svg"
"""The kind of output that holds a figure's drawing for phones."""


class Figure(NamedTuple):
    """A drawing for pages and one for phones, what they show in words, and their caption in Markdown."""

    svg: str
    narrow: str
    alt: str
    caption: str

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        about = {"alt": self.alt, "caption": self.caption, "isolated": True}
        return {"image/svg+xml": self.svg, NARROW: self.narrow}, {"image/svg+xml": about}

    def __repr__(self) -> str:
        return self.alt


class Sheet(NamedTuple):
    """What a figure is drawn on: its panels, in reading order, and whether they are a phone's."""

    drawn: Drawing
    panels: list[Axes]
    narrow: bool

    def left(self) -> list[Axes]:
        """The panels at the left edge, which name the rows."""
        places = [axes.get_subplotspec() for axes in self.panels]
        return [
            axes for axes, place in zip(self.panels, places, strict=True) if place and place.is_first_col()
        ]

    def key(self) -> None:
        """A legend over all panels, of what the first one has labelled."""
        handles, labels = self.panels[0].get_legend_handles_labels()
        fits = sum(map(len, labels)) <= NARROW_KEY if self.narrow else sum(map(_room, labels)) <= WIDE_KEY
        beside = 1 if self.narrow else max(1, WIDE_KEY // max(map(_room, labels)))
        columns = len(labels) if fits else beside
        self.drawn.legend(handles, labels, loc="outside upper left", ncols=columns, fontsize=7.5, **_KEY)

    def keys(self) -> None:
        """A legend over each panel, of what it has labelled."""
        for axes in self.panels:
            handles, labels = axes.get_legend_handles_labels()
            axes.legend(
                handles,
                labels,
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=len(labels),
                fontsize=7,
                borderpad=0,
                **_KEY,
            )


NARROW_KEY = 36
"""Letters of a legend that fit one line on a phone."""

WIDE_KEY = 92
"""Letters of a legend that fit one line on a page, with their marks."""


def _room(label: str) -> int:
    """The letters that a label of a legend takes with its mark."""
    return len(label) + 5


_KEY: Look = {
    "handlelength": 1.2,
    "handletextpad": 0.5,
    "columnspacing": 1.4,
    "borderaxespad": 0.3,
    "labelcolor": INK,
}


def figure(
    draw: Callable[[Sheet], None],
    *,
    panels: int = 1,
    height: float,
    alt: str,
    caption: str,
    across: int = 2,
    stacked: bool = False,
    between: float = 0.02,
    **subplots: Any,
) -> Figure:
    """Draw a figure for pages, its panels side by side, and for phones, at most `across` of them.

    Parameters
    ----------
    draw : callable
        ``draw(sheet)`` fills the panels.
    panels : int
    height : float
        Inches, of a row of panels, or of all if `stacked`.
    alt : str
        What the figure shows, in words and numbers.
    caption : str
        Markdown.
    across : int
        The most panels beside each other on a phone.
    stacked : bool
        Whether the panels stand one above the other on a page too.
    between : float
        Room between panels, as a share of their width, so that the numbers of their axes do not touch.
    subplots
        For :meth:`matplotlib.figure.Figure.subplots`.
    """
    alt = plain(alt, len(alt))
    page, phone = (1, panels), (-(-panels // across), min(panels, across))
    grids = [(panels, 1)] * 2 if stacked else [page, phone]
    wide, narrow = (
        _svg(draw, form, panels, grid, height * (1 if stacked else grid[0]), between, subplots)
        for form, grid in zip((PAGE, PHONE), grids, strict=True)
    )
    label = f'<svg role="img" aria-label="{escape_xml(alt)}"'
    return Figure(wide.replace("<svg", label, 1), narrow.replace("<svg", label, 1), alt, caption)


def _svg(
    draw: Callable[[Sheet], None],
    form: Form,
    panels: int,
    grid: tuple[int, int],
    height: float,
    between: float,
    subplots: Look,
) -> str:
    """A drawing as SVG without a date, the name of a program, a comment, or a trace of the user's settings."""
    options = {
        name: value for name, value in subplots.items() if name != "width_ratios" or grid[1] == len(value)
    }
    with mpl.rc_context(), warnings.catch_warnings():
        # A script without a font shows as the placeholder of its letters; the table has the letters themselves.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        engine = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=between, hspace=0.03)
        drawn = Drawing(figsize=(form.width, height), layout=engine)
        every = list(drawn.subplots(*grid, squeeze=False, **options).flat)
        for axes in every[panels:]:
            axes.set_visible(False)
        draw(Sheet(drawn, every[:panels], form.narrow))
        stream = io.StringIO()
        no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        drawn.savefig(stream, format="svg", metadata=no_metadata)
    svg = stream.getvalue()
    return re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)


def percent_axis(axes: Axes, top: float, ticks: int = 4) -> None:
    """A horizontal axis of shares from 0 to `top`, with light lines and few ticks."""
    axes.set_xlim(0, top)
    axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(percent_tick))
    axes.grid(visible=True, axis="x")
    axes.spines["bottom"].set_visible(False)


def percent_tick(value: float, _: int) -> str:
    """The number at a tick of an axis of shares."""
    return f"{100 * value:.6g} %"


def count_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """An axis of counts from 0, with light lines and thousands separators."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(4, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(visible=True, axis=which)
    axes.tick_params(axis=which, labelsize=7, labelcolor=MUTED)
    axes.spines["bottom"].set_visible(which == "y")
    (axes.set_xlim if which == "x" else axes.set_ylim)(0)


def share_axis(axes: Axes, top: float) -> None:
    """An upright axis of shares from 0 to `top`."""
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
    axes.grid(visible=True, axis="y")


def rows(axes: Axes, labels: Sequence[object], length: int) -> None:
    """Names of the rows, the first on top, at most `length` letters of each."""
    axes.set_yticks(range(len(labels)), [shorten(label, length) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", labelsize=7.5 if len(labels) <= ROOMY else 6.5)


def height_of(n: int) -> float:
    """Inches for so many rows: roomy where there are few, close where there are many."""
    return max(1.3, 0.75 + n * (0.195 if n <= ROOMY else 0.155))


def letters(sheet: Sheet) -> int:
    """How many letters of a row's name fit."""
    return 15 if sheet.narrow else 26


ROOMY = 16
"""More rows than these stand close."""
