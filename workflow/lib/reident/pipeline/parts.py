"""What each step takes from the study itself, and its digest: a changed study reruns the steps that it changes."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from reident.linkage.metrics import REGISTRY
from reident.study.model import plain
from reident.study.variants import value_at

if TYPE_CHECKING:
    from reident.study.model import Study


def part(study: Study, step: str, metric: str | None = None) -> dict[str, Any]:
    """What a step takes from the study itself, beside the files that it reads.

    A change of the study reruns the steps whose part changes, and what reads their results.
    """
    whole = plain(study)
    parts = {
        **_linking_parts(study, whole, metric),
        **_matching_parts(study, whole),
        "compare": _compared(study, whole),
        **_risk_parts(study, whole),
    }
    return parts.get(step, whole)  # `resolve` and `report` take everything


def _linking_parts(study: Study, whole: dict[str, Any], metric: str | None) -> dict[str, dict[str, Any]]:
    """The parts of the steps from the three files to the rates."""
    linking = [(variable["name"], variable["type"]) for variable in whole["linking_variables"]]
    names = {
        "keys": study.keys,
        "strata": [variable["name"] for variable in whole["strata"]],
        "linking": linking,
    }
    sources = {side: source.model_dump(mode="json") for side, source in study.linked_sources.items()}
    return {
        "simulate": {"simulate": whole["simulate"]},
        **_microaggregation_parts(study, whole),
        "prepare": {"sources": sources, "strata": whole["strata"], "linking": whole["linking_variables"]},
        "stratify": names,
        "bin": {**names, "binning": whole["binning"]},
        "score": {
            **names,
            "scope": study.binning.scope,
            "keep": study.rank_filter.keep,
            "options": (whole["metrics"] or {}).get(metric),
        },
        "rank": {**names, "rank_filter": whole["rank_filter"]},
        "confirm": {**names, "keep": study.rank_filter.keep},
        "describe": {**names, "variables": whole["linking_variables"], "metrics": list(study.chosen)},
        "rate": {
            **names,
            "rates": whole["rates"],
            "rank_filter": whole["rank_filter"],
            "metrics": list(study.chosen),
        },
    }


def _microaggregation_parts(study: Study, whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of the steps that make the files of a study of micro-aggregation."""
    columns = [
        [variable["puf"], variable["eif"]] for variable in (*whole["strata"], *whole["linking_variables"])
    ]
    return {
        "simulate_amounts": {"simulate": whole["simulate"]},
        "microaggregate": {"microaggregate": whole["microaggregate"], "columns": columns},
        "agreements": {
            "keys": study.keys,
            "linking": len(whole["linking_variables"]),
            "min_agree": (whole["metrics"] or {}).get("winkler", {}).get("min_agree"),
        },
    }


def _matching_parts(study: Study, whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of the steps of matching."""
    if study.matching is None:
        return {}
    options = study.matched
    sources = {side: source.model_dump(mode="json") for side, source in study.matched_sources.items()}
    own = {
        name: value for name, value in whole["matching"].items() if name not in ("confidential", "synthetic")
    }
    typing = {
        "variables": [variable.model_dump(mode="json") for variable in options.variables.values()],
        "numeric": sorted(options.radius),
        "synthesized": [variable.name for variable in options.synthesized],
    }
    return {
        "synthesize": {"simulate": whole["simulate"]},
        "prepare_matching": {"sources": sources, "targets": own["targets"], **typing},
        "match": {**own, "key": options.key()},
    }


BEFORE: dict[str, tuple[str, ...]] = {
    "simulate": (),
    "simulate_amounts": (),
    "microaggregate": ("simulate_amounts",),
    "prepare": ("simulate", "microaggregate"),
    "stratify": ("prepare",),
    "bin": ("stratify",),
    "score": ("stratify",),
    "rank": ("score",),
    "confirm": ("rank",),
    "synthesize": (),
    "prepare_matching": ("synthesize",),
    "populate": (),
    "prepare_filerisk": ("populate",),
}
"""The steps that each step rests on, whose results variants may share; binned tables come before a score too."""

DESCRIBED = frozenset(
    {
        "id", "title", "agency", "date", "files", "microaggregate", "simulate", "strata", "linking_variables",
        "binning", "metrics", "rank_filter", "rates", "matching", "file_risk", "decision", "variants",
    }
)  # fmt: skip
"""The sections of a study that the parts of :data:`BEFORE` take, or that none of its steps takes.

A variant of any other section shares nothing: a new section belongs here once its steps are in `BEFORE`.
"""


def chain(study: Study, step: str, metric: str | None = None) -> str | None:
    """The digest of what a step, and every step before it, takes from a study; None for a step that is not shared."""
    if step not in BEFORE:
        return None
    taken, todo = {}, [step]
    while todo:
        name = todo.pop()
        taken[name] = part(study, name, metric)
        todo += BEFORE[name]
        if name == "score" and metric is not None and REGISTRY[metric].reads == "binned":
            todo.append("bin")
    other = {name: own for name, own in plain(study).items() if name not in DESCRIBED}
    return digest({"parts": taken, "other": other})


def _compared(study: Study, whole: dict[str, Any]) -> dict[str, Any]:
    """What varies, and what the study itself says of it."""
    keys = [key for varied in study.variants for key in varied.keys]
    return {"variants": whole["variants"], "study": {key: value_at(whole, key) for key in keys}}


def _risk_parts(study: Study, whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of the steps of the risk of one file; empty in a study that has none."""
    if study.file_risk is None:
        return {step: {} for step in ("populate", "prepare_filerisk", "assess_file", "sample_population")}
    options, own = study.risk, whole["file_risk"]
    key = [variable.model_dump(mode="json") for variable in study.risk_key]
    sampling = (own["population"] or {}).get("numerical_study")
    search = {name: own[name] for name in ("max_order", "weighting")}
    files = {"side": options.side, "id": study.risk_id}
    return {
        "populate": {"simulate": whole["simulate"]},
        "prepare_filerisk": {
            **files,
            "sources": {side: source.model_dump(mode="json") for side, source in study.risk_sources.items()},
            "key": key,
            "bins": study.binning.bins,
            "missing": own["missing"],
            "weight": own["weight"],
            "strata": (sampling or {}).get("strata"),
        },
        "assess_file": {
            **files,
            **search,
            "key": [variable["name"] for variable in key],
            **{name: own[name] for name in ("sampling_fraction", "weight", "dis_suda", "special")},
        },
        "sample_population": {
            **search,
            "key": [variable["name"] for variable in key],
            "sampling": sampling,
            "fraction": options.study_fraction,
        },
    }


def digest(part: Any) -> str:
    """SHA-256 of any JSON-like part of a study."""
    text = json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
