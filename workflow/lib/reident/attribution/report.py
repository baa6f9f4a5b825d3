"""Attribute disclosure: the disclosures of each target by each set of keys, beside its baseline (METHODS §12)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes

from reident.attribution.section import PUF, SYNTHETIC
from reident.outcomes import ATTRIBUTES, LIMITS, VERDICT
from reident.page import style
from reident.page.choices import choices_of, table_of
from reident.page.columns import columns
from reident.page.common import FEW, in_order, keys_in_words, portion, row_account, share_of, top_of, verdict_on
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.style import Figure
from reident.page.terms import some
from reident.page.wording import UNDEFINED, apart, code, count, declared, defined, escape, fixed, number, percent, word

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("attribution")
FRONT = Sentences("front")
SUMMARY, TARGETS, ACCOUNT = "attribution/summary.csv", "attribution/targets.csv", "attribution/account.csv"
MEAN = "mean"
MAX_SETS = 5
"""The table of sets shows at most this number for each target, those that disclose most."""

OTHERS, HOLDOUT = "others", "holdout"
"""The baselines: other persons of the file, persons who are not in it."""

WHOLE = 1e-6
"""A mean number of people that is no farther from a whole one is shown as that."""

COMPARED = ["metric", "value", "bound"]
"""Columns of the limits: the target, and what is compared with its limit."""


def by_set(results: Results) -> pd.DataFrame:
    """Return the means over the released files, one line per target and set of keys.

    `disco_baseline` and `cap_baseline` are NaN where the study has no baseline. Of the values that seem to be
    disclosed, `correct` is the share that is, and `guess_no_key` that which the best guess without any key gets right.
    """
    lines, kind = _means(results), baseline_of(results)
    seem = lines["disclosive"].where(lines["disclosive"] > 0)
    return lines.assign(
        disco_baseline=lines[f"disco_{kind}"] if kind else math.nan,
        cap_baseline=lines[f"cap_{kind}"] if kind else math.nan,
        correct=lines["disco"] / seem,
        guess_no_key=lines["disclosive_guess"] / seem,
    )


def _means(results: Results) -> pd.DataFrame:
    lines = results.table(SUMMARY)
    return lines[lines["file"] == MEAN]


def n_files(results: Results) -> int:
    """Return how many released files there are."""
    return results.table(SUMMARY)["file"].nunique() - 1


def baseline_of(results: Results) -> str:
    """Return the baseline that the study has: that of a holdout comes first; empty without one."""
    lines = _means(results)
    kinds = [kind for kind in (HOLDOUT, OTHERS) if lines[f"disco_{kind}"].notna().any()]
    return kinds[0] if kinds else ""


def worst(results: Results) -> pd.DataFrame:
    """Return the line of the most dangerous set of each target, in the order of the study; the index is the target."""
    lines = by_set(results)
    return lines[lines["danger"] == 1].set_index("target")


def target_name(target: str, within: object = "") -> str:
    """Return a target's name, with the tolerance of a number."""
    if not isinstance(within, str) or not within:
        return escape(target)
    kind, size = within.split(" ")
    exact = float(Fraction(size))
    radius = declared(exact) if kind == "relative" else number(exact)
    return TEXT("targets.within", target=escape(target), radius=radius)


@block(SUMMARY, LIMITS, VERDICT)
def attribution_overall(results: Results) -> str | None:
    """Give the verdict on attribute disclosure, where the study sets a limit for it."""
    return verdict_on(results, ATTRIBUTES, TEXT, "nobody", _limits)


def _limits(results: Results, limits: pd.DataFrame) -> list[str]:
    return [_limit(results, *line) for line in limits[COMPARED].to_numpy()]


def _limit(results: Results, target: str, value: float, bound: float) -> str:
    fields = {"target": escape(target), "limit": declared(bound)}
    if not defined(value):
        return TEXT("verdict.limit", value=UNDEFINED, **fields)
    n = worst(results).at[target, "n_original"]
    value_of = FRONT("value_of", value=share_of(value, n) if n < FEW else apart(value, bound)[0], n=count(n))
    return TEXT("verdict.limit", value=value_of, **fields)


@block(SUMMARY, TARGETS)
def attribution_findings(results: Results) -> str:
    """Say in the brief how much a set of keys discloses of each target at most, and a guess without any key."""
    types = results.table(TARGETS).set_index("target")["type"]
    texts = (
        _finding(results, str(target), line, numeric=types[target] != "categorical")
        for target, line in worst(results).iterrows()
    )
    return box("findings", items(texts))


def _finding(results: Results, target: str, line: pd.Series, *, numeric: bool) -> str:
    m, kind, n = n_files(results), baseline_of(results), line["n_original"]
    intruder = TEXT("findings.intruder", n=m, number=word(m), keys=keys_in_words(line["keys"]))
    fields = {"intruder": intruder, "target": escape(target)}
    if not line["disclosive"] > 0:
        return TEXT("findings.nothing", **fields)
    size = n * line["disclosive"]  # of the people for whom a value is disclosed, the mean over the files
    right, guess = (share_of(line[name], size) for name in ("correct", "guess_no_key"))
    texts = [
        TEXT(f"findings.{'numeric' if numeric else 'disclosed'}", **fields, people=_people(line["disclosive"], n)),
        TEXT("findings.compared", right=right, guess=guess, n=_number(size)),
    ]
    if kind:
        others = _people(line[f"disco_{kind}"], line["n_holdout"] if kind == HOLDOUT else n)
        texts += [TEXT("findings.correct", people=_people(line["disco"], n)), TEXT(f"findings.{kind}", people=others)]
    return " ".join(texts)


def _people(share: float, n: float) -> str:
    return portion(_number(n * share), share, n, some(round(n), "person"))


def _number(people: float) -> str:
    """Return a number of people, which need not be whole, as a mean over files."""
    if abs(people - round(people)) < WHOLE:
        return count(people)
    return TEXT("findings.about", n=fixed(people, int(people < FEW)))


@block(SUMMARY, TARGETS)
def attribution_premise(results: Results) -> str:
    """Explain the comparison and the baseline."""
    options, kind = results.model.attributed, baseline_of(results)
    if options.released == PUF:
        first = TEXT("premise.puf")
    elif options.released == SYNTHETIC:
        n = n_files(results)
        first = TEXT("premise.synthetic", files=TEXT("premise.synthetic_files", n=n, number=word(n)))
    else:
        first = TEXT("premise.files")
    lines = by_set(results)
    if kind == HOLDOUT:
        baseline = TEXT("premise.holdout", people=some(int(lines["n_holdout"].max()), "person"))
    else:
        baseline = TEXT("premise.others") if kind else TEXT("premise.nothing")
    sets, targets = some(lines["keys"].nunique(), "set"), some(lines["target"].nunique(), "target_variable")
    return paragraphs(first, baseline, TEXT("premise.sets", sets=sets, targets=targets, table=SUMMARY))


@block(SUMMARY, TARGETS)
def attribution_targets(results: Results) -> str:
    """Show the most dangerous set of keys of each target beside its baseline; warn where one value dominates."""
    lines, targets = worst(results), results.table(TARGETS)
    names = [target_name(*pair) for pair in zip(targets["target"], targets["within"], strict=True)]
    dominated, keys = targets[targets["dominated"]], [keys_in_words(keys) for keys in lines["keys"]]
    return paragraphs(
        table(
            TEXT("targets.caption"),
            ReportColumn(TEXT("targets.columns.target"), [f"**{name}**" for name in names], "l", "1.2fr"),
            ReportColumn(TEXT("targets.columns.keys"), keys, "l", "1.6fr"),
            *columns(lines, TEXT, "disco disco_baseline", "1fr", group="targets.columns"),
            *columns(lines, TEXT, "correct", "1.3fr", group="targets.columns"),
            *columns(lines, TEXT, "guess_no_key cap cap_baseline", "1fr", group="targets.columns"),
        ),
        box("warning", *_dominated(results, dominated)) if len(dominated) else None,
    )


def _dominated(results: Results, lines: pd.DataFrame) -> Iterator[str]:
    for line in lines.itertuples():
        level = code(results.label(str(line.target), str(line.level)))
        yield TEXT("targets.dominated", target=escape(line.target), share=percent(line.level_share), level=level)


@block(SUMMARY, TARGETS)
def attribution_sets(results: Results) -> str:
    """Show for each target the sets of keys that disclose most."""
    lines = by_set(results)
    sets = lines[lines["danger"] <= MAX_SETS].sort_values("danger", kind="stable")
    sets = in_order(sets, "target", lines["target"]).assign(keys=lambda found: found["keys"].map(keys_in_words))
    return paragraphs(
        *_most(results),
        table(
            TEXT("sets.caption", shown=MAX_SETS),
            *columns(sets, TEXT, "target:labels@1fr", group="targets.columns"),
            *columns(sets, TEXT, "keys:text@2fr matched repu", "1fr", group="sets.columns"),
            *columns(sets, TEXT, "disco disco_baseline cap cap_baseline", "1fr", group="targets.columns"),
            kind="compact",
        ),
    )


def _most(results: Results) -> Iterator[str]:
    kind = baseline_of(results)
    for target, line in worst(results).iterrows():
        baseline = line["disco_baseline"]
        if not defined(baseline) or not defined(line["disco"]):
            text = TEXT("sets.no_baseline")
        elif line["disco"] > baseline:
            text = TEXT(f"sets.{kind}", baseline=percent(baseline), excess=percent(line["disco"] - baseline))
        else:
            text = TEXT("sets.below", baseline=percent(baseline))
        correct = TEXT("sets.correct", correct=percent(line["correct"]), guess=percent(line["guess_no_key"]))
        yield TEXT(
            "sets.text",
            target=escape(target),
            keys=keys_in_words(line["keys"]),
            baseline=text,
            correct=correct if defined(line["correct"]) else "",
        )


@block(SUMMARY, TARGETS)
def attribution_choices(results: Results) -> str:
    """Show the open points of the sources, with the option in force."""
    options = results.model.attributed
    chosen = {
        "missing": (options.missing, "`excluded`" if options.missing == "category" else "`category`"),
        "unmatched": ("zero", UNDEFINED),
        "baseline": (baseline_of(results) or "none", "`holdout`"),
    }
    if (results.table(TARGETS)["type"] != "categorical").any():
        chosen["numeric"] = ("within", "`within`")
    if n_files(results) > 1:
        chosen["files"] = ("mean", UNDEFINED)
    return table_of(choices_of(TEXT, chosen, "§12"))


@block(ACCOUNT)
def attribution_account(results: Results) -> str:
    """Show the row account of the files."""
    return row_account(results.table(ACCOUNT), TEXT("account"))


@block(SUMMARY, TARGETS)
def attribution_sets_figure(results: Results) -> Figure:
    """Draw the disclosures of each target by every set of keys, naming the most dangerous one."""
    lines, first = by_set(results), worst(results)
    no_key = results.table(TARGETS).set_index("target")["cap"]
    targets = list(first.index)

    def draw(measure: str, axes: Axes) -> None:
        values = {target: lines.loc[lines["target"] == target, measure] for target in targets}
        _strip(axes, values, first[measure])
        _baselines(axes, first[f"{measure}_baseline"], no_key if measure == "cap" else None)
        style.percent_axis(axes, top_of([*lines[measure].dropna(), *no_key.dropna()], None), 3)

    panels = {TEXT(f"figure.{measure}"): partial(draw, measure) for measure in ("disco", "cap")}
    alt, caption = _described(lines, first, no_key), TEXT("figure.caption")
    return style.row_figure(panels, targets, extra=0.5, alt=alt, caption=caption, between=0.05)


def _strip(axes: Axes, values: dict[str, pd.Series], worst_values: pd.Series) -> None:
    """Draw a tick for every set, and a dot for the most dangerous one."""
    for at, shares in enumerate(values.values()):
        label = None if at else TEXT("figure.sets")
        axes.plot(shares, [at] * len(shares), "|", label=label, clip_on=False, **style.TICK)
    look = style.full(5, clip_on=False)
    axes.plot(worst_values, range(len(values)), "o", label=TEXT("figure.worst"), **look)


def _baselines(axes: Axes, values: pd.Series, no_key: pd.Series | None) -> None:
    """Draw the baseline of the most dangerous set, and of a guess without any key."""
    at = range(len(values))
    if values.notna().any():
        square = style.hollow(4.6, 4, style.INK, clip_on=False)
        axes.plot(values, at, "s", label=TEXT("figure.baseline"), **square)
    shares = [float("nan")] * len(values) if no_key is None else list(no_key)
    axes.plot(shares, at, "D", label=TEXT("figure.no_key"), **style.hollow(4.6, 4, clip_on=False))


def _described(lines: pd.DataFrame, first: pd.DataFrame, no_key: pd.Series) -> str:
    texts = []
    for target, line in first.iterrows():
        disco = lines.loc[lines["target"] == target, "disco"]
        ends = {"low": percent(disco.min()), "high": percent(disco.max())}
        caps = {"cap": percent(line["cap"]), "no_key": percent(no_key[target])}
        texts.append(TEXT("figure.alt_target", target=str(target), **ends, **caps))
    return TEXT("figure.alt", targets=" ".join(texts))
