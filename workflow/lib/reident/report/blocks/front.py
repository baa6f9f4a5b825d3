"""Give the verdict on the study and on the attack, with its reasons in plain sentences (METHODS §6)."""

from __future__ import annotations

from datetime import date as Date

import pandas as pd

from reident.challenge.limits import parts
from reident.challenge.report import in_words
from reident.challenge.settings import DECLARED, STANDARD
from reident.larger.report import GUESSED, LARGER, curve, extrapolated, multiple
from reident.linkage.limits import COLUMNS, is_silent
from reident.linkage.settings import ANY, WHOLE
from reident.outcomes import (
    ABOVE,
    ATTACK,
    BREAKS,
    EXCEEDS,
    LIMITS,
    NONE,
    NOTHING,
    OPEN,
    PASSES,
    RESERVED,
    UNBREAKABLE,
    UNKNOWN,
    UNSURE,
    VERDICT,
)
from reident.page.common import FEW, reserved, share_of
from reident.page.layout import Block, block, box
from reident.page.sentences import Sentences
from reident.page.terms import some, title
from reident.page.wording import (
    apart,
    count,
    day,
    declared,
    defined,
    escape,
    listed,
    percent,
    rates,
    span,
    without_unit,
    word,
)
from reident.report.results import Results

TEXT = Sentences("front")
MAX_OTHERS = 2
"""Attacks at hand above a limit that the verdict names."""

_KINDS = {
    BREAKS: "above", EXCEEDS: "exceeds", NONE: "unknown", UNSURE: "unsure", PASSES: "within", NOTHING: "nothing",
    UNBREAKABLE: "unbreakable",
}  # fmt: skip
"""The verdict on a metric by the outcome of a limit, the one that decides first."""


def outcome_of(outcomes: set[str]) -> str:
    """Return the kind of the verdict on a metric, from the outcomes of its limits."""
    return next((kind for outcome, kind in _KINDS.items() if outcome in outcomes), "open")


def verdict(*reasons: Block) -> Block:
    """Return the block of the verdict on the study, with the blocks of the verdict on each analysis as its reasons."""

    def make(results: Results) -> str:
        texts = [str(text) for reason in reasons if (text := reason(results))]
        lead = f"**{verdict_in_words(results)}**"
        texts = [*texts, _whose(results)] if results.decision else texts or [TEXT("no_limit")]
        return box(f"verdict {results.verdict(WHOLE)}", lead, *texts)

    return Block((VERDICT,), make)


def _whose(results: Results) -> str:
    """Return who set the limits, and when, as far as the study states it."""
    by, on = results.decision.get("set_by"), results.decision.get("set_on")
    name, date = escape(by, len(by)) if by else "", day(Date.fromisoformat(on)) if on else ""
    if name and date:
        return TEXT("whose.both", by=name, on=date)
    if name:
        return TEXT("whose.board", by=name)
    return TEXT("whose.day", on=date) if date else TEXT("whose.unstated")


def verdict_in_words(results: Results) -> str:
    """Return the verdict on the study, with its mark."""
    kind = results.verdict(WHOLE)
    return f"[{TEXT(f'overall.{kind}')}]{{.{kind}}}"


@block("rates.csv", VERDICT, LIMITS)
def overall(results: Results) -> str:
    """Return the verdict on the attack, set apart."""
    every, kind = results.limits(ATTACK), results.verdict(ATTACK)
    limits = every[every["metric"] != ANY]
    if not results.confirmable and not results.true_links[1]:
        advice = TEXT("not_evidence.strata" if results.true_links[0] else "not_evidence.files")
        return _reason(results, UNKNOWN, f"{unconfirmable(results)} {advice}")
    if kind == OPEN:
        return "" if results.verdict(WHOLE) == OPEN else box("reason open", TEXT("attack.open"))
    outcomes = limits.groupby("metric")["outcome"].agg(set)
    silent = [title(metric) for metric in results.metrics if outcomes.get(metric) == {NONE}]
    no_metric = TEXT("no_metric", n=len(silent), metrics=listed(silent)) if silent else ""
    if kind == UNKNOWN and set(every["outcome"]) == {UNBREAKABLE}:
        return _reason(results, UNKNOWN, _unbreakable(results, every))
    if kind == UNKNOWN:
        nobody = len(silent) == limits["metric"].nunique() > 0 and all(map(is_silent, results.whole.to_dict("records")))
        return _reason(results, UNKNOWN, no_metric if nobody else TEXT("invalid"))
    others = [*_by_any_metric(every[every["metric"] == ANY]), _unbreakable(results, every)]
    limits = limits[limits["outcome"] != UNBREAKABLE]
    if kind == ABOVE:
        texts = [*others, *_within(results, limits)]
        if BREAKS in set(limits["outcome"]):
            texts = [*_above(results, limits), *others]
        return _reason(results, ABOVE, " ".join(filter(None, [*texts, no_metric])))
    text = " ".join(filter(None, [*_within(results, limits), *others, *_by_others(results), no_metric]))
    if kind == RESERVED:
        text = f"{text} {reserved(results, ATTACK)}"
    return _reason(results, kind, text)


def _reason(results: Results, kind: str, text: str) -> str:
    """Return the verdict on the attack as one of the reasons of that on the study, named where there are several."""
    several = len(results.table(VERDICT)) > len((WHOLE, ATTACK))
    return box(f"reason {kind}", *([TEXT(f"attack.{kind}")] if several else []), text)


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
        example = _example(results, broken["metric"]) if only[0] == "conditional_rate_at_most" else []
        if n == total:
            return [TEXT("all_above", n=n, number=number, **fields), *example]
        return [TEXT("not_all_above", n=n, number=number.capitalize(), total=word(total), **fields), *example]
    totals = limits["limit"].value_counts()
    groups = broken.groupby("limit", sort=False)
    return [_broken(results, str(limit), lines, totals[limit]) for limit, lines in groups]


MAX_VALUES = 2
"""Metrics above one of several limits whose values the verdict gives, each; of more it gives the highest."""


def _broken(results: Results, limit: str, lines: pd.DataFrame, total: int) -> str:
    """Return the sentence on the metrics that are above one of several limits."""
    values = [_value(results, limit, row.metric, row.value, row.bound) for row in lines.itertuples()]
    fields = {"what": what(results, limit)}
    if len(lines) > MAX_VALUES and lines["bound"].eq(lines["bound"].iloc[0]).all():
        at = int(lines["value"].argmax())
        fields |= {"limit": bound_of(limit, lines["bound"].iloc[0]), "value": values[at]}
        fields |= {"metric": title(lines["metric"].iloc[at]), "number": word(len(lines)).capitalize()}
        return TEXT("many_above", total=word(total), **fields)
    named = zip(lines["metric"], values, lines["bound"], strict=True)
    texts = [TEXT("value", metric=title(name), value=value, limit=bound_of(limit, b)) for name, value, b in named]
    return TEXT("each_above", metrics=listed(texts), **fields)


def _example(results: Results, metrics: pd.Series) -> list[str]:
    """Return the sentence on the one of the metrics with the highest conditional rate, with its numbers of records."""
    line = results.whole.loc[results.whole.loc[list(metrics), "conditional_rate"].idxmax()]
    n, fields = round(line["n_suspected"]), {"metric": title(str(line.name)), "found": round(line["n_confirmed"])}
    rate = "" if n < FEW else f" ({percent(line['conditional_rate'])})"
    return [TEXT("example", suspected=n, rate=rate, **fields)]


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
    return [TEXT(f"by_any.{_KINDS[row.outcome]}", n=int(row.value), limit=count(row.bound)) for row in lines]


def _by_others(results: Results) -> list[str]:
    """Return the sentence on attacks at hand that the study does not limit, and that are above a limit."""
    limits = results.table(LIMITS)
    lines = limits[limits["outcome"] == EXCEEDS].drop_duplicates("metric")
    attacks = [_other(results, *row) for row in lines[["limit", "metric", "value", "bound"]].itertuples(index=False)]
    return [TEXT("others", n=len(attacks), attacks=listed(attacks[:MAX_OTHERS]))] if attacks else []


def _other(results: Results, limit: str, attack: str, value: float, bound: float) -> str:
    """Return an attack at hand beside the limit that it is above."""
    named = parts(attack)
    if limit not in COLUMNS:
        return in_words(named)
    # Of attacks that were chosen among many the rate is told, which counts by the lower end of its interval.
    subject = what(results, limit) if named["kind"] in {DECLARED, STANDARD} else TEXT(f"limits.{limit}")
    found = count(value) if limit == "confirmed_at_most" else apart(value, bound)[0]
    return TEXT("other", attack=in_words(named), what=subject, value=found, limit=bound_of(limit, bound))


def _unbreakable(results: Results, limits: pd.DataFrame) -> str:
    """Return the sentence on the limits that no result can break; empty without one."""
    names = dict.fromkeys(limits.loc[limits["outcome"] == UNBREAKABLE, "limit"])
    return TEXT("unbreakable", whats=listed([what(results, limit) for limit in names])) if names else ""


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
    links, inside = results.true_links
    if inside:
        return TEXT("unconfirmable.invalid")
    return TEXT("unconfirmable.outside", n=links) if links else TEXT("unconfirmable.no_link")


def _puf(results: Results) -> str:
    return some(round(results.whole["n_puf"].iloc[0]), "puf_record")


TENFOLD = 10
"""The multiple of the intruder's file that the brief names, or the largest one below it that has an estimate."""


def larger_file(results: Results) -> str:
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
    text = TEXT("larger", level=declared(results.level), **fields)
    guess = curve(results, metric, GUESSED)
    guess = guess[(guess["times"] == times) & guess["low"].notna()]
    if guess.empty:
        return text
    ends = span(guess["low"].iloc[0], guess["high"].iloc[0])
    return f"{text} {TEXT('larger_guess', interval=ends, level=declared(results.level))}"


def confirmed(results: Results) -> int:
    """Return the PUF records that at least one metric confirms; without the overlap, those of the best metric."""
    if not results.has("description/overlap.csv"):
        return int(results.whole["n_confirmed"].max())
    return overlap_of(results, "confirmed")


def overlap_of(results: Results, kind: str) -> int:
    """Return the PUF records that at least one metric suspects or confirms, as `kind` says."""
    overlap = results.table("description/overlap.csv")
    return int(overlap.loc[overlap["set"] == kind, "n_pufids"].sum())


def conditional_rates(lines: pd.DataFrame, limit: float | None) -> list[str]:
    """Return the cells of the conditional rate, with enough digits to tell a rate from the limit."""
    if limit is None:
        return rates(lines["conditional_rate"])
    return [
        without_unit(apart(rate, limit)[0]) if defined(rate) and percent(rate, 1) == percent(limit, 1) else text
        for rate, text in zip(lines["conditional_rate"], rates(lines["conditional_rate"]), strict=True)
    ]
