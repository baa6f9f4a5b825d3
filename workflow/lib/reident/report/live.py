"""Mark what the HTML page shows at other rank limits, explains or links (METHODS §5, §6).

The marks are attributes of phrases in Markdown. The PDF, the notebook, paper and a browser without scripts show the
phrases themselves, which are those of the study's own rank limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.report.layout import Column
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.wording import (
    bold_cells,
    count_cells,
    fixed_cells,
    label_cells,
    number,
    rates,
    without_repeats,
)

STATES = "application/vnd.reident.rank-limits+json"
"""The media type of the output that names the rank limits of the slider."""

SEPARATOR = ";"
"""Between the texts of a phrase, one for each rank limit from 1; no number contains it in any language."""

COUNTS = ("n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "n_confirmed_pairs", "expected_correct")
"""What `confirmed/{metric}.limits.csv` has for every rank limit."""

COUNTED = frozenset({"P", "U", "pairs", "smallest", "below_3", "below_5", "common_codes", "size", "rank"})
"""Counts whose names do not say it."""

RATIOS = {
    "suspected_rate": ("n_suspected", "n_puf"),
    "confirmed_rate": ("n_confirmed", "n_puf"),
    "conditional_rate": ("n_confirmed", "n_suspected"),
    "expected_correct_rate": ("expected_correct", "n_suspected"),
    "pair_precision": ("n_confirmed_pairs", "n_pairs"),
}
"""The rates of these counts, which `rates.csv` has for the study's own rank limit."""

KEPT = ("n_puf", "n_eif", "n_links", "n_compared", "n_findable", "tolerance")
"""Columns of `rates.csv` that do not depend on the rank limit."""


Format = Callable[[Any], list[str]]
"""What returns the cells of a column of a result."""

FORMATS: dict[str, tuple[Format, str]] = {
    "count": (count_cells, "r"),
    "rate": (rates, "r"),
    "number": (lambda values: [number(value) for value in values], "r"),
    "decimal": (lambda values: fixed_cells(values, 1), "r"),
    "decimals": (lambda values: fixed_cells(values, 3), "r"),
    "cell": (list, "r"),
    "text": (list, "l"),
    "once": (lambda texts: without_repeats(list(texts)), "l"),
    "label": (label_cells, "l"),
    "bold": (bold_cells, "l"),
    "labels": (lambda labels: without_repeats(label_cells(labels)), "l"),
}
"""How a column is shown, and its alignment; texts and cells are Markdown already, and each is shown or shown once."""

_COLUMN = re.compile(r"(\w+)(?:=(\w+))?(?::(\w+))?(?:@(\S+))?")


class Slider(NamedTuple):
    """The rank limits that the page can show: from 1 to `last`; `own` is that of the study."""

    own: int
    last: int

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), STATES: self._asdict()}


class States(NamedTuple):
    """Lines of the rates at the study's own rank limit, and at every rank limit from 1.

    Attributes
    ----------
    lines : pandas.DataFrame
        Lines as in `rates.csv`.
    at : tuple of pandas.DataFrame
        The same lines at the rank limits 1, 2, …; empty where the study has no other. What the tables do not have for
        other limits is NaN there, also in the line of the own limit. Metrics without rank limit keep their line.
    live : tuple of bool
        Whether each line depends on the rank limit.
    """

    lines: pd.DataFrame
    at: tuple[pd.DataFrame, ...]
    live: tuple[bool, ...]

    def cells(self, show: Callable[[pd.DataFrame], Sequence[str]]) -> list[str]:
        """Return the cells of a column, which ``show(lines)`` returns, each with its text at every rank limit."""
        texts = show(self.lines)
        by_limit = [show(lines) for lines in self.at]
        return [
            at_limits(text, [texts_[line] for texts_ in by_limit]) if live else text
            for line, (text, live) in enumerate(zip(texts, self.live, strict=True))
        ]

    def column(self, name: str, show: Format) -> list[str]:
        """Return the cells of a column of the rates, which the tables may have for the study's own limit alone."""
        if name in COUNTS or name in RATIOS:
            return self.cells(lambda lines: show(lines[name]))
        return self.own_only(show(self.lines[name]))

    def own_only(self, texts: Iterable[str]) -> list[str]:
        """Return the cells of a column that the tables have for the study's own rank limit alone."""
        return [
            f"[{text}]{{.own-limit}}" if live and self.at and text else text
            for text, live in zip(texts, self.live, strict=True)
        ]


def columns(
    lines: pd.DataFrame | States, text: Sentences, declared: str, width: str = "auto", *, group: str = ""
) -> list[Column]:
    """Return the columns of a table, as they are declared.

    Parameters
    ----------
    lines : pandas.DataFrame or States
        A result; of :class:`States`, each cell has its text at every rank limit.
    text : Sentences
        Has the headings, in this `group`.
    declared : str
        Words such as ``heading=column:format@width``: the key of the heading, the column of the result where it has
        another name, one of :data:`FORMATS`, and a width other than `width`. Without a format, a column has counts if
        its name begins with ``n_`` or is in :data:`COUNTED`, and otherwise rates.
    width : str
    """
    table_columns = []
    for key, column, format_, own_width in _COLUMN.findall(declared):
        name = column or key
        show, align = FORMATS[format_ or ("count" if name.startswith("n_") or name in COUNTED else "rate")]
        cells = lines.column(name, show) if isinstance(lines, States) else show(lines[name])
        table_columns.append(
            Column(text(f"{group}.{key}" if group else key), cells, align, own_width or width)
        )
    return table_columns


def at_limits(text: str, texts: Sequence[str]) -> str:
    """Return a text with those that replace it at the rank limits 1, 2, …; unchanged where they are all the same."""
    if set(texts) <= {text}:
        return text
    if any(character in phrase for phrase in texts for character in f'{SEPARATOR}"|\\'):
        raise ValueError("a text at a rank limit must be a number")
    return f'[{text}]{{limits="{SEPARATOR.join(texts)}"}}'


def slider(results: Results) -> Slider | None:
    """Return the rank limits that the page can show; None where there is only one."""
    lasts = [
        int(results.table(path)["max_pairs"].max())
        for metric in results.ranked
        if (path := _path(results, metric))
    ]
    return Slider(results.max_pairs, min(lasts)) if lasts and min(lasts) > 1 else None


def _path(results: Results, metric: str) -> str | None:
    """Return the table of a metric's counts by rank limit; None where it has none, or no line."""
    path = f"confirmed/{metric}.limits.csv"
    return path if results.has(path) and len(results.table(path)) else None


def states(results: Results, lines: pd.DataFrame) -> States:
    """Return lines as in `rates.csv`, in any number and order and with `metric` and `stratum`, at every rank limit."""
    lines = lines.reset_index(drop=True)
    ranked = [metric for metric in results.ranked if _path(results, metric)]
    live = tuple(metric in ranked for metric in lines["metric"])
    limits = slider(results)
    if limits is None or not any(live):
        return States(lines, (), live)
    tables = [
        results.of_strata(str(_path(results, metric)), lines["stratum"]).assign(metric=metric)
        for metric in ranked
    ]
    counts = pd.concat(tables).set_index(["max_pairs", "metric", "stratum"])[list(COUNTS)].astype(float)
    return States(lines, tuple(_at(lines, np.array(live), counts, limits.last)), live)


def _at(lines: pd.DataFrame, live: np.ndarray, counts: pd.DataFrame, last: int) -> Iterator[pd.DataFrame]:
    """Return the lines at each rank limit from 1 to `last`, with its counts and the rates of these counts.

    All limits are computed at once, as arrays of one row per limit: a report has tens of thousands of such numbers.
    """
    places = lines.loc[live, ["metric", "stratum"]]
    index = pd.MultiIndex.from_arrays(
        [
            np.repeat(np.arange(1, last + 1), len(places)),
            *(np.tile(places[name], last) for name in ("metric", "stratum")),
        ],
        names=counts.index.names,
    )
    values = counts.reindex(index).to_numpy().reshape(last, len(places), len(COUNTS))
    columns = {}
    for name in lines.columns.drop(["metric", "stratum"]):
        columns[name] = np.tile(lines[name].to_numpy(float, na_value=np.nan), (last, 1))
        if name not in KEPT:
            columns[name][:, live] = np.nan
    for at, name in enumerate(COUNTS):
        columns[name][:, live] = values[:, :, at]
    for name, (part, whole) in RATIOS.items():
        parts, wholes = columns[part][:, live], columns[whole][:, live]
        columns[name][:, live] = np.divide(parts, wholes, out=np.full_like(parts, np.nan), where=wholes > 0)
    names = {name: lines[name] for name in ("metric", "stratum")}
    for at in range(last):
        yield pd.DataFrame(
            {name: names[name] if name in names else columns[name][at] for name in lines.columns}
        )
