"""Make the front page: the verdict on each metric and the findings in plain sentences (METHODS §6)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.sentences import Sentences
from reident.report.wording import (
    UNDEFINED,
    apart,
    count,
    declared,
    defined,
    listed,
    percent,
    rates,
    some,
    span,
    without_unit,
    word,
)

TEXT = Sentences("front")
HEADING = Sentences("headings")


class Verdict(NamedTuple):
    """The verdict on a metric: ``above``, ``within``, ``unsure``, ``nothing``, ``unknown`` or ``open``."""

    kind: str
    words: str


def verdict(line: pd.Series, limit: float | None, *, confirmable: bool = True) -> Verdict:
    """Return the verdict on a metric: a conditional rate of at most `limit` passes.

    Parameters
    ----------
    line : pandas.Series
        A line of the rates (METHODS §6).
    limit : float or None
        The largest conditional rate that passes, in [0, 1]; None in a study without a limit.
    confirmable : bool
        Whether a suspected pair of the study can be confirmed at all.

    Returns
    -------
    Verdict
        ``above`` the limit; ``within`` it; ``unsure`` if it passes but the interval reaches above the limit;
        ``nothing`` without a suspected record; ``unknown`` where nothing is `confirmable`; ``open`` without a limit.
    """
    if limit is None:
        kind = "open"
    elif not confirmable:
        kind = "unknown"
    elif line["n_suspected"] == 0:
        kind = "nothing"
    elif line["conditional_rate"] > limit:
        kind = "above"
    else:
        kind = "unsure" if line["conditional_high"] > limit else "within"
    return Verdict(kind, TEXT(f"verdict.{kind}"))


@part("rates.csv")
def overall(results: Results) -> str:
    """Return the verdict on the study, set apart."""
    if not results.confirmable:
        advice = TEXT("not_evidence.strata" if results.true_links[0] else "not_evidence.files")
        return block("verdict unknown", TEXT("overall.none"), f"{unconfirmable(results)} {advice}")
    if results.limit is None:
        return block("verdict open", TEXT("overall.none"), TEXT("no_limit"))
    by_kind: dict[str, list[str]] = {}
    for metric, line in results.whole.iterrows():
        by_kind.setdefault(verdict(line, results.limit).kind, []).append(title(str(metric)))
    if "above" in by_kind:
        text = _above(by_kind["above"], len(results.metrics), declared(results.limit))
        return block("verdict above", TEXT("overall.above"), text)
    text = _within(results, by_kind, declared(results.limit))
    return block("verdict within", TEXT("overall.within"), text)


def _above(metrics: list[str], total: int, limit: str) -> str:
    """Return the sentence on the metrics that are above the limit."""
    n, names = len(metrics), listed(metrics)
    if n == total:
        return TEXT("all_above", n=n, number=word(n), limit=limit, metrics=names)
    number = word(n).capitalize()
    return TEXT("not_all_above", n=n, number=number, total=word(total), limit=limit, metrics=names)


def _within(results: Results, by_kind: dict[str, list[str]], limit: str) -> str:
    """Return the sentences on a study in which every metric is within the limit."""
    n = len(results.metrics)
    texts = [TEXT("all_within", n=n, number=word(n), limit=limit)]
    if unsure := by_kind.get("unsure"):
        texts.append(TEXT("unsure", n=len(unsure), metrics=listed(unsure)))
    if nothing := by_kind.get("nothing"):
        texts.append(TEXT("nothing_suspected", metrics=listed(nothing)))
    if results.has("strata/account.csv"):
        links, inside = results.true_links
        if 2 * inside < links:
            texts.append(TEXT("few_links", inside=inside, links=some(links, "true link")))
    return " ".join(texts)


def unconfirmable(results: Results) -> str:
    """Return the sentence that says why nothing can be confirmed."""
    links, _ = results.true_links
    return TEXT("unconfirmable.outside", n=links) if links else TEXT("unconfirmable.no_link")


@part("rates.csv")
def findings(results: Results) -> str:
    """Return three sentences: records suspected, correct claims, records re-identified."""
    return block(
        "findings",
        items(
            [
                f"{TEXT('suspected.lead')} {_suspected(results)}",
                f"{TEXT('correct.lead')} {_correct(results)}",
                f"{TEXT('reidentified.lead')} {_reidentified(results)}",
            ]
        ),
    )


def _range(shares: pd.Series) -> dict[str, str]:
    """Return the fields of a range of shares, or of the only share."""
    low, high = str(shares.idxmin()), str(shares.idxmax())
    if percent(shares[low]) == percent(shares[high]):
        return {"share": percent(shares[high])}
    return {
        "low": percent(shares[low]),
        "low_metric": title(low),
        "high": percent(shares[high]),
        "high_metric": title(high),
    }


def _suspected(results: Results) -> str:
    shares, first = results.whole["suspected_rate"], results.whole.iloc[0]
    files = {file: some(round(first[f"n_{file}"]), "record") for file in ("puf", "eif")}
    if shares.max() == 0:
        return TEXT("suspected.nothing", **files)
    fields = _range(shares)
    return TEXT("suspected.one_share" if "share" in fields else "suspected.range", **fields, **files)


def _correct(results: Results) -> str:
    whole = results.whole[results.whole["n_suspected"] > 0]
    if not results.confirmable:
        return TEXT("correct.unknown", reason=unconfirmable(results))
    if whole.empty:
        return TEXT("correct.nothing")
    if whole["n_confirmed"].sum() == 0:
        high = percent(whole["conditional_high"].max())
        return TEXT("correct.no_claim", level=declared(results.level), high=high)
    fields = _range(whole["conditional_rate"])
    text = TEXT("correct.one_share" if "share" in fields else "correct.range", **fields)
    baseline = whole["baseline_rate"].max()
    if defined(baseline):
        text += " " + TEXT("correct.baseline", n=len(whole), share=percent(baseline))
    return text


def _reidentified(results: Results) -> str:
    if not results.confirmable:
        return TEXT("reidentified.unknown")
    n = reidentified(results)
    key = "by_any_metric" if len(results.metrics) > 1 else "by_the_metric"
    return TEXT(f"reidentified.{key}", n=n, share=percent(n / results.whole["n_puf"].iloc[0]))


def reidentified(results: Results) -> int:
    """Return the PUF records that at least one metric confirms; without the overlap, those of the best metric."""
    if not results.has("description/overlap.csv"):
        return int(results.whole["n_confirmed"].max())
    overlap = results.table("description/overlap.csv")
    return int(overlap.loc[overlap["set"] == "confirmed", "n_pufids"].sum())


def interval_column(results: Results, lines: pd.DataFrame, width: str = "auto") -> Column:
    """Return the column of the confidence intervals of the conditional rate."""
    ends = zip(lines["conditional_low"], lines["conditional_high"], strict=True)
    heading = HEADING("interval", level=declared(results.level))
    return Column(heading, [without_unit(span(*pair)) for pair in ends], "r", width)


def conditional_rates(lines: pd.DataFrame, limit: float | None) -> list[str]:
    """Return the cells of the conditional rate, with enough digits to tell a rate from the limit."""
    if limit is None:
        return rates(lines["conditional_rate"])
    return [
        without_unit(apart(rate, limit)[0])
        if defined(rate) and percent(rate, 1) == percent(limit, 1)
        else text
        for rate, text in zip(lines["conditional_rate"], rates(lines["conditional_rate"]), strict=True)
    ]


@part("rates.csv")
def verdicts(results: Results) -> str:
    """Return the table of verdicts."""
    whole, limit = results.whole, results.limit
    names = [f"**{title(metric)}**" for metric in results.metrics]
    columns = [
        Column(HEADING("metric"), names, "l"),
        Column(HEADING("conditional_rate"), conditional_rates(whole, limit), "r", "1fr"),
        interval_column(results, whole, "1.3fr"),
        Column(HEADING("suspected_records"), [count(n) for n in whole["n_suspected"]], "r", "1fr"),
        Column(HEADING("confirmed_records"), [count(n) for n in whole["n_confirmed"]], "r", "1fr"),
    ]
    if limit is None:
        caption = TEXT("table.without_limit")
    else:
        caption = TEXT("table.with_limit", limit=declared(limit))
        verdicts_ = [verdict(line, limit, confirmable=results.confirmable) for _, line in whole.iterrows()]
        cells = [f"[{one.words}]{{.{one.kind}}}" for one in verdicts_]
        columns.insert(1, Column(HEADING("verdict"), cells, "l"))
    undefined = (whole["n_suspected"] == 0).any()
    note = block("note", TEXT("undefined", undefined=UNDEFINED)) if undefined else None
    return paragraphs(table(caption, *columns), note)
