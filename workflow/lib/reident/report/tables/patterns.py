"""Ranks, ambiguous records, overlap of the metrics, the rank limit, agreement (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.results import WHOLE, Results, title
from reident.report.wording import UNDEFINED, count, escape, percent, percents, some


def of_ranked(results: Results, name: str, columns: list[str]) -> pd.DataFrame:
    """One table of every ranked metric, lines of the whole study, with the metric in front."""
    tables = []
    for metric in results.ranked:
        path = name.format(metric=metric)
        if results.has(path):
            own = results.table(path)
            own = own[own["stratum"] == WHOLE][columns]
            tables.append(own.assign(metric=metric))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*columns, "metric"])


def limits(results: Results) -> pd.DataFrame:
    """Counts and rates of the ranked metrics at every rank limit, for the whole study."""
    columns = ["max_pairs", "n_suspected", "n_confirmed", "n_ambiguous", "n_pairs"]
    found = of_ranked(results, "confirmed/{metric}.limits.csv", columns)
    n_puf = results.whole["n_puf"]
    found["suspected_rate"] = found["n_suspected"] / found["metric"].map(n_puf)
    found["confirmed_rate"] = found["n_confirmed"] / found["metric"].map(n_puf)
    found["conditional_rate"] = found["n_confirmed"] / found["n_suspected"].where(found["n_suspected"] > 0)
    return found


def levels(results: Results, metric: str) -> pd.DataFrame:
    """How many records and pairs each rank (unicity: each order) holds: columns level, n_pufids, n_pairs."""
    name = f"suspected/{metric}.distribution.csv"
    if not results.has(name):
        return pd.DataFrame(columns=["level", "n_pufids", "n_pairs"])
    own = results.table(name)
    own = own[own["stratum"] == WHOLE]
    level = "order" if "order" in own else "rank"
    return own.rename(columns={level: "level"})[["level", "n_pufids", "n_pairs"]]


@part("rates.csv")
def ranks(results: Results) -> str:
    """What ranks and orders are."""
    said = []
    if results.ranked:
        said.append(
            "For each released record a metric orders the pairs that pass its threshold by their score; pairs of equal "
            "score share a **rank**. The best ranks are kept as long as they hold at most "
            f"{some(results.max_pairs, 'pair')} together. A record whose best rank alone holds more is **ambiguous**: "
            "too many people look like it, and none is suspected."
        )
    if len(results.ranked) < len(results.metrics):
        said.append(
            "Unicity has no ranks. Its **order** is the smallest number of variables on which a record is the only one "
            "of its kind in both files: the lower it is, the less an intruder has to know."
        )
    return paragraphs(*said)


@part("rates.csv")
def ambiguous(results: Results) -> str | None:
    """Suspected and ambiguous records of the ranked metrics."""
    if not results.ranked:
        return None
    whole = results.whole.loc[results.ranked]
    candidates = whole["n_suspected"] + whole["n_ambiguous"]
    return table(
        "Records with a pair that passes the threshold, before and after the rank filter.",
        Column("Metric", [f"**{title(metric)}**" for metric in results.ranked], "l", "1fr"),
        Column("With such a pair", [count(n) for n in candidates]),
        Column("Suspected", [count(n) for n in whole["n_suspected"]]),
        Column("Ambiguous", [count(n) for n in whole["n_ambiguous"]]),
        Column("Ambiguous, share", percents(whole["n_ambiguous"] / candidates.where(candidates > 0))),
    )


@part("description/overlap.csv")
def overlap(results: Results) -> str | None:
    """How many records are suspected, and confirmed, by how many metrics."""
    if len(results.metrics) < 2:
        return None
    found = results.table("description/overlap.csv")
    size = found["metrics"].str.count(r"\+") + 1
    said = []
    for name in ("suspected", "confirmed"):
        own = found["set"] == name
        total, one, every = (
            int(found.loc[own & chosen, "n_pufids"].sum())
            for chosen in (size > 0, size == 1, size == len(results.metrics))
        )
        if total:
            said.append(
                f"{some(total, 'released record')} {'is' if total == 1 else 'are'} {name} by at least one metric: "
                f"{count(one)} ({percent(one / total)}) by one only, {count(every)} ({percent(every / total)}) by all."
            )
    if not said:
        return "No record is suspected by any metric."
    return "The metrics look at the same records in different ways. " + " ".join(said)


def _limits_present(results: Results) -> bool:
    return any(results.has(f"confirmed/{metric}.limits.csv") for metric in results.ranked)


@part("rates.csv")
def rank_limit(results: Results) -> str | None:
    """What the limit of the rank filter does to the rates."""
    if not _limits_present(results):
        return None
    found = limits(results)
    last = int(found["max_pairs"].max())
    said = []
    for metric in results.ranked:
        own = found[found["metric"] == metric].set_index("max_pairs")["conditional_rate"]
        ends = [percent(own.get(at)) for at in (1, results.max_pairs, last)]
        if set(ends) != {UNDEFINED}:
            said.append(
                f"{title(metric)} {ends[0]} at 1, {ends[1]} at {results.max_pairs}, {ends[2]} at {last}"
            )
    text = (
        f"The rank limit in force is {results.max_pairs}. A lower limit leaves fewer suspicions, of records with few "
        "look-alikes; a higher one leaves more."
    )
    return text + (f" The conditional rate by rank limit: {'; '.join(said)}." if said else "")


@part("description/agreement.csv")
def agreement_text(results: Results) -> str:
    """What the agreement of variables tells."""
    shares = agreement(results)
    true = shares["true", ""].dropna() if ("true", "") in shares else pd.Series(dtype=float)
    text = (
        "Variables on which confirmed pairs agree more often than true links in general are those that give records "
        "away; where pairs that are suspected but false agree as often, a variable does not tell people apart."
    )
    if len(true):
        best = true.sort_values(ascending=False, kind="stable").index
        text += f" Over all true links, {escape(best[0])} agrees most often ({percent(true[best[0]])})"
        if len(best) > 1:
            text += f" and {escape(best[-1])} least ({percent(true[best[-1]])})"
        text += "."
    return text


def agreement(results: Results) -> pd.DataFrame:
    """The share of pairs that agree: one line per variable, columns (pairs, metric); NaN without pairs."""
    found = results.table("description/agreement.csv")
    found = found.assign(share=found["agree"] / found["n"].where(found["n"] > 0))
    wide = found.pivot_table(index="variable", columns=["pairs", "metric"], values="share", dropna=False)
    names = [variable["name"] for variable in results.study["linking_variables"]]
    return wide.reindex([name for name in names if name in wide.index])


@part("description/agreement.csv")
def agreement_table(results: Results) -> str:
    """Agreement by variable in all true, confirmed and suspected-but-false pairs."""
    shares = agreement(results)
    columns = [Column("Variable", [escape(name) for name in shares.index], "l", "2.6fr")]
    if ("true", "") in shares:
        columns.append(Column("All true links", _whole_percents(shares["true", ""]), "r", "1fr"))
    for metric in results.metrics:
        for kind, what in (("confirmed", "confirmed"), ("false", "false")):
            if (kind, metric) in shares:
                columns.append(
                    Column(f"{title(metric)} {what}", _whole_percents(shares[kind, metric]), "r", "1fr")
                )
    return table(
        "Share of pairs whose two values agree, in per cent: numeric variables as bins, missing values count as not "
        f"agreeing. {UNDEFINED} no such pair.",
        *columns,
        kind="compact",
    )


def _whole_percents(shares: pd.Series) -> list[str]:
    return [percent(share, 0).removesuffix("%").strip() if share == share else UNDEFINED for share in shares]
