"""Make the columns of a table of a report from those of a result, as they are declared in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from reident.page.layout import ReportColumn
from reident.page.sentences import Sentences
from reident.page.wording import bold_cells, count_cells, fixed_cells, label_cells, number, rates, without_repeats

COUNTED = frozenset({"P", "U", "pairs", "smallest", "below_3", "below_5", "common_codes", "size", "rank"})
"""Counts whose names do not say it."""

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


def columns(
    lines: pd.DataFrame, text: Sentences, declared: str, width: str = "auto", *, group: str = ""
) -> list[ReportColumn]:
    """Return the columns of a table, as they are declared.

    Parameters
    ----------
    lines : pandas.DataFrame
        A result.
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
        heading = text(f"{group}.{key}" if group else key)
        table_columns.append(ReportColumn(heading, show(lines[name]), align, own_width or width))
    return table_columns
