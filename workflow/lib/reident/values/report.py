"""Confirmation by values: what is learnt about persons beside what a guess would get right (METHODS §14)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import WHOLE
from reident.outcomes import LIMITS, VALUES, VERDICT
from reident.page import style
from reident.page.choices import choices_of, table_of
from reident.page.columns import columns
from reident.page.common import FEW, top_of, verdict_on
from reident.page.layout import block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure
from reident.page.terms import some, title
from reident.page.wording import UNDEFINED, declared, defined, escape, fixed, label_cells, listed, number, percent
from reident.values.settings import EVERYONE, UNUSUAL

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("values")
RATES, STRATA = "values/rates.csv", "values/strata.csv"


def whole(results: Results, people: str | None = None) -> pd.DataFrame:
    """Return the lines of the whole study, all or those of a group of people."""
    lines = results.table(RATES)
    lines = lines[lines["stratum"] == WHOLE]
    return (lines if people is None else lines[lines["people"] == people]).reset_index(drop=True)


def _learnt(results: Results) -> str:
    return listed([f"*{escape(one['name'])}*" for one in results.study["confirm"]["learn"]])


@block(RATES, STRATA)
def values_test(results: Results) -> str:
    """Say in a sentence or two what was tested."""
    strata = results.table(STRATA)
    names = listed(label_cells([one["name"] for one in results.study["linking_variables"]]))
    fields = {
        "external": some(int(strata["n_external"].sum()), "person"),
        "variables": names,
        "learnt": _learnt(results),
    }
    released = some(int(strata["n_released"].sum()), "released_record")
    return box("test", TEXT("test", released=released, people=_people(results), **fields))


def _people(results: Results) -> str:
    return some(int(whole(results, EVERYONE)["n_persons"].iloc[0]), "person")


@block(RATES, LIMITS, VERDICT)
def values_overall(results: Results) -> str | None:
    """Give the verdict on confirmation by values, where the study sets a limit for it."""
    return verdict_on(results, VALUES, TEXT, "nobody", _limits)


def _limits(results: Results, limits: pd.DataFrame) -> list[str]:
    return [
        TEXT(
            "verdict.limit",
            metric=title(metric),
            limit=_points(bound),
            value=_points(value),
            people=TEXT(f"verdict.people.{_people_of(results, metric, value)}"),
        )
        for metric, value, bound in limits[["metric", "value", "bound"]].itertuples(index=False)
    ]


def _people_of(results: Results, metric: str, excess: float) -> str:
    """Return the group of people whose excess was compared with a limit; everyone where none has one."""
    lines = whole(results)
    judged = lines[(lines["metric"] == metric) & (lines["excess"] == excess)]
    return EVERYONE if judged.empty else str(judged["people"].iloc[0])


def _points(share: float) -> str:
    """Return a difference of shares in percentage points."""
    return TEXT("points", n=_signed(share)) if defined(share) else UNDEFINED


def _signed(share: float) -> str:
    return fixed(100 * share, 1).replace("-", "\u2212") if defined(share) else UNDEFINED


def _between(low: float, high: float) -> str:
    """Return an interval of differences, in percentage points without the unit."""
    return TEXT("between", low=_signed(low), high=_signed(high))


@block(RATES)
def values_findings(results: Results) -> str:
    """Say in the brief how often claims are right, and a guess, with the metric of the largest excess."""
    lines = whole(results)
    metric = lines["metric"].iloc[lines["excess"].fillna(-2.0).argmax()]
    own = lines[lines["metric"] == metric].set_index("people")
    texts = [_finding(own.loc[people], people, str(metric)) for people in (EVERYONE, UNUSUAL)]
    return box("findings", items([*texts, TEXT("findings.meaning")]))


def _finding(line: pd.Series, people: str, metric: str) -> str:
    lead = TEXT(f"findings.{people}", metric=title(metric))
    if not line["putative"] > 0:
        return f"{lead} {TEXT('findings.nothing')}"
    n = line["putative"]
    claims = fixed(n, 0 if n >= FEW else 1)
    text = TEXT("findings.claims", n=claims, right=percent(line["precision"]), guess=percent(line["guess"]))
    return f"{lead} {text} {_compared(line)}"


def _compared(line: pd.Series) -> str:
    """Return whether claims are right more often than a guess, and whether beyond chance."""
    if line["excess"] <= 0:
        return TEXT("findings.no_more")
    excess = _points(line["excess"])
    if not defined(line["excess_low"]):
        return TEXT("findings.alone", excess=excess)
    key = "more" if line["excess_low"] > 0 else "chance"
    return TEXT(f"findings.{key}", excess=excess, interval=_between(line["excess_low"], line["excess_high"]))


@block(RATES, STRATA)
def values_premise(results: Results) -> str:
    """Explain the claims, the guesses, and what an excess means and for whom."""
    within = results.study["confirm"]["within"]
    linking = {one["name"] for one in results.study["linking_variables"]}
    named = {
        kind: listed(
            [
                TEXT("premise.within_of", name=escape(name), n=number(size))
                for name, size in within.items()
                if (name in linking) == beside
            ]
        )
        for kind, beside in (("beside", True), ("tolerance", False))
    }
    texts = [TEXT("premise.claims", learnt=_learnt(results), people=_people(results))]
    texts += [TEXT(f"premise.{kind}", variables=names) for kind, names in named.items() if names]
    alone = int((results.table(STRATA)["n_confidential"] == 1).sum())
    guess = [TEXT("premise.guess"), *([TEXT("premise.alone", n=alone)] if alone else [])]
    return paragraphs(" ".join(texts), " ".join(guess), TEXT("premise.meaning"), TEXT("premise.statement"))


@block(RATES)
def values_figure(results: Results) -> Figure:
    """Draw the precision of each metric beside both guesses, for all people and for those with unusual values."""
    lines = whole(results)
    metrics = list(dict.fromkeys(lines["metric"]))
    top = top_of(list(lines[["precision", "modal", "proportional"]].max().dropna()), None)
    panels = {
        TEXT(f"people.{people}"): partial(_panel, lines[lines["people"] == people], top)
        for people in (EVERYONE, UNUSUAL)
    }
    alt = TEXT("figure.alt", cells=" ".join(_cell(line) for line in lines.to_dict("records")))
    labels = [title(metric) for metric in metrics]
    return style.row_figure(panels, labels, alt=alt, caption=TEXT("figure.caption"), extra=0.5, between=0.05)


def _cell(line: dict[str, object]) -> str:
    shares = {name: percent(line[name]) for name in ("precision", "modal", "proportional")}  # type: ignore[arg-type]
    return TEXT("figure.cell", metric=title(str(line["metric"])), people=TEXT(f"people.{line['people']}"), **shares)


def _panel(lines: pd.DataFrame, top: float, axes: Axes) -> None:
    at = range(len(lines))
    axes.hlines(at, 0, top, color=style.RULE, linewidth=0.6, zorder=0)
    axes.hlines(at, lines["guess"], lines["precision"], color=style.SUSPECTED, linewidth=1.4, zorder=1)
    axes.plot(lines["modal"], at, "D", label=TEXT("figure.modal"), **style.hollow(4.6, 4, clip_on=False))
    axes.plot(
        lines["proportional"],
        at,
        "s",
        label=TEXT("figure.proportional"),
        **style.hollow(4.6, 4, style.INK, clip_on=False),
    )
    axes.plot(lines["precision"], at, "o", label=TEXT("figure.precision"), **style.full(5, clip_on=False))
    style.percent_axis(axes, top, 3)


@block(RATES)
def values_table(results: Results) -> str:
    """Show claims, precision, guesses and excess of each metric and group of people."""
    lines = whole(results)
    lines = lines.assign(
        metric=[f"**{title(metric)}**" for metric in lines["metric"]],
        group=[TEXT(f"few_words.{people}") for people in lines["people"]],
        claims=[fixed(value, 1) for value in lines["putative"]],
        points=[_with_interval(*ends) for ends in lines[["excess", "excess_low", "excess_high"]].to_numpy()],
    )
    return table(
        TEXT("table.caption", level=declared(results.level), file=RATES, undefined=UNDEFINED),
        *columns(lines, HEADING, "metric:once"),
        *columns(
            lines,
            TEXT,
            "group:text claims:cell precision modal proportional unlinked points:cell",
            group="table.columns",
        ),
        kind="compact",
    )


@block(RATES)
def values_choices(results: Results) -> str:  # noqa: ARG001 - every block takes the results
    """Show what METHODS decides where the sources are silent, with the other options."""
    return table_of(
        choices_of(TEXT, {key: ("in_force", TEXT(f"choices.{key}.others")) for key in TEXT.names("choices")}, "§14")
    )


def _with_interval(excess: float, low: float, high: float) -> str:
    """Return an excess in percentage points, with its interval where there is one."""
    points = _signed(excess)
    return TEXT("with_interval", points=points, interval=_between(low, high)) if defined(low) else points
