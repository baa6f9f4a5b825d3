"""The parts of a study that can compare units, and the sentences that refuse the others (METHODS §4.7)."""

from __future__ import annotations

from typing import Any

from reident.linkage.metrics import REGISTRY
from reident.sections.attribution import PUF

_ELSEWHERE = "use it in a study without `units`."

_SECTIONS = {
    "microaggregate": "Remove it, or name the masked file under `files`.",
    "larger_intruder": f"Remove it, or {_ELSEWHERE}",
    "why": f"Remove it, or {_ELSEWHERE}",
    "utility": f"Remove it, or {_ELSEWHERE}",
}
"""The sections that cannot take units yet, and what to do about each."""

MAX_DENOMINATOR = 10**9
"""The largest denominator of α: sums over the members of a unit are exact in double precision."""


def check(study: Any) -> None:
    """Refuse in a :class:`reident.study.model.Study` what does not go with units, and what needs them.

    Raises
    ------
    ValueError
        See :class:`reident.sections.base.Section`.
    """
    if study.units is None:
        for variable in study.linking_variables:
            if variable.level == "unit":
                raise ValueError(
                    f"`{variable.name}` must not have `level: unit` without `units`. Remove it, or add `units` with "
                    "the columns that identify a unit in each file."
                )
        return
    for name, remedy in _SECTIONS.items():
        if getattr(study, name) is not None:
            raise ValueError(f"`.{name}` must not be given with `units`. {remedy}")
    if study.attribute_disclosure is not None and study.attributed.released == PUF:
        raise ValueError(
            "`.attribute_disclosure.released` must not be `puf` with `units`, because it compares single records. Use "
            "it in a study without `units`."
        )
    if study.linked_files.eif.person is not None:
        raise ValueError(
            "`.files.eif.person` must not be given with `units`. Remove it; the column may be one of `units.eif`."
        )
    for name, options in study.chosen.items():
        if REGISTRY[name].score_units is None:
            raise ValueError(
                f"`.metrics.{name}` must not be given with `units`, because it compares single records. Remove it, or "
                "choose among `unicity`, `taxicab`, `euclidean`, `adhoc` and `fellegi_sunter`."
            )
        _check_options(name, options, whole=study.units.whole)


def _check_options(name: str, options: Any, *, whole: bool) -> None:
    if name == "unicity" and not whole:
        raise ValueError(
            "`.metrics.unicity` must not be given with `members: some`: a unit is unique by all of its members. Remove "
            "one of the two."
        )
    if name == "unicity" and options.interactions == "jointly_observed":
        raise ValueError(
            "`.metrics.unicity.interactions` must not be `jointly_observed` with `units`. Choose another value."
        )
    if name == "adhoc":
        for variable, rule in options.scores.items():
            if rule.function is not None:
                raise ValueError(
                    f"`.metrics.adhoc.scores.{variable}` must not have a `function` with `units`. Use `exact`, "
                    "`bands` or a `table`."
                )
    if name == "taxicab" and options.alpha.denominator > MAX_DENOMINATOR:
        raise ValueError(
            "`.metrics.taxicab.alpha` must have at most 9 decimal places with `units`. Round it, or write a fraction "
            "such as 1/3."
        )
