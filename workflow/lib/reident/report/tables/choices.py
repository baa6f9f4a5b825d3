"""Choices that the sources leave open: the option in force, the others, and what to be wary of (METHODS)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from reident.linkage.metrics import euclidean, unicity
from reident.linkage.metrics.adhoc import DEFAULT_BANDS
from reident.report.layout import Column, block, part, table
from reident.report.results import Results, title
from reident.report.tables.front import unconfirmable
from reident.report.wording import count, declared, escape, listed, percent, some


class Choice(NamedTuple):
    """One open point: what is open, the option in force, the other options, and where METHODS treats it."""

    what: str
    chosen: str
    others: str
    source: str


@part("study.json")
def choices_text(results: Results) -> str:  # noqa: ARG001 - every part takes the results
    """Why there are choices."""
    return (
        "Where the published methods are silent or contradict themselves, somebody has to choose, and another choice "
        "may give other numbers. These are the options in force, with the section of METHODS that defines each."
    )


@part("rates.csv")
def choices(results: Results) -> str:
    """The table of choices."""
    found = [
        *_missing(results),
        *_binning(results),
        *(
            choice
            for metric, make in _OF_METRIC.items()
            if metric in results.metrics
            for choice in make(results)
        ),
        *_filter(results),
        *_rates(results),
    ]
    return table_of(found)


def table_of(found: list[Choice]) -> str:
    """Choices as a table."""
    return table(
        "Open choices, with the option in force.",
        Column("Choice", [f"**{choice.what}**" for choice in found], "l", "2fr"),
        Column("In force", [choice.chosen for choice in found], "l", "4fr"),
        Column("Other options", [choice.others for choice in found], "l", "3fr"),
        Column("METHODS", [choice.source for choice in found], "l"),
        kind="compact",
    )


def _missing(results: Results) -> list[Choice]:
    found = [
        Choice("Missing values", "codes that the study declares, nothing else", "–", "§1"),
    ]
    if results.strata_names:
        found.append(
            Choice(
                "No stratum",
                "a record with a missing strata value is never compared and stays in the denominators",
                "–",
                "§2",
            )
        )
    return found


_CUTTER = {
    "puf": "quantiles of the PUF cut both files",
    "eif": "quantiles of the EIF cut both files",
    "pooled": "quantiles of both files together cut both",
    "each": "each file is cut by its own quantiles",
}
_SCOPE = {"stratum": "in each stratum", "study": "once for the whole study"}


def _binning(results: Results) -> list[Choice]:
    numeric = [variable for variable in results.study["linking_variables"] if variable["type"] == "numeric"]
    if not numeric or not {"unicity", "taxicab"} & set(results.metrics):
        return []
    binning = results.study["binning"]
    return [
        Choice("Cut points", _CUTTER[binning["cutpoints"]], _others(_CUTTER, binning["cutpoints"]), "§3"),
        Choice("Scope of cut points", _SCOPE[binning["scope"]], _others(_SCOPE, binning["scope"]), "§3"),
        Choice("Number of bins", count(binning["bins"]), "any from 2", "§3"),
        Choice(
            "Quantile", "empirical with averaging; ties stay together, so that bins can be empty", "–", "§3"
        ),
    ]


def _others(options: dict[str, str], chosen: str) -> str:
    return "; ".join(f"`{name}`" for name in options if name != chosen)


_SETS = {
    "all": "all sets of linking variables",
    "full": "only the set of all linking variables",
    "jointly_observed": "for each pair the variables present in both records",
}


def any_missing(results: Results) -> bool:
    """Whether a linking value is missing in either file, which decides what `auto` means."""
    found = results.table("description/variables.csv")
    return bool((found["puf_missing"] + found["eif_missing"]).sum())


def _unicity(results: Results) -> list[Choice]:
    options = unicity.Options.model_validate(results.options("unicity"))
    missing = any_missing(results) if results.has("description/variables.csv") else True
    said = _SETS[unicity.sets_in_force(options, missing)]
    if options.max_order is not None:
        said += f" of at most {some(options.max_order, 'variable')}"
    elif options.interactions == "auto":
        said += f", since {'linking values are' if missing else 'no linking value is'} missing (`auto`)"
    names = ["auto", *_SETS, "max_order"]
    taken = "max_order" if options.max_order is not None else options.interactions
    return [
        Choice("Unicity: sets of variables", said, "; ".join(f"`{n}`" for n in names if n != taken), "§4.1")
    ]


def _taxicab(results: Results) -> list[Choice]:
    return [_alpha(results, "taxicab", "§4.2")]


def _alpha(results: Results, metric: str, source: str) -> Choice:
    alpha = Fraction(str(results.options(metric).get("alpha", "0.5")))
    said = f"$\\alpha = {_tex(alpha)}$: a missing value counts as {_part_of(alpha)} of a difference"
    return Choice(f"{title(metric)}: missing value", said, "$0 < \\alpha \\leq 1$", source)


def _tex(value: Fraction) -> str:
    decimal = f"{float(value):.6g}"
    return decimal if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"


def _part_of(value: Fraction) -> str:
    return "half" if value == Fraction(1, 2) else percent(float(value))


def _euclidean(results: Results) -> list[Choice]:
    norm = results.options("euclidean").get("norm", "primer")
    formula = {
        "primer": "$\\sqrt{\\sum_j s_j^2}\\,/\\,v < \\alpha/2$, as printed (`primer`)",
        "rms": "$\\sqrt{\\sum_j s_j^2/v} < \\alpha/\\sqrt{2}$ (`rms`)",
    }
    return [
        _alpha(results, "euclidean", "§4.3"),
        Choice("Euclidean: norm and threshold", formula[norm], _others(formula, norm), "§4.3"),
        Choice(
            "Euclidean: z-scores",
            f"mean and standard deviation of the PUF, {_SCOPE[results.study['binning']['scope']]}; differences are "
            "capped at 6",
            _others(_SCOPE, results.study["binning"]["scope"]),
            "§4.3",
        ),
    ]


def defaults_of_adhoc(results: Results) -> list[str]:
    """The linking variables that the adhoc metric scores by its default rules."""
    scores = results.options("adhoc").get("scores") or {}
    return [v["name"] for v in results.study["linking_variables"] if v["name"] not in scores]


def _adhoc(results: Results) -> list[Choice]:
    names = defaults_of_adhoc(results)
    total = len(results.study["linking_variables"])
    bands = ", ".join(f"{score} within {within:g}" for within, score in DEFAULT_BANDS)
    if not names:
        said = "declared by the study for every linking variable"
    else:
        said = (
            f"default for {count(len(names))} of {count(total)} variables: categorical 5 if equal; numeric {bands} "
            "standard deviations of the PUF"
        )
    return [
        Choice("Adhoc: scores", said, "`exact`; `bands`; `table`; `function`", "§4.4"),
        Choice("Adhoc: threshold", f"sum above 5v/2, here {total * 5 / 2:g}", "–", "§4.4"),
    ]


_AGREEMENT = {
    "half_gap": "within half the distance to the nearer of the next masked values below and above",
    "midpoint": "where no masked value is nearer",
    "nearest": "",
}


def _winkler(results: Results) -> list[Choice]:
    options = results.options("winkler")
    rule, least = options.get("agreement", "half_gap"), options.get("min_agree", 1)
    name, said = rule, _AGREEMENT.get(str(rule), "")
    if isinstance(rule, dict):
        name, g = "nearest", rule["nearest"]
        said = "the nearest EIF value" if g == 1 else f"among the {count(g)} nearest EIF values"
    total = some(len(results.study["linking_variables"]), "linking variable")
    what = "the most agreements win" if least == 1 else f"at least {count(least)} of {total} agree"
    scope = results.study["binning"]["scope"]
    return [
        Choice("Winkler: a numeric value agrees", f"{said} (`{name}`)", _others(_AGREEMENT, name), "§4.5"),
        Choice(
            "Winkler: suspected",
            what,
            f"`min_agree` from 1 to {count(len(results.study['linking_variables']))}",
            "§4.5",
        ),
        Choice("Winkler: neighbours", f"taken {_SCOPE[scope]}", _others(_SCOPE, scope), "§4.5"),
    ]


_OF_METRIC = {
    "unicity": _unicity,
    "taxicab": _taxicab,
    "euclidean": _euclidean,
    "adhoc": _adhoc,
    "winkler": _winkler,
}


def _filter(results: Results) -> list[Choice]:
    if not results.ranked:
        return []
    return [
        Choice(
            "Rank limit",
            f"ranks with at most {some(results.max_pairs, 'pair')} together",
            "`max_pairs`",
            "§5",
        ),
        Choice(
            "Ambiguous records",
            "nothing is suspected of a record whose best rank is above the limit",
            "–",
            "§5",
        ),
    ]


def _rates(results: Results) -> list[Choice]:
    intervals = {"clopper-pearson": "Clopper–Pearson", "wilson": "Wilson"}
    method = results.study["rates"]["interval"]
    files = results.study.get("files") or {}
    tolerated = files.get("iuf", {}).get("unknown_links_at_most", 0)
    found = [
        Choice(
            "Interval", f"{intervals[method]}, {declared(results.level)}", _others(intervals, method), "§6"
        ),
        Choice(
            "Baseline", "as many EIF records of the stratum as were suspected, drawn at random", "–", "§6"
        ),
        Choice(
            "Denominator",
            "all released records, also those without a true link",
            "reach, for linked ones",
            "§6",
        ),
    ]
    if results.has("prepared/account.csv"):
        unknown = results.account("prepare", "iuf").get("link to an unknown record", 0)
        found.append(
            Choice(
                "Links to unknown records",
                f"{count(unknown)} left out; at most {count(tolerated)} tolerated",
                "`unknown_links_at_most`",
                "§1",
            )
        )
    return found


@part("rates.csv")
def warnings(results: Results) -> str | None:
    """What a reader should be wary of, set apart."""
    said = [
        *_euclidean_warning(results),
        *_adhoc_warning(results),
        *_links_warning(results),
        *_notes(results),
    ]
    return block("warning", *said) if said else None


def _euclidean_warning(results: Results) -> list[str]:
    if "euclidean" not in results.metrics:
        return []
    options = euclidean.Options.model_validate(results.options("euclidean"))
    v = len(results.study["linking_variables"])
    if not euclidean.excludes_nothing(options, v):
        return []
    return [
        (
            f"**Euclidean: the threshold excludes nothing.** With {v} linking variables the score as printed cannot "
            f"exceed $1/\\sqrt{{{v}}}$, which is not above the threshold $\\alpha/2$: practically every pair passes, "
            "and only the rank filter chooses. The option `norm: rms` has a threshold that can exclude."
        )
    ]


def _adhoc_warning(results: Results) -> list[str]:
    names = defaults_of_adhoc(results) if "adhoc" in results.metrics else []
    if not names:
        return []
    shown = [escape(name) for name in names[:12]]
    if len(names) > 12:
        shown.append(f"{count(len(names) - 12)} more")
    return [
        f"**Adhoc: default scores.** The study declares no scores for {listed(shown)}; the default rules were used."
    ]


def _links_warning(results: Results) -> list[str]:
    if not results.has("strata/account.csv"):
        return []
    links, inside = results.true_links
    lost = links - inside
    if not links:
        return [f"**No true link.** {unconfirmable(results)}"]
    if not lost:
        return []
    if not inside:
        lead = "All true links lie outside the strata"
    else:
        lead = (
            "Most true links lie outside the strata" if 2 * lost > links else "True links outside the strata"
        )
    return [
        (
            f"**{lead}.** {count(lost)} of {some(links, 'true link')} ({percent(lost / links)}) cannot be found by any "
            "metric. The rates say nothing of an intruder who does not rely on the strata variables."
        )
    ]


def _notes(results: Results) -> list[str]:
    """Sentences that the preparation of the files left for the analyst."""
    name = "prepared/warnings.csv"
    if not results.has(name):
        return []
    return [f"**Files.** {escape(line)}" for line in results.table(name)["warning"]]
