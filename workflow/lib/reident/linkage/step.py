"""The settings of the steps of the attack, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reident.linkage.attack_settings import AttackSettings
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.winkler import Closest
from reident.linkage.settings import (
    AgreementSettings,
    AssignmentSettings,
    BinningSettings,
    ClaimSettings,
    ConfirmationSettings,
    ConfirmStepSettings,
    DescriptionSettings,
    MemberSettings,
    MetricComparisonSettings,
    OrderedVariable,
    RateStepSettings,
    RatingSettings,
    ScoringSettings,
    StratificationSettings,
    Variable,
    WeighingSettings,
)

if TYPE_CHECKING:
    from reident.study.model import Study


def strata_names(study: Study) -> tuple[str, ...]:
    """Return the names of the strata variables."""
    return tuple(variable.name for variable in study.strata)


def variables(study: Study) -> tuple[Variable, ...]:
    """Return the linking variables as the metrics know them."""
    return tuple(Variable(variable.name, variable.type, variable.integer_coded) for variable in study.linking_variables)


def stratifying(study: Study) -> StratificationSettings:
    """Return the settings of the step `stratify`."""
    files = study.linked_files
    names = [file.file_name for file in (files.puf, files.eif)]
    return StratificationSettings(tuple(variable.name for variable in study.strata), (names[0], names[1]))


def attacking(study: Study) -> AttackSettings:
    """Return the settings of the attack, of which each of its steps takes a slice."""
    limits, members = study.rank_filter, study.units.members if study.units is not None else None
    searched = ordered_variables(study), study.binning, study.chosen, limits.max_pairs, limits.kept
    return AttackSettings(*searched, study.keys, study.rates, members=members)


def cutting(study: Study) -> BinningSettings:
    """Return the settings of the step `bin`."""
    return attacking(study).cutting


def ordered_variables(study: Study) -> tuple[OrderedVariable, ...]:
    """Return the linking variables with the order of their categories."""
    return tuple(
        OrderedVariable(variable.name, variable.type, variable.integer_coded, variable.compared_order)
        for variable in study.linking_variables
    )


def scoring(study: Study, metric: str) -> ScoringSettings:
    """Return the settings of the step `score` for a metric."""
    return attacking(study).scoring(metric)


def weighing(study: Study) -> WeighingSettings:
    """Return the settings of the step `weigh`."""
    weighing = attacking(study).weighing
    if weighing is None:
        raise ValueError("the study has no metric that weighs")
    return weighing


def assigning(study: Study, metric: str | None) -> AssignmentSettings | None:
    """Return the settings of the step `rank` for a metric: None unless its pairs are assigned one to one."""
    return None if metric is None else attacking(study).assigning(metric)


def confirming(study: Study) -> ConfirmationSettings:
    """Return the settings of the confirmation."""
    return attacking(study).confirming


def confirmed(study: Study, metric: str) -> ConfirmStepSettings:
    """Return the settings of the step `confirm` for a metric."""
    return ConfirmStepSettings(confirming(study), claiming(study, metric))


def coarsened(study: Study) -> tuple[str, ...]:
    """Return the names of the linking variables that have coarser values already."""
    return tuple(variable.name for variable in study.linking_variables if variable.coarsen is not None)


def rating(study: Study) -> RatingSettings:
    """Return the settings of the rates."""
    return attacking(study).rating


def directions(study: Study) -> dict[str, bool]:
    """Return by metric whether a lower score is the better one."""
    return {name: REGISTRY[name].low_is_best(options) for name, options in study.chosen.items()}


def counting_members(study: Study) -> MemberSettings:
    """Return the settings of the step `count_members`."""
    return attacking(study).counting_members


def describing(study: Study) -> DescriptionSettings:
    """Return the settings of the description."""
    columns = tuple((variable.puf, variable.eif) for variable in study.linking_variables)
    return DescriptionSettings(variables(study), columns, tuple(study.chosen))


def rated(study: Study) -> RateStepSettings:
    """Return the settings of the step `rate`."""
    return RateStepSettings(rating(study), describing(study), comparing_metrics(study))


def claiming(study: Study, metric: str) -> ClaimSettings:
    """Return the settings of the order of the claims of a metric."""
    return attacking(study).claiming(metric)


def comparing_metrics(study: Study) -> MetricComparisonSettings:
    """Return the settings of the comparison of the metrics."""
    limit = study.decision.surest if study.decision is not None else None
    return MetricComparisonSettings(rating(study), None if limit is None else limit.right)


def counting(study: Study) -> AgreementSettings:
    """Return the settings of the step `agreements`."""
    options: Any = study.chosen["winkler"]
    if isinstance(options.agreement, Closest):
        return AgreementSettings((None,))
    return AgreementSettings(tuple(range(options.min_agree, len(study.linking_variables) + 1)))


def is_weighed(study: Study) -> bool:
    """Return whether a metric of the study weighs agreements."""
    return any(REGISTRY[name].weighs for name in study.chosen)


def is_exported(study: Study) -> bool:
    """Return whether suspected pairs are written as CSV, too."""
    return study.confirmed_csv and study.metrics is not None


def has_agreements(study: Study) -> bool:
    """Return whether pairs are counted by the number of variables that agree."""
    return "winkler" in study.chosen
