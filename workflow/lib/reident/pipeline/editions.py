"""The settings of the step `edition` (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reident.linkage.metrics import REGISTRY
from reident.linkage.step import attacking
from reident.sections.base import required
from reident.sections.codes import Coding, normaliser
from reident.sections.decision import LIMITS
from reident.sections.edition import ANY, ATTACK, MATCHING, METRIC, POPULATION, SINGLE
from reident.sections.linkage import StrataVariable
from reident.study.model import Study
from reident.study.step import Heading, heading


class Bound(NamedTuple):
    """A limit on a count: its key in `decision`, what it is about, and its bound."""

    limit: str
    about: str  # a statement, see :mod:`reident.sections.edition`
    kind: str  # a count of it
    metric: str  # empty for a limit of no single metric
    bound: float
    # The method and level of the interval whose upper end is compared; None where the rate itself is.
    interval: tuple[str, float] | None = None


@dataclass(frozen=True)
class EditionSettings:
    """The settings of the step `edition`.

    Attributes
    ----------
    metrics : the metrics whose pairs follow from the files alone
    strata : by name, the labels of the codes of each strata variable
    by_stratum : whether the statement has the records found in each stratum
    variables : the linking variables, or what an intruder knows (known and synthesized variables), or the key variables
    bounds : the limits that are about counts of the statements
    more_limits : whether the study has other limits, which no statement is about
    """

    study: str
    heading: Heading
    seed: str
    by_stratum: bool
    one_to_one: bool
    released_means: Literal["within"] | None
    counted: Literal["records", "units"]
    metrics: tuple[str, ...]
    strata: Mapping[str, Mapping[str, str]]
    variables: tuple[str, ...]
    bounds: tuple[Bound, ...]
    more_limits: bool


def editing(study: Study) -> EditionSettings:
    """Return the settings of the step `edition`."""
    release = required(study.release, "release")
    metrics = public_metrics(study)
    bounds = tuple(_bounds(study, metrics))
    limits = {key for section in LIMITS for key in (study.decision.given(section) if study.decision else ())}
    if study.chosen:
        variables = tuple(variable.name for variable in study.linking_variables)
    elif study.matching:
        known, drawn = study.matched.sets[0].known, study.matched.synthesized
        variables = (*known, *(variable.name for variable in drawn))
    else:
        variables = tuple(variable.name for variable in study.risk_key)
    return EditionSettings(
        study=study.id,
        heading=heading(study),
        seed=release.seed or "",
        by_stratum=release.strata,
        one_to_one=release.one_to_one,
        released_means=release.released_means,
        counted="units" if study.units else "records",
        metrics=metrics,
        strata={variable.name: _labels(variable) for variable in study.strata},
        variables=variables,
        bounds=bounds,
        more_limits=not limits <= {bound.limit for bound in bounds},
    )


def public_metrics(study: Study) -> tuple[str, ...]:
    """Return the metrics whose pairs follow from the files alone, not from links."""
    if not study.chosen:
        return ()
    weighing = attacking(study).weighing
    informed = weighing is not None and weighing.informed
    return tuple(name for name in study.chosen if not (informed and REGISTRY[name].weighs))


KINDS = {
    "conditional_rate_at_most": METRIC,
    "single_rate_at_most": SINGLE,
    "confirmed_rate_at_most": METRIC,
    "confirmed_at_most": METRIC,
    "confirmed_by_any_at_most": ANY,
}
"""The limits that are about a count of an attack."""


def _bounds(study: Study, metrics: tuple[str, ...]) -> Iterator[Bound]:
    """Yield the limits on counts. Those on rates of links (reach), sums of fractions or models are not on counts."""
    decision = study.decision
    if decision is None:
        return
    for section in ("metrics", "metrics.any") if metrics else ():
        for limit, metric, bound in decision.each(section, metrics if section == "metrics" else ()):
            # What "any" is about must be what is told of any: all metrics of the study.
            is_told = metric in metrics if metric else len(metrics) == len(study.chosen)
            if limit not in KINDS or not is_told:
                continue
            by_upper = decision.by == "upper" and limit == "conditional_rate_at_most"
            if by_upper and study.rates.interval == "clustered":
                continue
            interval = (study.rates.interval, study.rates.level) if by_upper else None
            yield Bound(limit, ATTACK, KINDS[limit], metric, float(bound), interval)
    if decision.population_uniques_at_most is not None:
        yield Bound("population_uniques_at_most", POPULATION, "unique", "", float(decision.population_uniques_at_most))
    if decision.true_match_rate_at_most is not None:
        yield Bound("true_match_rate_at_most", MATCHING, "right", "", decision.true_match_rate_at_most)


def _labels(variable: StrataVariable) -> dict[str, str]:
    """Return the declared labels of the codes of a strata variable, by code as the tables have it."""
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    return {normal(code): label for code, label in variable.labels.items()}
