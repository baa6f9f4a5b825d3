"""List the choices that the sources leave open, with the option in force (METHODS)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from reident.linkage.metrics import REGISTRY, adhoc, unicity
from reident.linkage.metrics.adhoc import DEFAULT_BANDS
from reident.linkage.settings import Variable
from reident.page.choices import Choice, table_of
from reident.page.layout import block, paragraphs
from reident.page.sentences import Sentences
from reident.page.terms import some, title
from reident.page.wording import UNDEFINED, count, declared, digits, number, percent
from reident.report.results import Results

TEXT = Sentences("choices")
UNICITY = Sentences("metrics/unicity")
EUCLIDEAN = Sentences("metrics/euclidean")
ADHOC = Sentences("metrics/adhoc")
WINKLER = Sentences("metrics/winkler")
FELLEGI_SUNTER = Sentences("metrics/fellegi_sunter")
RATES = Sentences("rates")


@block("study.json")
def choices_text(results: Results) -> str:  # noqa: ARG001 - every block takes the results
    """Explain the limits of a study, and the reason for choices."""
    return paragraphs(TEXT("caveat"), TEXT("text"))


@block("rates.csv")
def choices(results: Results) -> str:
    """Return the table of choices."""
    by_metric = (
        choice for metric, make in BY_METRIC.items() if metric in results.model.chosen for choice in make(results)
    )
    return table_of([*_missing(results), *_binning(results), *by_metric, *_filter(results), *_rates(results)])


def _others(options: Iterable[str], chosen: str) -> str:
    return "; ".join(f"`{name}`" for name in options if name != chosen)


def _missing(results: Results) -> list[Choice]:
    rows = [Choice(TEXT("missing_values.choice"), TEXT("missing_values.in_force"), UNDEFINED, "§1")]
    if results.strata_names:
        rows.append(Choice(TEXT("no_stratum.choice"), TEXT("no_stratum.in_force"), UNDEFINED, "§2"))
    return rows


def _binning(results: Results) -> list[Choice]:
    numeric = any(variable["type"] != "categorical" for variable in results.study["linking_variables"])
    if not numeric or all(REGISTRY[metric].reads != "binned" for metric in results.metrics):
        return []
    cutters, scopes = TEXT.group("cut_points.in_force"), TEXT.group("scope.in_force")
    binning = results.study["binning"]
    cutter, scope = binning["cutpoints"], binning["scope"]
    quantile = results.model.binning.ranks or "averaged"
    return [
        Choice(TEXT("cut_points.choice"), cutters[cutter], _others(cutters, cutter), "§3"),
        Choice(TEXT("scope.choice"), scopes[scope], _others(scopes, scope), "§3"),
        Choice(TEXT("bins.choice"), count(binning["bins"]), TEXT("bins.others"), "§3"),
        Choice(TEXT("quantile.choice"), TEXT(f"quantile.in_force.{quantile}"), TEXT("quantile.others"), "§3"),
    ]


def _unicity(results: Results) -> list[Choice]:
    options = results.options("unicity")
    missing = True
    if results.has("description/variables.csv"):
        missing = results.table("description/variables.csv")[["puf_missing", "eif_missing"]].any(axis=None)
    sets = UNICITY.group("choices.in_force")
    text, chosen = sets[unicity.sets_in_force(options, missing)], str(options.interactions)
    if options.max_order is not None:
        text, chosen = UNICITY("choices.max_order", n=options.max_order, sets=text), "max_order"
    elif chosen == "auto":
        text = UNICITY("choices.auto_missing" if missing else "choices.auto_complete", sets=text)
    return [Choice(UNICITY("choices.choice"), text, _others(["auto", *sets, "max_order"], chosen), "§4.1")]


def _alpha(results: Results, metric: str, source: str) -> Choice:
    alpha = results.options(metric).alpha
    if alpha == Fraction(1, 2):
        text = TEXT("alpha.half", alpha=_tex(alpha))
    else:
        text = TEXT("alpha.share", alpha=_tex(alpha), share=percent(float(alpha)))
    return Choice(TEXT("alpha.choice", metric=title(metric)), text, TEXT("alpha.others"), source)


def _tex(value: Fraction) -> str:
    """Return a fraction as a decimal where that is exact."""
    decimal = f"{float(value):.6g}"
    if Fraction(decimal) != value:
        return f"{value.numerator}/{value.denominator}"
    return digits(decimal).replace(",", "{,}")  # TeX would set a space after a comma


def _euclidean(results: Results) -> list[Choice]:
    options = results.options("euclidean")
    norms, norm = EUCLIDEAN.group("choices.norm.in_force"), options.norm
    scopes, scope = TEXT.group("scope.in_force"), results.study["binning"]["scope"]
    steps = "whole_steps" if options.whole_steps else "exact"
    z_scores = EUCLIDEAN(f"choices.z_scores.in_force.{steps}", scope=scopes[scope])
    return [
        _alpha(results, "euclidean", "§4.3"),
        Choice(EUCLIDEAN("choices.norm.choice"), norms[norm], _others(norms, norm), "§4.3"),
        Choice(EUCLIDEAN("choices.z_scores.choice"), z_scores, _others(scopes, scope), "§4.3"),
    ]


def _adhoc(results: Results) -> list[Choice]:
    variables = [Variable(v["name"], v["type"]) for v in results.study["linking_variables"]]
    options = results.options("adhoc")
    n, total = sum(variable.name not in options.scores for variable in variables), len(variables)
    text = ADHOC("choices.scores.declared")
    if n:
        bands = [
            ADHOC("choices.scores.band", score=score, within=digits(f"{within:g}")) for within, score in DEFAULT_BANDS
        ]
        text = ADHOC("choices.scores.default", n=n, total=total, bands=", ".join(bands))
    chosen = "primer" if options.threshold is None else "number"
    chosen = "half_of_maximum" if options.threshold == "half_of_maximum" else chosen
    threshold = ADHOC(
        f"choices.threshold.in_force.{chosen}", threshold=digits(f"{adhoc.threshold(options, variables).normalize():f}")
    )
    return [
        Choice(ADHOC("choices.scores.choice"), text, ADHOC("choices.scores.others"), "§4.4"),
        Choice(ADHOC("choices.threshold.choice"), threshold, ADHOC("choices.threshold.others"), "§4.4"),
    ]


def _winkler(results: Results) -> list[Choice]:
    options, total = results.options("winkler"), len(results.study["linking_variables"])
    rule, least = options.model_dump()["agreement"], options.min_agree
    if isinstance(rule, dict):
        ((name, n),) = rule.items()
        agreement = WINKLER(f"choices.agreement.{name}", n=int(n))
    else:
        name, agreement = rule, WINKLER(f"choices.agreement.in_force.{rule}")
    suspected = WINKLER(f"choices.suspected.{'closest' if name == 'closest' else 'most'}")
    if least > 1:
        variables = some(total, "linking_variable")
        suspected = WINKLER("choices.suspected.at_least", least=least, variables=variables)
    scopes, scope = TEXT.group("scope.in_force"), results.study["binning"]["scope"]
    neighbours = WINKLER("choices.neighbours.in_force", scope=scopes[scope])
    rules = ("half_gap", "printed", "midpoint", "nearest", "closest")
    return [
        Choice(WINKLER("choices.agreement.choice"), agreement, _others(rules, name), "§4.5"),
        Choice(WINKLER("choices.suspected.choice"), suspected, WINKLER("choices.suspected.others", n=total), "§4.5"),
        Choice(WINKLER("choices.neighbours.choice"), neighbours, _others(scopes, scope), "§4.5"),
    ]


def _switch(name: str, on: bool) -> Choice:
    in_force = FELLEGI_SUNTER(f"choices.{name}.{'yes' if on else 'no'}")
    return Choice(FELLEGI_SUNTER(f"choices.{name}.choice"), in_force, FELLEGI_SUNTER(f"choices.{name}.others"), "§4.6")


def _fellegi_sunter(results: Results) -> list[Choice]:
    options = results.options("fellegi_sunter")
    limit, rules = options.threshold, FELLEGI_SUNTER.group("choices.m.in_force")
    threshold = (
        FELLEGI_SUNTER("choices.threshold.weight", weight=number(limit.weight))
        if limit.probability is None
        else FELLEGI_SUNTER("choices.threshold.probability", probability=declared(limit.probability))
    )
    n = len(options.partial)
    partial = some(n, "variable") if n else FELLEGI_SUNTER("choices.partial.none")
    others = FELLEGI_SUNTER("choices.threshold.others")
    levels = FELLEGI_SUNTER.group("choices.levels.in_force")
    pairs = FELLEGI_SUNTER(f"choices.one_to_one.{'one' if options.one_to_one else 'many'}")
    return [
        Choice(FELLEGI_SUNTER("choices.m.choice"), rules[options.m], _others(rules, options.m), "§4.6"),
        Choice(FELLEGI_SUNTER("choices.threshold.choice"), threshold, others, "§4.6"),
        Choice(
            FELLEGI_SUNTER("choices.levels.choice"), levels[options.levels], _others(levels, options.levels), "§4.6"
        ),
        *(_switch(name, getattr(options, name)) for name in ("competition", "frequency")),
        Choice(FELLEGI_SUNTER("choices.partial.choice"), partial, FELLEGI_SUNTER("choices.partial.others"), "§4.6"),
        Choice(FELLEGI_SUNTER("choices.one_to_one.choice"), pairs, FELLEGI_SUNTER("choices.one_to_one.others"), "§4.6"),
    ]


BY_METRIC = {
    "unicity": _unicity,
    "taxicab": lambda results: [_alpha(results, "taxicab", "§4.2")],
    "euclidean": _euclidean,
    "adhoc": _adhoc,
    "winkler": _winkler,
    "fellegi_sunter": _fellegi_sunter,
}


def _filter(results: Results) -> list[Choice]:
    if not results.ranked:
        return []
    limit = TEXT("rank_limit.in_force", pairs=some(results.max_pairs, "pair"))
    return [
        Choice(TEXT("rank_limit.choice"), limit, TEXT("rank_limit.others"), "§5"),
        Choice(TEXT("ambiguous.choice"), TEXT("ambiguous.in_force"), UNDEFINED, "§5"),
    ]


def _rates(results: Results) -> list[Choice]:
    methods, method = RATES.group("by_metric.intervals"), results.study["rates"]["interval"]
    interval = TEXT("interval.in_force", method=methods[method], level=declared(results.level))
    rows = [
        Choice(TEXT("interval.choice"), interval, _others(methods, method), "§6"),
        Choice(TEXT("baseline.choice"), TEXT("baseline.in_force"), UNDEFINED, "§6"),
        Choice(TEXT("denominator.choice"), TEXT("denominator.in_force"), TEXT("denominator.others"), "§6"),
    ]
    if results.has("prepared/account.csv"):
        unknown = results.account("prepare", "iuf").get("unknown_link", 0)
        iuf = (results.study.get("files") or {}).get("iuf", {})
        tolerated = iuf.get("unknown_links_at_most", 0)
        text = TEXT("unknown_links.in_force", unknown=unknown, tolerated=tolerated)
        rows.append(Choice(TEXT("unknown_links.choice"), text, TEXT("unknown_links.others"), "§1"))
    return rows
