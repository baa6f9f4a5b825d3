"""Agreement of the two records of a pair, by linking variable (METHODS §6)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from reident.page import style
from reident.page.common import share_rows
from reident.page.layout import block
from reident.page.sentences import Sentences
from reident.page.style import Figure
from reident.page.terms import title
from reident.page.wording import escape, percent
from reident.report.results import Results

TEXT = Sentences("patterns")


@block("description/agreement.csv")
def agreement_text(results: Results) -> str:
    """Explain the agreement of variables."""
    shares, text = agreement(results), TEXT("agreement.text")
    if ("true", "") not in shares or shares["true", ""].isna().all():
        return text
    links = shares["true", ""].dropna().sort_values(ascending=False, kind="stable")
    fields = {"best": escape(links.index[0]), "best_share": percent(links.iloc[0])}
    if len(links) == 1:
        return f"{text} {TEXT('agreement.most', **fields)}"
    fields |= {"worst": escape(links.index[-1]), "worst_share": percent(links.iloc[-1])}
    return f"{text} {TEXT('agreement.most_and_least', **fields)}"


def agreement(results: Results) -> pd.DataFrame:
    """Return the share of pairs that agree by variable, with a column for each kind of pairs and metric."""
    lines = results.table("description/agreement.csv")
    lines = lines.assign(share=lines["agree"] / lines["n"].where(lines["n"] > 0))
    wide = lines.pivot_table(index="variable", columns=["pairs", "metric"], values="share", dropna=False)
    names = [variable["name"] for variable in results.study["linking_variables"]]
    return wide.reindex([name for name in names if name in wide.index])


KINDS = ("false", "confirmed")
"""Kinds of suspected pairs."""


@block("description/agreement.csv")
def agreement_figure(results: Results) -> Figure | None:
    """Draw agreement by variable in confirmed pairs, false suspected pairs and all true links, one panel per metric."""
    shares = agreement(results)
    shares = shares.loc[:, shares.notna().any()]
    metrics = [metric for metric in results.metrics if any((kind, metric) in shares for kind in KINDS)]
    if not metrics:
        return None

    panels = {title(metric): partial(_panel, shares, metric) for metric in metrics}
    alt, caption = _agreement_alt(shares, metrics), TEXT("agreement.figure.caption")
    look: dict[str, Any] = {"extra": 0.1, "across": 2, "between": 0.06}
    return style.row_figure(panels, list(shares.index), alt=alt, caption=caption, **look)


def _panel(shares: pd.DataFrame, metric: str, axes: Axes) -> None:
    at = range(len(shares))
    nothing = pd.Series(float("nan"), index=shares.index)
    true, false, confirmed = (
        shares.get(key, nothing) for key in (("true", ""), ("false", metric), ("confirmed", metric))
    )
    share_rows(axes, len(shares))
    axes.hlines(at, false, confirmed, color=style.SUSPECTED, linewidth=2, zorder=1, alpha=0.7)
    label = {kind: TEXT(f"agreement.figure.{kind}") for kind in ("true", *KINDS)}
    axes.plot(true, at, "|", label=label["true"], **style.TICK | {"color": style.INK, "zorder": 2})
    hollow = style.hollow(4.2, 3, style.LIMIT)
    axes.plot(false, at, "o", label=label["false"], **hollow)
    axes.plot(confirmed, at, "o", label=label["confirmed"], **style.full(4.6, 4))


def _agreement_alt(shares: pd.DataFrame, metrics: list[str]) -> str:
    texts = [TEXT("agreement.figure.alt.start", n=len(shares))]
    for metric in metrics:
        for kind in KINDS:
            if (kind, metric) in shares:
                share = shares[kind, metric].dropna()
                fields = {"metric": title(metric), "mean": percent(share.mean())}
                fields |= {"least": str(share.idxmin()), "least_share": percent(share.min())}
                fields |= {"most": str(share.idxmax()), "most_share": percent(share.max())}
                texts.append(TEXT(f"agreement.figure.alt.{kind}", **fields))
    return " ".join([*texts, TEXT("agreement.figure.alt.end")])
