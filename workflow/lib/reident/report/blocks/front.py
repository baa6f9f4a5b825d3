"""Make the front page: the verdict on each metric and the findings in plain sentences (METHODS §6)."""

from __future__ import annotations

import pandas as pd

from reident.linkage.settings import ANY
from reident.report.blocks.common import FEW, portion, reserved, share_of
from reident.report.blocks.exact import EXACT_TABLE, exact_line, exact_names, is_exact
from reident.report.blocks.larger import GUESSED, LARGER, curve, extrapolated, multiple
from reident.report.columns import columns
from reident.report.layout import ReportColumn, block, box, items, table
from reident.report.results import LIMITS, VERDICT, Results
from reident.report.sentences import Sentences
from reident.report.terms import metric_cells, some, title
from reident.report.wording import (
    UNDEFINED,
    apart,
    count,
    declared,
    defined,
    escape,
    label_cells,
    listed,
    percent,
    rates,
    span,
    without_unit,
    word,
)
from reident.verdict.limits import ABOVE, BREAKS, NONE, NOTHING, OPEN, PASSES, RESERVED, UNKNOWN, UNSURE
from reident.verdict.stronger import EXACT
from reident.verdict.warnings import ATTACK

TEXT = Sentences("front")
HEADING = Sentences("headings")
MAX_NAMES = 12
"""Variables that the front page names."""


_KINDS = {BREAKS: "above", NONE: "unknown", UNSURE: "unsure", PASSES: "within", NOTHING: "nothing"}
"""The verdict on a metric by the outcome of a limit, the one that decides first."""


def _verdict(outcomes: set[str]) -> str:
    """Return the cell with the verdict on a metric, from the outcomes of its limits."""
    kind = next((kind for outcome, kind in _KINDS.items() if outcome in outcomes), "open")
    return f"[{TEXT(f'verdict.{kind}')}]{{.{kind}}}"


@block("rates.csv", VERDICT, LIMITS)
def overall(results: Results) -> str:
    """Return the verdict on the attack, set apart."""
    every, kind = results.limits(ATTACK), results.verdict(ATTACK)
    limits, by_exact = every[~is_exact(every) & (every["metric"] != ANY)], every[is_exact(every)]
    if not results.confirmable:
        advice = TEXT("not_evidence.strata" if results.true_links[0] else "not_evidence.files")
        return box("verdict unknown", TEXT("overall.none"), f"{unconfirmable(results)} {advice}")
    if kind == OPEN:
        return box("verdict open", TEXT("overall.none"), TEXT("no_limit"))
    outcomes = limits.groupby("metric")["outcome"].agg(set)
    silent = [title(metric) for metric in results.metrics if outcomes.get(metric) == {NONE}]
    no_metric = TEXT("no_metric", n=len(silent), metrics=listed(silent)) if silent else ""
    if kind == UNKNOWN:
        is_silent = len(silent) == limits["metric"].nunique() > 0 and (results.whole["tolerance"] < 0).all()
        return box("verdict unknown", TEXT("overall.none"), no_metric if is_silent else TEXT("invalid"))
    exact = [*_by_any_metric(every[every["metric"] == ANY]), *_by_exact_values(results, by_exact)]
    if kind == ABOVE:
        texts = [*exact, *_within(results, limits)]
        if BREAKS in set(limits["outcome"]):
            texts = [*_above(results, limits), *exact]
        return box("verdict above", TEXT("overall.above"), " ".join(filter(None, [*texts, no_metric])))
    text = " ".join(filter(None, [*_within(results, limits), *exact, no_metric]))
    if kind == RESERVED:
        return box("verdict reserved", TEXT("overall.reservations"), f"{text} {reserved(results, ATTACK)}")
    return box("verdict within", TEXT("overall.within"), text)


def what(results: Results, limit: str) -> str:
    """Return the subject of a limit, in words."""
    if limit == "conditional_rate_at_most" and results.decision.get("by") == "upper":
        return TEXT("limits.conditional_rate_upper")
    return TEXT(f"limits.{limit}")


def bound_of(limit: str, bound: float) -> str:
    """Return the value of a limit in words."""
    return count(bound) if limit == "confirmed_at_most" else declared(bound)


def _only(limits: pd.DataFrame) -> tuple[str, float] | None:
    """Return the limit and its value where all metrics have the same single limit."""
    distinct = limits[["limit", "bound"]].drop_duplicates()
    return (str(distinct["limit"].iloc[0]), float(distinct["bound"].iloc[0])) if len(distinct) == 1 else None


def _above(results: Results, limits: pd.DataFrame) -> list[str]:
    broken = limits[limits["outcome"] == BREAKS]
    if (only := _only(limits)) is not None:
        metrics, total = [title(metric) for metric in broken["metric"]], len(limits)
        fields = {"limit": bound_of(*only), "what": what(results, only[0]), "metrics": listed(metrics)}
        n, number = len(metrics), word(len(metrics))
        if n == total:
            return [TEXT("all_above", n=n, number=number, **fields)]
        return [TEXT("not_all_above", n=n, number=number.capitalize(), total=word(total), **fields)]
    texts = []
    for limit, lines in broken.groupby("limit", sort=False):
        values = [
            TEXT(
                "value",
                metric=title(row.metric),
                value=_value(results, str(limit), row.metric, row.value, row.bound),
                limit=bound_of(str(limit), row.bound),
            )
            for row in lines.itertuples()
        ]
        texts.append(TEXT("each_above", what=what(results, str(limit)), metrics=listed(values)))
    return texts


WHOLES = {
    "conditional_rate_at_most": "n_suspected",
    "expected_correct_rate_at_most": "n_suspected",
    "single_rate_at_most": "n_single",
    "confirmed_rate_at_most": "n_puf",
}
"""By limit, the records of which the limited rate is a share, as a column of the rates."""


def _value(results: Results, limit: str, metric: str, value: float, bound: float) -> str:
    """Return the value that is compared with a limit: a number of records, or a share with its number of records."""
    if limit == "confirmed_at_most":
        return count(value)
    line = results.whole.loc[metric]
    n = line[WHOLES[limit]] if limit in WHOLES else round(line["n_confirmed"] / line["reach"])
    is_end = limit == "conditional_rate_at_most" and results.decision.get("by") == "upper"
    text = share_of(value, n) if n < FEW and not is_end else apart(value, bound)[0]
    return TEXT("value_of", value=text, n=count(n))


def _by_any_metric(limits: pd.DataFrame) -> list[str]:
    """Return the sentence on the records that at least one metric confirms, where the study limits their number."""
    lines = limits[limits["outcome"].isin([BREAKS, PASSES])].itertuples()
    return [TEXT(f"by_any.{_KINDS[row.outcome]}", value=count(row.value), limit=count(row.bound)) for row in lines]


def _by_exact_values(results: Results, limits: pd.DataFrame) -> list[str]:
    """Return the sentences on the join on exact values: of each limit that it breaks, or that it is within them."""
    broken = limits[limits["outcome"] == BREAKS]
    if broken.empty:
        is_unsure = UNSURE in set(limits["outcome"])
        if not (is_unsure or PASSES in set(limits["outcome"])) or _exact_of_table(results, limits) is None:
            return []
        unsure = [TEXT("unsure", n=1, metrics=title(EXACT))] if is_unsure else []
        return [TEXT("exact.within", n=limits["limit"].nunique()), *unsure]
    return [
        TEXT(
            "exact.above",
            names=exact_names(line := exact_line(results, row.limit, row.bound)),
            people=_of_puf(results, int(line["n_confirmed"])),
            claims=int(line["n_suspected"]),
            what=what(results, row.limit),
            limit=bound_of(row.limit, row.bound),
        )
        for row in broken.itertuples()
    ]


def _within(results: Results, limits: pd.DataFrame) -> list[str]:
    judged = limits[limits["outcome"] != NONE]
    if judged.empty:
        return []
    metrics = [title(metric) for metric in dict.fromkeys(judged["metric"])]
    if (only := _only(limits)) is not None and len(judged) == len(limits):
        n, fields = len(limits), {"limit": bound_of(*only), "what": what(results, only[0])}
        texts = [TEXT("all_within", n=n, number=word(n), **fields)]
    else:
        whats = [what(results, limit) for limit in dict.fromkeys(judged["limit"])]
        texts = [TEXT("each_within", whats=listed(whats), metrics=listed(metrics))]
    unsure = [title(metric) for metric in judged.loc[judged["outcome"] == UNSURE, "metric"]]
    if unsure:
        texts.append(TEXT("unsure", n=len(unsure), metrics=listed(unsure)))
    whole = results.whole
    nothing = [title(metric) for metric in results.metrics if not whole.at[metric, "n_suspected"]]
    if nothing := [name for name in nothing if name in metrics]:
        texts.append(TEXT("nothing_suspected", metrics=listed(nothing)))
    return texts


def unconfirmable(results: Results) -> str:
    """Return the sentence that says why nothing can be confirmed."""
    links, _ = results.true_links
    return TEXT("unconfirmable.outside", n=links) if links else TEXT("unconfirmable.no_link")


@block("rates.csv")
def findings(results: Results) -> str:
    """Describe the intruder, the records that could be found and those that are, and the intruder's certainty."""
    lead = "lead" if results.named else "unnamed"
    texts = [
        f"{TEXT('intruder.lead')} {_intruder(results)}",
        f"{TEXT(f'findable.{lead}')} {_findable(results)}",
        f"{TEXT('suspected.lead')} {_suspected(results)}",
        f"{TEXT(f'found.{lead}')} {_confirmed(results)}",
        f"{TEXT('sure.lead')} {_sure(results)}",
    ]
    return box("findings", items(texts))


def _puf(results: Results) -> str:
    return some(round(results.whole["n_puf"].iloc[0]), "puf_record")


def _intruder(results: Results) -> str:
    """Describe the intruder of the study: the size of the file and the variables."""
    names = [escape(variable["name"]) for variable in results.study["linking_variables"]]
    labels = names[:MAX_NAMES]
    if len(names) > len(labels):
        labels.append(TEXT("intruder.more", n=len(names) - len(labels)))
    variables = some(len(names), "variable")
    eif = some(round(results.whole["n_eif"].iloc[0]), "unit" if results.compares_units else "record")
    fields = {"eif": eif, "variables": variables, "names": listed(labels)}
    text = TEXT("intruder.text" if results.named else "intruder.unnamed", **fields)
    if results.strata_names:
        names = label_cells(results.strata_names)
        text += " " + TEXT("intruder.strata", n=len(names), names=listed(names))
    return text if results.named else f"{text} {TEXT('intruder.link')}"


def _of_puf(results: Results, n: int) -> str:
    n_puf = results.whole["n_puf"].iloc[0]
    return portion(count(n), n / n_puf, n_puf, _puf(results))


def _findable(results: Results) -> str:
    """Return the number of persons in the intruder's file, and the estimate for an intruder with a larger file."""
    n = round(results.whole["n_findable"].iloc[0])
    where = "in_stratum" if results.strata_names else "in_file"
    text = TEXT(f"findable.{where}", n=n, puf=_puf(results), portion=_of_puf(results, n))
    return f"{text} {_with_larger_file(results)}".strip()


TENFOLD = 10
"""The multiple of the intruder's file that the front page names, or the largest one below it that has an estimate."""


def _with_larger_file(results: Results) -> str:
    """Return the largest confirmed rate that is estimated for ten times the intruder's file; empty without one."""
    if not results.has(LARGER):
        return ""
    lines = pd.concat([extrapolated(results, metric) for metric in results.metrics])
    lines = lines[lines["times"] <= TENFOLD]
    if lines.empty:
        return ""
    line = lines.sort_values(["times", "estimate"], ascending=False, kind="stable").iloc[0]
    metric, times = str(line["metric"]), line["times"]
    fields = {"times": multiple(times), "size": count(line["n_eif"]), "metric": title(metric)}
    fields |= {"rate": percent(line["estimate"]), "interval": span(line["low"], line["high"])}
    fields |= {"now": percent(results.whole.at[metric, "confirmed_rate"]), "puf": _puf(results)}
    text = TEXT("findable.larger", level=declared(results.level), **fields)
    guess = curve(results, metric, GUESSED)
    guess = guess[(guess["times"] == times) & guess["low"].notna()]
    if guess.empty:
        return text
    ends = span(guess["low"].iloc[0], guess["high"].iloc[0])
    return f"{text} {TEXT('findable.larger_guess', interval=ends, level=declared(results.level))}"


def _range(shares: pd.Series, names: pd.Series) -> dict[str, str]:
    """Return the fields of a range of shares, or of the only one."""
    low, high = shares.idxmin(), shares.idxmax()
    if percent(shares[low]) == percent(shares[high]):
        return {"share": percent(shares[high])}
    ends = {"low": percent(shares[low]), "high": percent(shares[high])}
    return {**ends, "low_metric": names[low], "high_metric": names[high]}


def _ranged(name: str, shares: pd.Series, sizes: pd.Series) -> str:
    """Return the sentences on a share by metric: of a range, and of the numbers of records where these are few."""
    many, texts = sizes >= FEW, []
    if many.any():
        names = pd.Series({at: TEXT("sure.metric", metric=title(at), n=count(n)) for at, n in sizes.items()})
        fields = _range(shares[many], names)
        if "share" in fields:
            texts.append(TEXT(f"sure.{name}.one_share", **fields, n=_sizes(sizes[many])))
        else:
            texts.append(TEXT(f"sure.{name}.range", **fields))
    if not many.all():
        counts = [
            TEXT("sure.count", numerator=share_of(shares[at], n), n=count(n), metric=title(at))
            for at, n in sizes[~many].items()
        ]
        texts.append(TEXT(f"sure.{name}.few", few=FEW, counts=listed(counts)))
    return " ".join(texts)


def _sizes(sizes: pd.Series) -> str:
    return " – ".join(dict.fromkeys([count(sizes.min()), count(sizes.max())]))


def _suspected(results: Results) -> str:
    whole, puf = results.whole, _puf(results)
    if whole["n_suspected"].max() == 0:
        return TEXT("suspected.nothing", puf=puf)
    if whole["n_puf"].iloc[0] < FEW:
        return TEXT("suspected.few", n=round(whole["n_suspected"].max()), puf=puf)
    fields = _range(whole["suspected_rate"], pd.Series({metric: title(metric) for metric in results.metrics}))
    return TEXT("suspected.one_share" if "share" in fields else "suspected.range", **fields, puf=puf)


def _confirmed(results: Results) -> str:
    if not results.confirmable:
        return TEXT("found.unknown")
    n = confirmed(results)
    key = "by_any_metric" if len(results.metrics) > 1 else "by_the_metric"
    text = TEXT(f"found.{key}", n=n, portion=_of_puf(results, n), puf=_puf(results))
    if not n:
        return text
    findable = round(results.whole["n_findable"].iloc[0])
    fields = {"findable": some(findable, "puf_record"), "share": share_of(n / findable, findable)}
    return f"{text} {TEXT('found.of_findable', **fields)}"


def confirmed(results: Results) -> int:
    """Return the PUF records that at least one metric confirms; without the overlap, those of the best metric."""
    if not results.has("description/overlap.csv"):
        return int(results.whole["n_confirmed"].max())
    overlap = results.table("description/overlap.csv")
    return int(overlap.loc[overlap["set"] == "confirmed", "n_pufids"].sum())


def _sure(results: Results) -> str:
    whole = results.whole[results.whole["n_suspected"] > 0]
    if not results.confirmable:
        return TEXT("sure.unknown", reason=unconfirmable(results))
    if whole.empty:
        return TEXT("sure.nothing")
    if whole["n_confirmed"].sum() == 0:
        high = percent(whole["conditional_bound"].max())
        n = _sizes(whole["n_suspected"])
        return TEXT("sure.no_claim", level=declared(results.level), high=high, n=n)
    sizes = whole["n_suspected"]
    texts = [_ranged("candidates", whole["conditional_rate"], sizes)]
    baseline = whole["baseline_rate"].dropna()
    if len(baseline):
        metric = baseline.idxmax()
        fields = {"share": share_of(baseline[metric], sizes[metric]), "size": count(sizes[metric])}
        texts.append(TEXT("sure.baseline", n=len(whole), metric=title(metric), **fields))
    texts.append(_ranged("guess", whole["expected_correct_rate"], sizes))
    single = whole[whole["n_single"] > 0]
    texts.append(
        TEXT("sure.no_single") if single.empty else _ranged("single", single["single_rate"], single["n_single"])
    )
    return " ".join(texts)


def single_cells(lines: pd.DataFrame) -> list[str]:
    """Return the cells of the rate of single candidates: the numbers of records where these are few."""
    return [
        TEXT("table.few", numerator=count(right), n=count(n)) if 0 < n < FEW else text
        for right, n, text in zip(
            lines["n_single_confirmed"], lines["n_single"], rates(lines["single_rate"]), strict=True
        )
    ]


def interval_column(results: Results, lines: pd.DataFrame, width: str = "auto") -> ReportColumn:
    """Return the column of the confidence intervals of the conditional rate."""
    ends = zip(lines["conditional_low"], lines["conditional_high"], strict=True)
    heading = HEADING("interval", level=declared(results.level))
    return ReportColumn(heading, [without_unit(span(*pair)) for pair in ends], "r", width)


def conditional_rates(lines: pd.DataFrame, limit: float | None) -> list[str]:
    """Return the cells of the conditional rate, with enough digits to tell a rate from the limit."""
    if limit is None:
        return rates(lines["conditional_rate"])
    return [
        without_unit(apart(rate, limit)[0]) if defined(rate) and percent(rate, 1) == percent(limit, 1) else text
        for rate, text in zip(lines["conditional_rate"], rates(lines["conditional_rate"]), strict=True)
    ]


@block("rates.csv", VERDICT, LIMITS)
def verdicts(results: Results) -> str:
    """Return the table of verdicts."""
    whole, limits, terms = results.whole, results.limits(ATTACK), TEXT("table.terms")
    exact = _exact_of_table(results, limits)
    if exact is not None:
        whole = pd.concat([whole, pd.DataFrame([exact]).set_index("metric")])[whole.columns]
    names = metric_cells(whole.index)
    table_columns = [
        ReportColumn(HEADING("metric"), names, "l"),
        *columns(whole, HEADING, "suspected_records=n_suspected confirmed_records=n_confirmed reach@0.9fr", "1.1fr"),
        ReportColumn(HEADING("conditional_rate"), conditional_rates(whole, results.limit), "r", "1.2fr"),
        interval_column(results, whole, "1.3fr"),
        ReportColumn(HEADING("one_guess"), rates(whole["expected_correct_rate"]), "r", "0.9fr"),
        ReportColumn(HEADING("single_right"), single_cells(whole), "r", "1.1fr"),
    ]
    caption = TEXT("table.without_limit", terms=terms)
    if len(limits):
        caption = TEXT("table.with_limits", terms=terms)
        if (only := _only(limits[~is_exact(limits)])) is not None and only[0] == "conditional_rate_at_most":
            caption = TEXT("table.with_limit", limit=declared(only[1]), terms=terms)
        by_metric = limits.groupby("metric")["outcome"].agg(set)
        cells = [_verdict(by_metric.get(metric, set())) for metric in whole.index]
        table_columns.insert(1, ReportColumn(HEADING("verdict"), cells, "l"))
    if exact is not None:
        caption += " " + TEXT("table.exact", names=exact_names(exact))
    if whole["n_single"].between(1, FEW - 1).any():
        caption += " " + TEXT("table.few_single", few=FEW)
    if whole["single_rate"].isna().any():
        caption += " " + TEXT("table.undefined", undefined=UNDEFINED)
    return table(caption, *table_columns, name="verdict-by-metric")


def _exact_of_table(results: Results, limits: pd.DataFrame) -> pd.Series | None:
    """Return the join on exact values by which the first limit is judged, as a line of rates; None without a claim."""
    if not results.has(EXACT_TABLE):
        return None
    first = limits[is_exact(limits)].head(1)
    line = exact_line(results, *(first[["limit", "bound"]].iloc[0] if len(first) else ("", 0.0)))
    return line if line["n_suspected"] else None
