"""Models of the population: the estimates of each, beside the truth where it is known (METHODS §7.1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.filerisk.estimates import (
    BENEDETTI,
    CONTRADICTED,
    HOUSEHOLDS,
    IN_POPULATION,
    IN_SAMPLE,
    LOG_LINEAR,
    MATCHES,
    NOT_CONVERGED,
    OK,
    REIDENTIFICATIONS,
    SATURATED,
    SMALL_FRACTION,
    UNIQUENESS,
    UNSUPPORTED,
    WITHHELD,
)
from reident.filerisk.report import SUMMARY, file_name, quantity
from reident.page import style
from reident.page.columns import columns
from reident.page.common import in_order
from reident.page.layout import block, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.style import Figure, Look
from reident.page.wording import UNDEFINED, declared, defined, escape, fixed, without_unit

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk_models")
MODELS = "filerisk/population.csv"
RISK_CLASSES = "filerisk/individual_classes.csv"
QUANTITIES = (IN_SAMPLE, MATCHES, IN_POPULATION, REIDENTIFICATIONS, HOUSEHOLDS)
"""The quantities, in the order of the tables."""

CONTRADICTION = 3
"""Models contradict each other if their estimates of a quantity differ by more than this factor."""

TOO_HIGH = ("zayatz", "snb")
"""The models whose estimates are too high at small sampling fractions."""


def name_of(model: str) -> str:
    """Return the name of a model; interactions have the names of their variables."""
    named = TEXT.names("models")
    return TEXT(f"models.{model}") if model in named else model


def interval_of(low: float, high: float) -> str:
    """Return an interval of numbers of records."""
    return f"{fixed(low, 1)} – {fixed(high, 1)}" if defined(low) else UNDEFINED


def signed(value: float) -> str:
    """Return a number with two decimals and the sign of a negative one."""
    return fixed(value, 2).replace("-", "\u2212")


def _line(lines: pd.DataFrame, kind: str, quantity: str) -> pd.Series | None:
    """Return the line of the recommended model of a kind, or None without one."""
    chosen = lines[(lines["kind"] == kind) & (lines["quantity"] == quantity) & lines["recommended"]]
    return chosen.iloc[0] if len(chosen) else None


@block(MODELS, SUMMARY)
def models_findings(results: Results) -> str:
    """Explain the models, and report the estimates of the recommended ones and their reliability."""
    lines, assumption = results.table(MODELS), _given(results)
    return paragraphs(
        TEXT("premise", file=file_name(results)),
        items([_individual(results, lines), *_log_linear(lines), _uniqueness(lines)]),
        TEXT(f"assumptions.{assumption}"),
        _without_estimate(lines),
    )


def _given(results: Results) -> str:
    """Return where the sampling fraction comes from."""
    return "weights" if results.model.risk.weight else "declared"


def _individual(results: Results, lines: pd.DataFrame) -> str:
    """Say how many records, and households, the individual risks add up to, and how wrong the sum is."""
    sums = lines[lines["model"] == BENEDETTI].set_index("quantity")
    expected, truth = (sums.at[REIDENTIFICATIONS, name] for name in ("estimate", "truth"))
    fields = {"expected": fixed(expected, 1)}
    if not expected:
        side = "alone"
    elif defined(truth):
        side = "equal" if fixed(truth, 1) == fields["expected"] else "below" if expected < truth else "above"
        fields |= {} if side == "equal" else {"truth": fixed(truth, 1)}
    else:
        sparse = quantity(results, "U") > 0 and quantity(results, "f_cells") < 1
        side = "low" if sparse else "alone"
    texts = [TEXT(f"individual.{_given(results)}"), TEXT(f"individual.sum.{side}", **fields)]
    if HOUSEHOLDS in sums.index:
        texts.append(TEXT("households", expected=fixed(sums.at[HOUSEHOLDS, "estimate"], 1)))
    return " ".join(texts)


def _log_linear(lines: pd.DataFrame) -> list[str]:
    unique, match = _line(lines, LOG_LINEAR, IN_SAMPLE), _line(lines, LOG_LINEAR, MATCHES)
    if unique is None or match is None:
        return [TEXT("log_linear.none")]
    test = max(unique["test"], match["test"], key=abs)
    fields = {"model": escape(name_of(unique["model"])), "test": signed(test)}
    for name, line in (("unique", unique), ("match", match)):
        fields |= {name: fixed(line["estimate"], 1), f"{name}_interval": interval_of(line["low"], line["high"])}
    return [TEXT("log_linear.text", **fields)]


def _uniqueness(lines: pd.DataFrame) -> str:
    line = _line(lines, UNIQUENESS, IN_POPULATION)
    if line is None:
        return TEXT("uniqueness.none")
    return TEXT("uniqueness.text", model=name_of(line["model"]), estimate=fixed(line["estimate"], 1))


def _without_estimate(lines: pd.DataFrame) -> str | None:
    """Say why models have no estimate, interval or test, or are not recommended."""
    doubtful = lines[~lines["status"].isin([OK, WITHHELD])].drop_duplicates(["model", "status"])
    if doubtful.empty:
        return None
    return items(
        TEXT("status.line", model=escape(name_of(row.model)), reason=TEXT(f"status.{row.status}"))
        for row in doubtful.itertuples()
    )


@block(MODELS, SUMMARY)
def models_table(results: Results) -> str:
    """Show the estimates of each model, in a table for each kind of model, and the contradictory quantities."""
    lines = results.table(MODELS)
    small = quantity(results, "f_cells") <= SMALL_FRACTION
    ordered = in_order(lines, "quantity", QUANTITIES)
    contradictory = contradictions(ordered)
    return paragraphs(
        *(
            _of_kind(kind, ordered[ordered["kind"] == kind], set(contradictory), small=small)
            for kind in dict.fromkeys(lines["kind"])
        ),
        items(_contradiction(name, estimates) for name, estimates in contradictory.items()),
    )


def contradictions(lines: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the lines of each quantity whose estimates differ by more than :data:`CONTRADICTION`."""
    usable = lines[lines["estimate"].notna() & ~lines["status"].isin([NOT_CONVERGED, SATURATED])]
    return {
        str(name): estimates.sort_values("estimate", kind="stable")
        for name, estimates in usable.groupby("quantity", sort=False)
        if estimates["estimate"].max() > max(1, CONTRADICTION * estimates["estimate"].min())
    }


def _contradiction(name: str, lines: pd.DataFrame) -> str:
    ends = {"low": lines.iloc[0], "high": lines.iloc[-1]}
    return TEXT(
        "contradiction",
        quantity=TEXT(f"quantities.{name}"),
        **{end: fixed(line["estimate"], 1) for end, line in ends.items()},
        **{f"{end}_model": escape(name_of(line["model"])) for end, line in ends.items()},
    )


def _of_kind(kind: str, lines: pd.DataFrame, contradictory: set[str], *, small: bool) -> str:
    """Return the table of a kind of model, with the columns that it fills."""
    names = {name: TEXT(f"quantities.{name}") for name in lines["quantity"]}
    names |= {name: TEXT("contradicted", quantity=names[name]) for name in contradictory & set(names)}
    ends = zip(lines["low"], lines["high"], strict=True)
    cells = lines.assign(
        quantity=[names[name] for name in lines["quantity"]],
        model=[_labelled(row, small=small) for row in lines.itertuples()],
        interval=[interval_of(*pair) for pair in ends],
        test=[signed(value) for value in lines["test"]],
    )
    table_columns = [
        *columns(cells, TEXT, "quantity:once model:text", "1fr", group="columns"),
        *columns(cells, TEXT, "estimate:decimal", group="columns"),
        *(columns(cells, TEXT, "interval:cell", group="columns") if lines["low"].notna().any() else []),
        *(columns(cells, TEXT, "truth:decimal", group="columns") if lines["truth"].notna().any() else []),
        *(columns(cells, TEXT, "test:cell", group="columns") if lines["test"].notna().any() else []),
    ]
    caption = TEXT(f"captions.{kind}")
    if any(_is_too_high(row, small=small) for row in lines.itertuples()):
        caption = TEXT("captions.uniqueness_small", caption=caption)
    if any(_is_withheld(row) for row in lines.itertuples()):
        caption = TEXT("captions.withheld", caption=caption)
    return table(caption, *table_columns, kind="compact")


def _labelled(row: Any, *, small: bool) -> str:
    name = escape(name_of(row.model))
    if row.recommended:
        return TEXT("recommended", model=name)
    if _is_too_high(row, small=small):
        return TEXT("too_high", model=name)
    return TEXT("withheld", model=name) if _is_withheld(row) else name


def _is_withheld(row: Any) -> bool:
    return row.status in (WITHHELD, CONTRADICTED, UNSUPPORTED)


def _is_too_high(row: Any, *, small: bool) -> bool:
    return small and row.model in TOO_HIGH and defined(row.estimate)


@block(RISK_CLASSES)
def models_classes(results: Results) -> str | None:
    """Show records, and households, by class of individual risk."""
    lines = results.table(RISK_CLASSES)
    lines = lines[lines["n"] > 0]
    if lines.empty:
        return None
    classes = [
        TEXT("classes.class", above=without_unit(declared(row.above)), up_to=without_unit(declared(row.up_to)))
        if row.up_to
        else TEXT("classes.zero")
        for row in lines.itertuples()
    ]
    lines = lines.assign(unit=[TEXT(f"classes.{unit}") for unit in lines["unit"]], classes=classes)
    return table(
        TEXT("classes.caption"),
        *columns(lines, TEXT, "unit:once class=classes:text@1fr", group="classes.columns"),
        *columns(lines, TEXT, "n:count expected:decimal", group="classes.columns"),
        kind="compact",
    )


SHOWN = (IN_SAMPLE, MATCHES)
"""The quantities of sample uniques, which several models estimate."""


@block(MODELS)
def risk_models_figure(results: Results) -> Figure | None:
    """Draw the estimates of each model with their intervals, and the truth; nothing without an estimate."""
    table = results.table(MODELS)
    lines = table[table["quantity"].isin(SHOWN) & table["estimate"].notna()]
    if lines.empty:
        return None
    models = list(dict.fromkeys(lines["model"]))
    has_truth = bool(lines["truth"].notna().any())

    def draw(name: str, axes: Axes) -> None:
        estimates = lines[lines["quantity"] == name]
        for row in estimates.itertuples():
            _mark(axes, models.index(row.model), row)
        if has_truth and len(estimates):
            truth: Look = {"color": style.LIMIT, "linewidth": 1, "linestyle": (0, (4, 3)), "zorder": 1}
            axes.axvline(estimates["truth"].iloc[0], label=TEXT("figure.truth"), **truth)
        axes.set_xlim(left=0)
        style.count_axis(axes, "x")

    alt = TEXT("figure.alt", quantities=". ".join(_in_words(lines, quantity) for quantity in SHOWN))
    caption = TEXT("figure.caption")
    caption = TEXT("figure.caption_truth", caption=caption) if has_truth else caption
    names = [name_of(model) for model in models]
    panels = {TEXT(f"figure.{name}"): partial(draw, name) for name in SHOWN}
    look: dict[str, Any] = {"extra": 0.2, "key": has_truth, "between": 0.06}
    return style.row_figure(panels, names, alt=alt, caption=caption, **look)


def _mark(axes: Axes, place: int, row: Any) -> None:
    """Draw an estimate, filled if its model is recommended, over its interval."""
    if defined(row.low):
        axes.hlines(place, row.low, row.high, color=style.SUSPECTED, linewidth=5, zorder=2)
    look = style.hollow(5, 3, style.CONFIRMED) | ({"color": style.CONFIRMED} if row.recommended else {})
    axes.plot(row.estimate, place, "o", **look)


def _in_words(lines: pd.DataFrame, quantity: str) -> str:
    estimates = lines[lines["quantity"] == quantity]
    texts = [
        f"{name_of(row.model)} {fixed(row.estimate, 1)}"
        + (f" ({interval_of(row.low, row.high)})" if defined(row.low) else "")
        for row in estimates.itertuples()
    ]
    if len(estimates) and defined(estimates["truth"].iloc[0]):
        texts.append(f"{TEXT('figure.truth')} {fixed(estimates['truth'].iloc[0], 1)}")
    return f"{TEXT(f'figure.{quantity}')}: {'; '.join(texts)}"
