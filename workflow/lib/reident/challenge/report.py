"""Show the attacks at hand beside each other, and what was not tried (METHODS §6.10)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.challenge import limits as attacks
from reident.challenge.settings import DECLARED, INFORMED, JOIN, ORDER, STANDARD, WEIGHED, WITHOUT
from reident.challenge.standard import NAMES
from reident.linkage.settings import AGREEMENT, ANY
from reident.outcomes import ATTACK, BREAKS, EXCEEDS, LIMITS, SUREST
from reident.page import style
from reident.page.columns import columns
from reident.page.common import DASHED
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure
from reident.page.terms import title
from reident.page.wording import UNDEFINED, count, declared, escape, listed, percent, span, without_unit

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("challenge")
ATTACKS = attacks.TABLE

MAX_CHOSEN = 3
"""Joins, and attacks without a variable, that are shown beside those above a limit: those that confirm most."""


def in_words(line: Mapping[str, Any]) -> str:
    """Return an attack at hand in words."""
    kind, metric = line["kind"], title(str(line["metric"]))
    if kind == AGREEMENT:
        return TEXT("name.agreement", k=int(line["detail"]))
    if kind == ORDER:
        return TEXT(f"name.order_{line['detail']}", metric=metric)
    names = listed([escape(name) for name in str(line["detail"]).split("+")])
    named = {"metric": metric} if kind not in {JOIN, ANY} else {}
    return TEXT(f"name.{kind}", **named, **({"names": names} if kind in {JOIN, WITHOUT} else {}))


def tried(results: Results) -> pd.DataFrame:
    """Return the attacks that were tried, in words, with whether each is above a limit."""
    lines: pd.DataFrame = results.once(_tried)
    return lines


def _tried(results: Results) -> pd.DataFrame:
    lines = attacks.of_others(results.known(results.table(ATTACKS)).fillna({"detail": ""}))
    above = set[str]()
    if results.has(LIMITS):
        limits = results.table(LIMITS)
        limits = limits[limits["about"].isin([ATTACK, SUREST]) & limits["outcome"].isin([BREAKS, EXCEEDS])]
        above = set(limits["metric"])
    words = [in_words(line) for line in lines.to_dict("records")]
    return lines.assign(words=words, above=lines["name"].isin(above))


def shown(results: Results) -> pd.DataFrame:
    """Return the attacks that a table has room for: of joins and those without a variable, a few, and the strongest."""
    lines = tried(results)
    first = lines.groupby("kind", sort=False).cumcount() < MAX_CHOSEN
    is_strongest = lines["name"] == strongest(results)["name"]
    return lines[~lines["kind"].isin([JOIN, WITHOUT]) | first | lines["above"] | is_strongest].reset_index(drop=True)


def _insiders(results: Results) -> pd.DataFrame:
    """Return what somebody who knows true links finds, in words; no limit is compared with it."""
    lines = results.known(results.table(ATTACKS))
    lines = lines[(lines["kind"] == INFORMED) & lines["n_suspected"].notna()]
    return lines.assign(words=[in_words(line) for line in lines.to_dict("records")], above=False)


def at_hand(results: Results) -> pd.DataFrame:
    """Return the attacks that were tried, the study's own in their order first, then the others, the strongest first.

    The strongest attack names most people rightly by one best guess for each record; of equal ones it finds most.
    """
    lines = tried(results)
    lines = lines[lines["kind"] != ANY]
    is_own = lines["kind"] == DECLARED
    others = lines[~is_own].sort_values(["n_right", "n_confirmed"], ascending=False, kind="stable")
    return pd.concat([lines[is_own], others], ignore_index=True)


def strongest(results: Results) -> pd.Series:
    """Return the strongest attack at hand."""
    return at_hand(results).sort_values(["n_right", "n_confirmed"], ascending=False, kind="stable").iloc[0]


def of_any(results: Results) -> pd.Series:
    """Return what the declared and the standard metrics find together."""
    lines = tried(results)
    return lines[lines["kind"] == ANY].iloc[0]


def informed(results: Results) -> tuple[float, float] | None:
    """Return the right best guesses of Fellegi–Sunter, blind and with known links; None where one was not tried."""
    lines = results.table(ATTACKS)
    lines = lines[(lines["metric"] == WEIGHED) & lines["n_right"].notna()]
    blind, known = (lines[lines["kind"].isin(kinds)]["n_right"] for kinds in ((DECLARED, STANDARD), (INFORMED,)))
    return None if blind.empty or known.empty or not results.confirmable else (blind.iloc[0], known.iloc[0])


def untried(results: Results) -> int:
    """Return how many attacks at hand were not tried."""
    return int(results.table(ATTACKS)["n_suspected"].isna().sum())


def limits_on(results: Results, *names: str) -> pd.DataFrame:
    """Return the limits that an attack of these names is compared with, with their outcomes."""
    limits = results.table(LIMITS) if results.has(LIMITS) else pd.DataFrame(columns=["about", "metric", "outcome"])
    return limits[(limits["about"] == ATTACK) & limits["metric"].isin(names) & results.confirmable]


def without(results: Results, metric: str) -> pd.Series:
    """Return what a metric confirms without each of the linking variables, by variable."""
    lines = results.table(ATTACKS)
    lines = lines[(lines["kind"] == WITHOUT) & (lines["metric"] == metric)]
    return lines.set_index("detail")["n_confirmed"].dropna()


@block(ATTACKS)
def attacks_text(results: Results) -> str:
    """Say which attacks are at hand, which one confirms most, and what was not tried."""
    lines = results.table(ATTACKS)
    done = tried(results)
    texts = [TEXT("text", n=int((done["kind"] != ANY).sum()))]
    texts += [TEXT("order")] if ORDER in set(done["kind"]) else []
    if results.confirmable:
        single = done[done["kind"] != ANY]
        most = single.loc[single["n_confirmed"].idxmax()]
        fields = {"attack": most["words"], "suspected": count(most["n_suspected"])}
        texts.append(TEXT("most", n=int(most["n_confirmed"]), **fields))
        best = strongest(results)
        texts.append(TEXT("strongest", attack=best["words"], n=count(round(best["n_right"]))))
    else:
        texts.append(TEXT("unknown"))
    if absent := [title(name) for name in NAMES if name not in set(_standard(lines)["metric"])]:
        texts.append(TEXT("not_possible", n=len(absent), metrics=listed(absent)))
    left = lines[lines["n_suspected"].isna()]
    kinds = [
        TEXT(f"untried.{kind}", **({} if kind in {INFORMED, ORDER} else {"n": len(group)}))
        for kind, group in left.groupby("kind", sort=False)
    ]
    texts.append(TEXT("untried.some", kinds=listed(kinds)) if kinds else TEXT("untried.none"))
    texts += [] if _insiders(results).empty else [TEXT("insider")]
    return " ".join(texts)


def _standard(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the standard attacks, and the declared ones that stand for them."""
    return lines[lines["kind"].isin([STANDARD, "declared"])]


@block(ATTACKS, LIMITS)
def attacks_table(results: Results) -> str:
    """Return the table of the attacks at hand, and below them of somebody who knows true links."""
    lines = pd.concat([shown(results), _insiders(results)])
    names = [
        f"[▲ {text}]{{.above}}" if above else text for text, above in zip(lines["words"], lines["above"], strict=True)
    ]
    spans = [
        without_unit(span(*pair)) for pair in lines[["conditional_low", "conditional_high"]].itertuples(index=False)
    ]
    return paragraphs(
        table(
            TEXT("caption", file=ATTACKS, most=MAX_CHOSEN, level=declared(results.level), undefined=UNDEFINED),
            ReportColumn(TEXT("attack"), names, "l", "2.4fr"),
            *columns(lines, HEADING, "suspected_records=n_suspected confirmed_records=n_confirmed", "1fr"),
            *columns(lines, HEADING, "confirmed_rate conditional_rate", "1fr"),
            ReportColumn(HEADING("interval", level=declared(results.level)), spans, "r", "1.4fr"),
            *columns(lines, TEXT, "guess=best_rank_correct_rate surest=n_at_95_percent", "1fr"),
            kind="compact",
        )
    )


def _limit(results: Results, n_puf: float) -> float | None:
    """Return the smallest limit on confirmed records that holds for all attacks, as a share of the released records."""
    given = results.decision
    values = {"confirmed_rate_at_most": 1.0, "confirmed_at_most": n_puf, "confirmed_by_any_at_most": n_puf}
    shares = []
    for limit, whole in values.items():
        if (bound := given.get(limit)) is not None:
            shares.append((max(bound.values()) if isinstance(bound, dict) else bound) / whole)
    return min(shares, default=None)


@block(ATTACKS, LIMITS)
def attacks_figure(results: Results) -> Figure | None:
    """Draw the records found and those that one guess names rightly, by attack, beside the limit."""
    lines = shown(results)
    if not results.confirmable or not lines["n_confirmed"].any():
        return None
    first = lines.groupby("kind", sort=False).cumcount() < MAX_CHOSEN
    is_strongest = lines["name"] == strongest(results)["name"]
    lines = lines[~lines["kind"].isin([JOIN, WITHOUT]) | first | is_strongest]
    n_puf = float(lines["n_puf"].iloc[0])
    limit = _limit(results, n_puf)
    found, right = lines["confirmed_rate"], lines["n_right"] / n_puf
    cells = [
        TEXT("figure.cell", attack=name, found=percent(one), right=percent(other))
        for name, one, other in zip(lines["words"], found, right, strict=True)
    ]
    alt = TEXT("figure.alt", cells=" ".join(cells))
    draw = {"": partial(_panel, found, right, limit)}
    labels = [style_free(text) for text in lines["words"]]
    return style.row_figure(draw, labels, alt=alt, caption=TEXT("figure.caption"), extra=0.25)


def style_free(text: str) -> str:
    """Return words without the marks of Markdown."""
    return text.replace("*", "").replace("\\", "")


def _panel(found: pd.Series, right: pd.Series, limit: float | None, axes: Axes) -> None:
    at = range(len(found))
    top = 1.08 * max([*found, limit or 0])
    axes.hlines(at, 0, top, color=style.RULE, linewidth=0.6, zorder=0)
    axes.hlines(at, right, found, color=style.SUSPECTED, linewidth=1.4, zorder=1)
    axes.plot(found, at, "o", label=TEXT("figure.found"), **style.full(4.6))
    axes.plot(right, at, "o", label=TEXT("figure.right"), **style.hollow(4.2, 4, style.LIMIT))
    if limit is not None:
        axes.axvline(limit, **DASHED, label=TEXT("figure.limit", limit=declared(limit)))
    style.percent_axis(axes, top)
