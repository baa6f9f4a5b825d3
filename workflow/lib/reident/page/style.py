"""Define the style of the figures, and draw them as SVG that is the same in every run.

Colours differ for every kind of colour vision and in grey; shape or position always repeats what a colour says.
Letters are drawn as paths, in fonts of the report, so the fonts of the machine do not matter.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape as escape_xml
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.linkage.metrics import REGISTRY
from reident.page import fonts
from reident.page.wording import digits, fixed, plain, shorten

INK = "#1d2733"
MUTED = "#5b6670"
RULE = "#dfe3e8"
CONFIRMED = "#0b3d62"
SUSPECTED = "#8db4d2"
LIMIT = "#b3441e"
LINES = {name: metric.look for name, metric in REGISTRY.items()} | {"agreement": (INK, "X")}
"""Colour and marker of each metric, and of their agreement, where several share an axis."""

_MISSING = re.compile(r"Glyph \d+ .* missing from font")

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
"""Keyword arguments of matplotlib that say how something is drawn."""


def full(size: float, zorder: float = 3, **more: Any) -> Look:
    """Return the look of a mark in the colour of confirmed records."""
    return {"color": CONFIRMED, "markersize": size, "zorder": zorder, **more}


def hollow(size: float, zorder: float = 3, edge: str = MUTED, **more: Any) -> Look:
    """Return the look of a mark with an edge."""
    return {"color": "white", "markeredgecolor": edge, "markersize": size, "zorder": zorder, **more}


TICK: Look = {"color": SUSPECTED, "markersize": 9, "markeredgewidth": 1.3}
"""The look of the tick of one of many sets."""


POINTS = 72
"""Per inch: the unit of matplotlib's SVG."""

PAGE, PHONE = 6.4, 3.6
"""Width in inches of a drawing for a page and for a phone."""

NARROW = "application/vnd.reident.narrow+svg"
"""The media type of a figure's drawing for phones."""


class Figure(NamedTuple):
    """A drawing for pages and one for phones, with their alternative text and their caption in Markdown."""

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
    """A figure to draw on: its panels in reading order, and whether it is for phones."""

    drawn: Drawing
    panels: list[Axes]
    narrow: bool

    def left(self) -> list[Axes]:
        """Return the panels at the left edge, which name the rows."""
        places = [(axes, axes.get_subplotspec()) for axes in self.panels]
        return [axes for axes, place in places if place and place.is_first_col()]

    @property
    def letters(self) -> int:
        """Return how many characters of a row's label fit; more beside a single panel."""
        letters = 15 if self.narrow else 26
        return letters if len(self.panels) > 1 else round(1.6 * letters)

    def rows(self, labels: Sequence[object]) -> None:
        """Label the rows of the panels at the left edge."""
        for axes in self.left():
            rows(axes, labels, self.letters)

    def key(self) -> None:
        """Draw a legend above all panels, with the labels of the first."""
        handles, labels = self.panels[0].get_legend_handles_labels()
        widths = [len(label) + 5 for label in labels]  # with the marker
        if self.narrow:
            columns = len(labels) if sum(map(len, labels)) <= NARROW_LEGEND else 1
        else:
            columns = len(labels) if sum(widths) <= WIDE_LEGEND else max(1, WIDE_LEGEND // max(widths))
        self.drawn.legend(handles, labels, loc="outside upper left", ncols=columns, fontsize=7.5, **_LEGEND)

    def keys(self) -> None:
        """Draw a legend above each panel, with its own labels."""
        for axes in self.panels:
            handles, labels = axes.get_legend_handles_labels()
            look: Look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "fontsize": 7, "borderpad": 0}
            axes.legend(handles, labels, ncols=len(labels), **look, **_LEGEND)


NARROW_LEGEND = 36
"""Characters of a legend that fit on one line on a phone."""

WIDE_LEGEND = 92
"""Characters of a legend, with its markers, that fit on one line of a page."""


_LEGEND: Look = {
    "handlelength": 1.2,
    "handletextpad": 0.5,
    "columnspacing": 1.4,
    "borderaxespad": 0.3,
    "labelcolor": INK,
}


Panels = Mapping[str, Callable[[Axes], None]]
"""What draws each panel of a figure, by its title."""


def figure(
    draw: Callable[[Sheet], None] | Panels,
    *,
    panels: int = 1,
    height: float,
    alt: str,
    caption: str,
    across: int = 2,
    stacked: bool = False,
    between: float = 0.02,
    pad: float = 7,
    key: bool = False,
    xlabel: str = "",
    labels: Sequence[object] = (),
    **subplots: Any,
) -> Figure:
    """Draw a figure for pages, with its panels side by side, and for phones, with at most `across` in a row.

    Parameters
    ----------
    draw : callable or Panels
        ``draw(sheet)`` fills this number of `panels`.
    height : float
        Height in inches of a row of panels, or of all panels if `stacked`.
    alt, caption : str
        The content of the figure in words and numbers, and Markdown.
    stacked : bool
        Whether the panels are below each other on pages too.
    between : float
        Space between panels, as a share of their width; it keeps the numbers of their axes apart.
    pad : float
        Points between a panel and its title.
    labels : sequence
        The labels of the rows.
    key : bool
        Whether there is a legend above all panels; `xlabel` is the label below all of them.
    subplots
        For :meth:`matplotlib.figure.Figure.subplots`.
    """
    alt = plain(alt, len(alt))
    by_title = draw if isinstance(draw, Mapping) else {}
    panels = len(by_title) or panels

    def fill(sheet: Sheet) -> None:
        for axes, (title, draw_panel) in zip(sheet.panels, by_title.items(), strict=False):
            draw_panel(axes)
            axes.set_title(title, pad=pad)
        if not isinstance(draw, Mapping):
            draw(sheet)
        if labels:
            sheet.rows(labels)
        if key:
            sheet.key()
        if xlabel:
            sheet.drawn.supxlabel(xlabel, fontsize=7.5, color=MUTED)

    grids = [(panels, 1)] * 2 if stacked else [(1, panels), (-(-panels // across), min(panels, across))]
    wide, narrow = (
        partial(_svg, fill, width, panels, grid, height * (1 if stacked else grid[0]), between, subplots)
        for width, grid in zip((PAGE, PHONE), grids, strict=True)
    )
    label, of_phone = f'<svg role="img" aria-label="{escape_xml(alt)}"', _beside(narrow)
    page, phone = (drawing().replace("<svg", label, 1) for drawing in (wide, of_phone))
    return Figure(page, phone, alt, caption)


def _beside(draw: Callable[[], str]) -> Callable[[], str]:
    """Begin to draw in a copy of this process, if it only runs a report; return what waits, or draws if that failed."""
    if fonts.VARIABLE not in os.environ:
        return draw
    reading, writing = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # that other threads do not go on there
        child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            with os.fdopen(writing, "w", encoding="utf-8") as stream:
                stream.write(draw())
            os._exit(0)
        os._exit(1)
    os.close(writing)

    def wait() -> str:
        with os.fdopen(reading, encoding="utf-8") as stream:
            drawing = stream.read()
        return draw() if os.waitpid(child, 0)[1] else drawing

    return wait


def row_figure(
    draw: Callable[[Sheet], None] | Panels, labels: Sequence[object], *, extra: float = 0.0, **options: Any
) -> Figure:
    """Draw a figure of rows with these labels, by default with a legend; options are those of :func:`figure`.

    Its height is that of the rows, and `extra` inches.
    """
    height = height_of(len(labels)) + extra
    return figure(draw, labels=labels, **{"height": height, "across": 1, "sharey": True, "key": True} | options)


def _svg(
    draw: Callable[[Sheet], None],
    width: float,
    panels: int,
    grid: tuple[int, int],
    height: float,
    between: float,
    subplots: Look,
    font: str = "",
) -> str:
    """Return a drawing as SVG without date, program name, comments or effects of the user's settings.

    Where a letter has no glyph in the font of the figures, they are drawn again with that of the study too.
    """
    options = {name: value for name, value in subplots.items() if name != "width_ratios" or grid[1] == len(value)}
    with mpl.rc_context(), warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        mpl.rcParams["font.family"] = [*_STYLE["font.family"], *filter(None, [font])]
        engine = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=between, hspace=0.03)
        drawn = Drawing(figsize=(width, height), dpi=POINTS, layout=engine)
        FigureCanvasSVG(drawn)  # measures text as it is drawn
        axes_grid = list(drawn.subplots(*grid, squeeze=False, **options).flat)
        for axes in axes_grid[panels:]:
            axes.set_visible(False)
        sheet = Sheet(drawn, axes_grid[:panels], narrow=width == PHONE)
        draw(sheet)
        # Saving would draw everything once more, only to lay it out.
        engine.execute(drawn)
        drawn.set_layout_engine(None)
        stream = io.StringIO()
        no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        drawn.savefig(stream, format="svg", metadata=no_metadata)
    missing = [bool(_MISSING.match(str(warning.message))) for warning in messages]
    if any(missing) and not font and (more := fonts.of_kernel()):
        return _svg(draw, width, panels, grid, height, between, subplots, fonts.registered(more))
    for warning, is_missing in zip(messages, missing, strict=True):
        # Letters without a glyph in any font are drawn as placeholders; the table shows the letters themselves.
        if not is_missing:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    svg = stream.getvalue()
    return re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)


def percent_axis(axes: Axes, top: float, ticks: int = 4) -> None:
    """Make the horizontal axis one of shares from 0 to `top`, with light grid lines and few ticks."""
    axes.set_xlim(0, top)
    axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(percent_tick))
    axes.grid(visible=True, axis="x")
    axes.spines["bottom"].set_visible(False)


def percent_tick(value: float, _: int) -> str:
    """Return the label of a tick on an axis of shares."""
    return f"{digits(f'{100 * value:.6g}')} %"


def percent_ticks(axis: Any, ticks: int) -> None:
    """Make an axis one of shares with this number of ticks at most."""
    axis.set_major_locator(MaxNLocator(ticks))
    axis.set_major_formatter(FuncFormatter(percent_tick))


def limit_ticks(axes: Axes, limit: int, last: int) -> None:
    """Make the horizontal axis one of rank limits from 1 to `last`, with a tick at the one in force."""
    axes.set_xlim(0.3, last + 0.7)
    axes.set_xticks(sorted({1, limit, *range(5, last + 1, 5)} if last > 5 else range(1, last + 1)))


def stripe(draw: Callable[..., Any], at: float, half: float) -> Any:
    """Draw a grey stripe behind the results of the study itself, with `axvspan` or `axhspan` of axes."""
    return draw(at - half, at + half, color="#e9ecef", linewidth=0, zorder=0)


def name_beside(axes: Axes, name: str, at: tuple[float, float], offset: tuple[float, float], **look: Any) -> None:
    """Write the name of a mark at an offset in points, to the left of the mark if the offset is negative."""
    side = "right" if offset[0] < 0 else "left"
    axes.annotate(name, at, xytext=offset, textcoords="offset points", ha=side, color=CONFIRMED, **look)


def count_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis one of counts from 0, with light grid lines and thousands separators."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(4, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: fixed(value, 0)))
    axes.grid(visible=True, axis=which)
    axes.tick_params(axis=which, labelsize=7, labelcolor=MUTED)
    axes.spines["bottom"].set_visible(which == "y")
    (axes.set_xlim if which == "x" else axes.set_ylim)(0)


def share_axis(axes: Axes, top: float) -> None:
    """Make the vertical axis one of shares from 0 to `top`."""
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
    axes.grid(visible=True, axis="y")


def rows(axes: Axes, labels: Sequence[object], length: int) -> None:
    """Label the rows, the first at the top, with at most `length` characters each."""
    axes.set_yticks(range(len(labels)), [shorten(label, length) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", labelsize=7.5 if len(labels) <= MAX_SPACED_ROWS else 6.5)


def height_of(n: int) -> float:
    """Return the height in inches of a figure of `n` rows; many rows are closer together."""
    return max(1.3, 0.75 + n * (0.195 if n <= MAX_SPACED_ROWS else 0.155))


MAX_SPACED_ROWS = 16
"""Rows that a figure spaces widely; more rows are closer together."""
