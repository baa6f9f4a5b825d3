"""The strongest metric with the position in the files as one more linking variable (METHODS §6.10)."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import OrderedVariable
from reident.plausibility import order
from reident.plausibility.records import read
from reident.plausibility.settings import DescriptionCheckSettings

if TYPE_CHECKING:
    from reident.linkage.attack import AttackFiles
    from reident.linkage.attack_settings import AttackSettings

POSITION = ".position"
"""The name of the variable, which no variable of a study has."""


def of_files(settings: AttackSettings, files: AttackFiles) -> order.FileOrder | None:
    """Return the order of both files that tells most beside their values; None where none tells anything."""
    checking = DescriptionCheckSettings(settings.variables, settings.keys)
    return order.strongest(read(checking, files.prepared, files.iuf, files.strata), files.prepared, settings.keys)


def with_position(
    name: str, settings: AttackSettings, files: AttackFiles, found: order.FileOrder
) -> tuple[AttackSettings, AttackFiles] | None:
    """Return an attack with one metric and the position as a variable; None if the metric cannot take one more."""
    variables = (*settings.variables, OrderedVariable(POSITION, "numeric", False))
    metrics = {name: settings.metrics[name]}
    try:
        REGISTRY[name].check(metrics[name], variables)
    except ValueError:
        return None
    positions = {"puf": found.puf, "eif": found.eif}
    prepared = {
        side: table.append_column(POSITION, pa.array(positions[side], from_pandas=True))
        for side, table in files.prepared.items()
    }
    changed = files._replace(prepared=prepared, binned=None)
    return dataclasses.replace(settings, variables=variables, metrics=metrics), changed


def strongest(lines: Iterable[Mapping[str, Any]], kinds: Container[tuple[str, str]]) -> tuple[str, str]:
    """Return the kind and metric, of some, that names most people rightly by one best guess."""
    among = [line for line in lines if (line["kind"], line["metric"]) in kinds and line.get("n_right") is not None]
    best = max(among, key=lambda line: (line["n_right"], line["n_confirmed"]))
    return best["kind"], best["metric"]
