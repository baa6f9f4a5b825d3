"""The parts of a study that can compare units, and the sentences that refuse the others (METHODS §4.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.linkage.metrics import REGISTRY

if TYPE_CHECKING:
    from reident.study.model import Study


def check(study: Study) -> None:
    """Refuse in a study what does not go with units, and what needs them.

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
    for name, section in study.analyses.items():
        if section.without_units:
            raise ValueError(f"`.{name}` must not be given with `units`. {section.without_units}")
    if study.linked_files.eif.person is not None:
        raise ValueError(
            "`.files.eif.person` must not be given with `units`. Remove it; the column may be one of `units.eif`."
        )
    *others, last = [f"`{name}`" for name, metric in REGISTRY.items() if metric.score_units is not None]
    for name, options in study.chosen.items():
        if REGISTRY[name].score_units is None:
            raise ValueError(
                f"`.metrics.{name}` must not be given with `units`, because it compares single records. Remove it, or "
                f"choose among {', '.join(others)} and {last}."
            )
        REGISTRY[name].check_units(options, study.units.whole)
