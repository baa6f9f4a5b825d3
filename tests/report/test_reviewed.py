"""The report shows the tables that its study asks for: what an earlier run left beside them is not read."""

import json
import shutil
from pathlib import Path

import pytest
from making.analyses import gathered
from making.attribution import write_learnt
from making.filerisk import POPULATION, write_filerisk
from making.matching import write_matching
from making.microaggregation import write_masked
from making.report import Shape, cells, write_results
from making.studies import keyed_by
from making.variants import ALPHA, add_variants
from reident.pipeline import steps
from reident.report.results import Results
from reident.study.model import Study

ALPHAS = [{"alpha": alpha} for alpha in ALPHA["values"]]


def paths(spec) -> set[str]:
    return {path for own in steps.reported_tables(Study.model_validate(spec)).values() for path in own}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Results with the tables of every section, whose study asks for all of them."""
    base = tmp_path_factory.mktemp("whole")
    folder = write_results(base / "results", Shape(metrics=("taxicab", "winkler")))
    spec = json.loads((folder / "study.json").read_text())
    others = {
        "matching": write_matching(base / "matching"),
        "file_risk": write_filerisk(base / "risk", POPULATION),
        "attribute_disclosure": write_learnt(base / "learnt"),
        "microaggregate": write_masked(base / "masked", variants=False).folder,
    }
    for section, other in others.items():
        spec[section] = json.loads((other / "study.json").read_text())[section]
    masked = json.loads((others["microaggregate"] / "study.json").read_text())
    spec |= {"files": None, "simulate": masked["simulate"]}  # `microaggregate` takes the place of `files`
    (folder / "study.json").write_text(json.dumps(spec))
    for other in others.values():
        for name in ("matching", "filerisk", "attribution", "microaggregation", "agreements.csv"):
            if (other / name).is_dir():
                shutil.copytree(other / name, folder / name, dirs_exist_ok=True)
            elif (other / name).is_file():
                shutil.copy2(other / name, folder / name)
    return add_variants(folder, [ALPHA], ALPHAS)


def drop(spec: dict, *names: str) -> None:
    *path, last = names
    for name in path:
        spec = spec[name]
    if path == ["metrics"]:
        del spec[last]
    else:
        spec[last] = [] if isinstance(spec[last], list) else None


DROPPED = {
    "variants": (["variants"], ["variants"]),
    "matching": (["matching"], ["matching"]),
    "file_risk": (["file_risk"], ["file-risk"]),
    "attribute_disclosure": (["attribute_disclosure"], ["attribution"]),
    "winkler": (["metrics", "winkler"], []),
    "metrics": (["metrics"], ["attack", "rates", "suspicions", "agreement", "cut-points"]),
    "numerical_study": (["file_risk", "population", "numerical_study"], []),
    "microaggregate": (["microaggregate"], []),
}
"""A section, where it stands in the study, and the cells that show nothing but what it asks for."""


def test_every_table_of_every_section_is_shown(whole):
    found = Results(whole)
    assert {path for path in found.reviewed if not found.has(path)} <= {"comparison/agreements.csv"}
    unseen = {name for name, shown in cells(found).items() if not shown}
    assert unseen == {"weights", "checklist", *(cell for own in gathered("CELLS") for cell in own)}


@pytest.mark.slow
@pytest.mark.parametrize("section", DROPPED)
def test_tables_of_a_dropped_section_are_not_seen(whole, tmp_path, section):
    way, silent = DROPPED[section]
    folder = shutil.copytree(whole, tmp_path / "results")
    spec = json.loads((folder / "study.json").read_text())
    before = paths(spec)
    drop(spec, *way)
    if section == "microaggregate":
        spec |= {"files": keyed_by("p", "e"), "simulate": None}
    if section == "metrics":  # of the bins of `linking_variables` the annex shows those of `file_risk` alone
        spec["file_risk"] = None
        spec |= {"microaggregate": None, "simulate": None, "linking_variables": [], "strata": [], "decision": None}
    (folder / "study.json").write_text(json.dumps(spec))
    found, gone = Results(folder), before - paths(spec)
    assert gone
    assert not any(found.has(path) for path in gone)
    for path in gone:
        with pytest.raises(ValueError, match="is not a table of this study's report"):
            found.table(path)
    shown = cells(found)
    assert [name for name in silent if shown[name]] == []
    assert shown["front"]
