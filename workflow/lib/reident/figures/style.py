"""The one visual language of the report's figures, and figures as SVG that never differ between runs.

Colours are told apart by every kind of colour vision and in grey; shape or place always says the
same as the colour. Letters are drawn as paths, so that no font of the machine matters.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape as escape_xml
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.tables.wording import plain

INK = "#1d2733"
MUTED = "#5b6670"
RULE = "#dfe3e8"
CONFIRMED = "#0b3d62"
SUSPECTED = "#8db4d2"
AMBIGUOUS = "#dcd6c8"
LIMIT = "#b3441e"
WIDTH = 6.4
"""Inches: the measure of the page."""

LINES = {
    "unicity": ("#0b3d62", "o", "-"),
    "taxicab": ("#c05a1c", "s", "-"),
    "euclidean": ("#1b8a6b", "^", "-"),
    "adhoc": ("#8a5aa8", "D", "-"),
    "winkler": ("#7a6a00", "v", "-"),
}
"""Colour, marker and stroke of a metric where several share an axis."""

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
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
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
    "ytick.major.size": 0,
}


class Figure(NamedTuple):
    """A drawing, what it shows in words, and its caption in Markdown."""

    svg: str
    alt: str
    caption: str

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        about = {"alt": self.alt, "caption": self.caption, "isolated": True}
        return {"image/svg+xml": self.svg}, {"image/svg+xml": about}

    def __repr__(self) -> str:
        return self.alt


@contextmanager
def drawing(height: float, width: float = WIDTH) -> Iterator[Drawing]:
    """A blank drawing in the report's style, `width` × `height` inches; finish it inside the context."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield Drawing(figsize=(width, height), layout="constrained")


def finish(drawn: Drawing, alt: str, caption: str) -> Figure:
    """The drawing as SVG without a date, a name of the program or a comment.

    Parameters
    ----------
    drawn : matplotlib.figure.Figure
    alt : str
        What the figure shows, in words and numbers.
    caption : str
        Markdown.
    """
    stream = io.StringIO()
    drawn.savefig(
        stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    alt = plain(alt, len(alt))
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    label = f'<svg role="img" aria-label="{escape_xml(" ".join(alt.split()))}"'
    return Figure(svg.replace("<svg", label, 1), alt, caption)


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
    axes.spines["bottom"].set_visible(which == "y")
    (axes.set_xlim if which == "x" else axes.set_ylim)(0)


def rows(axes: Axes, labels: Sequence[str]) -> None:
    """Names of the rows, the first on top."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def key(axes: Axes, **options: Any) -> None:
    """A legend in one line between the title and the axes, of what the axes have labelled."""
    handles, labels = axes.get_legend_handles_labels()
    legend = axes.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(labels), handlelength=1.1,
        handletextpad=0.5, columnspacing=1.4, borderaxespad=0.3, borderpad=0, fontsize=7, labelcolor=INK, **options,
    )  # fmt: skip
    legend.set_zorder(6)


def shared_key(drawn: Drawing, axes: Axes) -> None:
    """A legend over all panels, of what one of them has labelled."""
    handles, labels = axes.get_legend_handles_labels()
    drawn.legend(
        handles, labels, loc="outside upper left", ncols=len(labels), handlelength=1.2, handletextpad=0.5,
        columnspacing=1.6, borderaxespad=0.2, fontsize=7.5, labelcolor=INK,
    )  # fmt: skip


def apart(drawn: Drawing, between: float = 0.06) -> None:
    """Room between panels, so that the numbers of their axes do not touch."""
    engine = drawn.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(wspace=between)
