"""The section `metrics`: one field for each metric of the registry."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, create_model

from reident.linkage.metrics import REGISTRY
from reident.sections.base import Analysis


class _Compared(Analysis):
    is_compared: ClassVar[bool] = True


def _defaults_where_empty(value: Any) -> Any:
    return (
        {name: {} if options is None else options for name, options in value.items()}
        if isinstance(value, dict)
        else value
    )


_ONE_FIELD_PER_METRIC: dict[str, Any] = {
    name: (metric.options | None, Field(None, description=f"{metric.options.__doc__} If absent: not computed."))
    for name, metric in REGISTRY.items()
}

Metrics = create_model(
    "Metrics",
    __base__=_Compared,
    __doc__="The metrics to compute; `{}` takes the defaults of a metric.",
    **_ONE_FIELD_PER_METRIC,
)

ChosenMetrics = Annotated[Metrics, BeforeValidator(_defaults_where_empty)]
"""The metrics of a study file, where an empty value takes the defaults of a metric."""
