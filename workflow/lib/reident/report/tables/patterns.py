"""Show how pairs become suspected: ranks, ambiguous records, overlap, the rank limit, agreement (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.live import Slider, slider, states
from reident.report.nouns import some
from reident.report.results import WHOLE, Results
from reident.report.sentences import Sentences
from reident.report.titles import narrow_title, title
from reident.report.wording import UNDEFINED, count, escape, percent, rates, without_unit

TEXT = Sentences("patterns")
HEADING = Sentences("headings")


def of_ranked(results: Results, name: str, columns: list[str]) -> pd.DataFrame:
    """Return the lines of the whole study from one table of every ranked metric, with a column `metric`."""
    tables = []
    for metric in results.ranked:
        path = name.format(metric=metric)
        if results.has(path):
            tables.append(results.of_strata(path, [WHOLE])[columns].assign(metric=metric))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*columns, "metric"])


def limits(results: Results) -> pd.DataFrame:
    """Return counts and rates of the ranked metrics at every rank limit, for the whole study (METHODS §5).

    Returns
    -------
    pandas.DataFrame
        One line per metric and limit: max_pairs, n_suspected, n_confirmed, n_ambiguous, n_pairs, expected_correct,
        metric, and the rates in [0, 1]; those of suspected records are NaN where no record is suspected.
    """
    columns = ["max_pairs", "n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "expected_correct"]
    lines = of_ranked(results, "confirmed/{metric}.limits.csv", columns)
    n_puf = lines["metric"].map(results.whole["n_puf"])
    lines["suspected_rate"] = lines["n_suspected"] / n_puf
    lines["confirmed_rate"] = lines["n_confirmed"] / n_puf
    n_suspected = lines["n_suspected"].where(lines["n_suspected"] > 0)
    lines["conditional_rate"] = lines["n_confirmed"] / n_suspected
    lines["expected_correct_rate"] = lines["expected_correct"] / n_suspected
    return lines


def levels(results: Results, metric: str) -> pd.DataFrame:
    """Return records and pairs by rank (unicity: by order): columns level, n_pufids, n_pairs."""
    name = f"suspected/{metric}.distribution.csv"
    if not results.has(name):
        return pd.DataFrame(columns=["level", "n_pufids", "n_pairs"])
    lines = results.table(name)
    lines = lines[lines["stratum"] == WHOLE]
    level = "order" if "order" in lines else "rank"
    return lines.rename(columns={level: "level"})[["level", "n_pufids", "n_pairs"]]


@part("rates.csv")
def ranks(results: Results) -> str:
    """Explain ranks and orders."""
    return paragraphs(
        TEXT("ranks.rank", pairs=some(results.max_pairs, "pair")) if results.ranked else None,
        TEXT("ranks.order") if len(results.ranked) < len(results.metrics) else None,
    )


@part("rates.csv")
def ambiguous(results: Results) -> str | None:
    """Return the table of suspected and ambiguous records of the ranked metrics."""
    if not results.ranked:
        return None
    at = states(results, results.whole.loc[results.ranked].reset_index())

    def candidates(lines: pd.DataFrame) -> pd.Series:
        return lines["n_suspected"] + lines["n_ambiguous"]

    def share(lines: pd.DataFrame) -> list[str]:
        all_ = candidates(lines)
        return rates(lines["n_ambiguous"] / all_.where(all_ > 0))

    return table(
        TEXT("ambiguous"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.ranked], "l", "1fr"),
        Column(HEADING("records_before"), at.cells(lambda lines: [count(n) for n in candidates(lines)])),
        Column(
            HEADING("records_suspected"), at.cells(lambda lines: [count(n) for n in lines["n_suspected"]])
        ),
        Column(
            HEADING("records_ambiguous"), at.cells(lambda lines: [count(n) for n in lines["n_ambiguous"]])
        ),
        Column(HEADING("share_ambiguous"), at.cells(share)),
        name="ambiguous-records",
    )


@part("description/overlap.csv")
def overlap(results: Results) -> str | None:
    """Say how many records are suspected, and confirmed, by one metric only and by all."""
    if len(results.metrics) < 2:
        return None
    lines = results.table("description/overlap.csv")
    size = lines["metrics"].str.count(r"\+") + 1
    texts = []
    for name in ("suspected", "confirmed"):
        n, single, by_all = (
            int(lines.loc[(lines["set"] == name) & chosen, "n_pufids"].sum())
            for chosen in (size > 0, size == 1, size == len(results.metrics))
        )
        if n:
            shares = {"single_share": percent(single / n), "all_share": percent(by_all / n)}
            texts.append(TEXT(f"overlap.{name}", n=n, single=single, all=by_all, **shares))
    return " ".join([TEXT("overlap.text"), *texts]) if texts else TEXT("overlap.nothing")


@part("rates.csv")
def limit_slider(results: Results) -> Slider | None:
    """Return the rank limits among which the reader of the HTML can choose."""
    return slider(results)


@part("rates.csv")
def rank_limit(results: Results) -> str | None:
    """Say how the rank limit changes the conditional rates."""
    lines, limit = limits(results), results.max_pairs
    if lines.empty:
        return None
    last = int(lines["max_pairs"].max())
    metrics = []
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric].set_index("max_pairs")["conditional_rate"]
        points = {"first": 1, "current": limit, "last": last}
        if any(by_limit.get(at) == by_limit.get(at) for at in points.values()):
            shares = {name: percent(by_limit.get(at)) for name, at in points.items()}
            metrics.append(TEXT("rank_limit.metric", metric=title(metric), limit=limit, max=last, **shares))
    text = TEXT("rank_limit.text", limit=limit)
    return f"{text} {TEXT('rank_limit.rates', metrics='; '.join(metrics))}" if metrics else text


@part("description/agreement.csv")
def agreement_text(results: Results) -> str:
    """Explain what the agreement of variables shows."""
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
    """Return the share of pairs that agree.

    Returns
    -------
    pandas.DataFrame
        One line per linking variable and a column for each pair of kind and metric: ``("true", "")``,
        ``("confirmed", metric)``, ``("false", metric)``. Shares are in [0, 1], NaN without pairs.
    """
    lines = results.table("description/agreement.csv")
    lines = lines.assign(share=lines["agree"] / lines["n"].where(lines["n"] > 0))
    wide = lines.pivot_table(index="variable", columns=["pairs", "metric"], values="share", dropna=False)
    names = [variable["name"] for variable in results.study["linking_variables"]]
    return wide.reindex([name for name in names if name in wide.index])


@part("description/agreement.csv")
def agreement_table(results: Results) -> str:
    """Return the table of agreement by variable in all true links, confirmed pairs and false suspected pairs."""
    shares = agreement(results)
    columns = [Column(HEADING("variable"), [escape(name) for name in shares.index], "l", "2.6fr")]
    headings = {("true", ""): HEADING("all_true_links")}
    for metric in results.metrics:
        headings["confirmed", metric] = HEADING("confirmed_by", metric=narrow_title(metric))
        headings["false", metric] = HEADING("false_by", metric=narrow_title(metric))
    for key, heading in headings.items():
        if key in shares:
            cells = [without_unit(percent(share, 0)) for share in shares[key]]
            columns.append(Column(heading, cells, "r", "1fr"))
    caption = TEXT("agreement.caption", undefined=UNDEFINED)
    return table(caption, *columns, kind="compact sortable own-limit")
