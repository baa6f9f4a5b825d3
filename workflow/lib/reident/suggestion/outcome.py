"""The tables, the variants to paste, and the sentence of the search for coarser values (METHODS §6.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import yaml

from reident.linkage.limits import COLUMNS
from reident.linkage.recodings import Change
from reident.sections.coarsening import plain
from reident.sections.decision import Decision
from reident.suggestion.search import MAX_RUNS, Tried
from reident.suggestion.step import is_limited
from reident.utility.frontier import dominated

if TYPE_CHECKING:
    from pathlib import Path

    from reident.study.model import Study

RATES = ["place", "metric", *COLUMNS.values(), "conditional_low", "conditional_high", "n_suspected"]
MAX_VARIANTS = 10
"""The largest number of variants to paste."""
NONE = "none"
WITHIN, ABOVE, OPEN = "within", "above", "none"


class Outcome(NamedTuple):
    """Tables: the sets with their losses; their rates by metric. Text: the variants to paste."""

    suggestions: pd.DataFrame
    rates: pd.DataFrame
    variants: str


def outcome(tried: Sequence[Tried], changes: Mapping[str, Sequence[Change]], decision: Decision) -> Outcome:
    """Return the outcome of the search: `tried`, best first, of the changes of each variable from fine to coarse."""
    risks = [risk(one, decision) for one in tried]
    # Where a metric can suspect no pair any more, a rate of 0 says nothing.
    worse = dominated([(math.inf if one.n_open else rate, one.loss) for one, rate in zip(tried, risks, strict=True)])
    lines = [
        {
            "place": place,
            "recodings": words(trial, changes),
            "n_recodings": len(trial.chosen),
            "verdict": OPEN if trial.n_open else ABOVE if trial.n_broken else WITHIN,
            "n_broken": trial.n_broken,
            "excess": trial.excess,
            "risk": rate,
            "values_changed": trial.result.losses["values_changed"],
            "pmse": trial.result.losses["pmse"],
            "loss": trial.loss,
            "dominated": "yes" if less else "no",
        }
        for place, (trial, rate, less) in enumerate(zip(tried, risks, worse, strict=True), start=1)
    ]
    rates = pd.concat(
        [trial.result.rates.assign(place=place) for place, trial in enumerate(tried, start=1)], ignore_index=True
    )
    return Outcome(pd.DataFrame(lines), rates[RATES], variants(tried, worse, changes))


def words(one: Tried, changes: Mapping[str, Sequence[Change]]) -> str:
    """Return a set in words: by variable, its change; `none` for the study itself."""
    texts = [f"{variable}: {changes[variable][place].title}" for variable, place in one.chosen]
    return "; ".join(texts) or NONE


def risk(one: Tried, decision: Decision) -> float:
    """Return the first rate that has a limit, the largest of the metrics; 0 where nothing is suspected."""
    limit = next(iter(decision.given("metrics")))
    column = COLUMNS[limit]
    if column == "conditional_rate" and decision.by == "upper":
        column = "conditional_high"
    lines = one.result.rates
    lines = lines[[limit in decision.given("metrics", str(metric)) for metric in lines["metric"]]]
    values = [float(value) for value in lines[column] if not math.isnan(float(value))]
    return max(values, default=0.0)


def variants(tried: Sequence[Tried], worse: Sequence[bool], changes: Mapping[str, Sequence[Change]]) -> str:
    """Return a section `variants` with the sets that no other dominates, the best first."""
    combinations: dict[str, dict[str, Any]] = {}
    for place, (one, less) in enumerate(zip(tried, worse, strict=True), start=1):
        if one.chosen and not less and len(combinations) < MAX_VARIANTS:
            combinations[str(place)] = settings(one, changes)
    if not combinations:
        return "# No set of coarser values is better than the study itself.\n"
    section = {"variants": [{"name": "suggestion", "combinations": combinations}]}
    return yaml.safe_dump(section, sort_keys=False, allow_unicode=True, width=120)


def settings(one: Tried, changes: Mapping[str, Sequence[Change]]) -> dict[str, Any]:
    """Return a set as the settings of a variant."""
    variant: dict[str, Any] = {}
    for variable, place in one.chosen:
        coarsening = changes[variable][place].coarsening
        key = f"linking_variables.{variable}"
        variant |= {key: None} if coarsening is None else {f"{key}.coarsen": plain(coarsening)}
    return variant


def answer(file: str, study: Study, results: Path, read: Callable[[Path], pd.DataFrame]) -> tuple[str, bool]:
    """Return a line on the search for a study file, and whether the study could be searched; `read` reads a table."""
    if not is_limited(study):
        wrong = "`suggest` needs a limit on the rates of `metrics`"
        return f"{file}: {wrong}. Add one to `decision`, for example `conditional_rate_at_most: 0.1`.", False
    suggestions, variants = (results / study.id / f"suggest/{name}" for name in ("suggestions.csv", "variants.yaml"))
    strata = ". Coarser strata were not tried" if study.strata else ""
    line = f"{study.id}: {sentence(read(suggestions))}{strata}"
    return f"{line}. See {suggestions}, and {variants} for the study file.", True


def sentence(suggestions: pd.DataFrame) -> str:
    """Return the outcome of the search, in one sentence for the terminal."""
    changed = suggestions[suggestions["recodings"] != NONE]
    meeting = suggestions[suggestions["verdict"] == WITHIN]
    n = len(changed)
    runs = f"{n} run" if n == 1 else f"{n} runs"
    if NONE in set(meeting["recodings"]):
        return "every metric meets its limits without coarser values"
    if meeting.empty:
        end = f" within {MAX_RUNS} runs" if n >= MAX_RUNS else f", after {runs}"
        best = suggestions.iloc[0]
        if best["recodings"] == NONE:
            return f"no set of coarser values meets the limits{end}, and none comes nearer to them than the study"
        return f"no set of coarser values meets the limits{end}; the nearest is {best['recodings']}"
    best = meeting.iloc[0]
    changed_share = 100 * float(best["values_changed"])
    lost = f"mean distance {float(best['loss']):.3g}, {changed_share:.1f} % of the values changed"
    least = f"the least is lost with {best['recodings']} ({lost})"
    return f"of {runs} with coarser values, {len(meeting)} meet the limits; {least}"
