"""What a study leaves in its folder never shows in the results of the study that follows it there.

Random pairs of studies A and B: the results of B after A, in the same folder, are byte for byte those of B alone. The
reports are left out, which show what these results say. Where a user has switched off how Snakemake notices changes, a
whole run gives the results and the page of B alone, or it ends with a sentence that says what to run; never with an
older page and exit status 0.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from making import transitions
from making.changes import changed, write_files
from making.transitions import Transition
from reident.pipeline import steps
from reident.study import documentation
from reident.study.model import Study
from workflow.commands import PRELOADED, Ended, snakemake

pytestmark = pytest.mark.slow

FEW, BATCH = 4, 15
SEED = int(os.environ.get("REIDENT_SEED", "12"))

READ_ELSEWHERE = re.compile(
    r"id|font|seal(\..*)?|release\.after|files|(files|matching|file_risk|microaggregate|attribute_disclosure)\..*\.(format|quote)"
)
"""Keys that no transition needs: the id names the folder, earlier editions are made by other studies, and a font is in
the pages alone (`test_font`)."""


def targets(study: dict) -> list[str]:
    """What the last steps of a study make; not its report."""
    model = Study.model_validate(study)
    rules = [*steps.last_rules(model), "resolve"]
    tables = [table for rule in rules for table in steps.STEPS[rule].tables]
    paths = [path for table in tables for path in steps.paths(table, model)]
    comparison = [f"comparison/{name}.csv" for name in steps.compared_tables(model)]
    return [f"results/{study['id']}/{path}" for path in [*paths, *comparison]]


def run(folder: Path, studies: list[dict]) -> Ended:
    files = [transitions.write_study(folder, study) for study in studies]
    paths = [path for study in studies for path in targets(study)]
    return snakemake(*paths, studies=files, folder=folder, program=PRELOADED)


def results(folder: Path, study: dict) -> dict[str, bytes]:
    return {path: (folder / path).read_bytes() for path in targets(study) if (folder / path).is_file()}


def told(ended: Ended, study: dict) -> set[str]:
    """The errors that name a file of the study, without the folder."""
    return {line for line in ended.errors if study["id"] in line}


def check(pairs: list[Transition], folder: Path) -> None:
    """Run every A and then every B in one folder, and every B in another one."""
    for name in ("after", "alone"):
        write_files(folder / name)
    run(folder / "after", [pair.before for pair in pairs])
    after = run(folder / "after", [pair.after for pair in pairs])
    alone = run(folder / "alone", [pair.after for pair in pairs])
    for pair in pairs:
        expected = results(folder / "alone", pair.after)
        found = results(folder / "after", pair.after)
        ended = told(after, pair.after), told(alone, pair.after)
        case = f"seed {SEED}, {pair.kind}, {pair.before['id']}: {pair.changes}"
        # A step that refuses leaves the results of the study before, which no finished chain then contains.
        if len(expected) < len(targets(pair.after)):
            assert after.code != 0, case
            found = {path: found[path] for path in expected if path in found}
        assert found == expected, f"{case}\n{ended}\n{after.shown[-3000:]}"


def drawn(folder: Path, number: int) -> list[Transition]:
    write_files(folder)
    return list(itertools.islice(transitions.transitions(SEED, folder), number))


def test_results_after_another_study_are_those_of_the_study_alone(tmp_path):
    check(drawn(tmp_path / "draw", FEW), tmp_path)


@pytest.mark.long
def test_results_after_another_study_are_those_of_the_study_alone_more_times(tmp_path):
    check(drawn(tmp_path / "draw", BATCH)[FEW:], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("batch", range(1, 20))
def test_results_after_another_study_are_those_of_the_study_alone_many_times(tmp_path, batch):
    check(drawn(tmp_path / "draw", (batch + 1) * BATCH)[batch * BATCH :], tmp_path)


# Where Snakemake does not notice what changed


class Pairs(NamedTuple):
    """Studies A that ran in `before`, and their B that ran in `alone`, with their pages."""

    folder: Path
    pairs: list[Transition]


def page(study: dict) -> str:
    return f"reports/{study['id']}/disclosure-review.html"


def whole(folder: Path, studies: list[dict], *options: str) -> Ended:
    """A run to the conclusion."""
    files = [transitions.write_study(folder, study) for study in studies]
    return snakemake(*options, studies=files, folder=folder, program=PRELOADED)


def finished(folder: Path, study: dict) -> dict[str, bytes]:
    return {**results(folder, study), page(study): (folder / page(study)).read_bytes()}


@pytest.fixture(scope="module", params=[0, *(pytest.param(at, marks=pytest.mark.long) for at in range(1, 8))])
def pairs(request, tmp_path_factory) -> Pairs:
    """Two pairs of studies that both end well."""
    folder = tmp_path_factory.mktemp("pairs")
    for name in ("draw", "before", "alone"):
        write_files(folder / name)
    found: list[Transition] = []
    for pair in itertools.islice(transitions.transitions(SEED + request.param, folder / "draw"), 20):
        runs = (whole(folder / "before", [pair.before]), whole(folder / "alone", [pair.after]))
        if {ended.code for ended in runs} == {0}:
            found.append(pair)
        if len(found) == 2:
            break
    assert len(found) == 2
    return Pairs(folder, found)


def edit(folder: Path, study: dict, draw: Random) -> None:
    """Another last byte of some result, its time stamps kept or not."""
    path = folder / draw.choice(sorted(results(folder, study)))
    before, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    if draw.random() < 0.5:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def follow(folder: Path, study: dict, ended: Ended) -> Ended:
    """Do what the sentence of a run that refused says, until a run ends well."""
    for _ in range(10):
        if ended.code == 0:
            break
        assert ended.errors, ended.shown
        assert ended.advice, ended.shown
        ended = whole(folder, [study], ended.advice)
    return ended


WAYS = ("time stamps alone", "touched", "records lost", "a result edited")


@pytest.mark.parametrize("way", WAYS)
def test_what_snakemake_does_not_notice_is_refused_by_a_sentence_that_helps(pairs, tmp_path, way):
    draw = Random(f"{SEED} {way}")  # noqa: S311 - draws results
    for pair in pairs.pairs:
        folder = tmp_path / pair.after["id"]
        shutil.copytree(pairs.folder / "before", folder)
        options = ["--rerun-triggers=mtime"] if way == "time stamps alone" else []
        if way == "touched":
            whole(folder, [pair.after], "--touch")
        elif way == "records lost":
            shutil.rmtree(folder / ".snakemake")
        elif way == "a result edited":
            assert whole(folder, [pair.after]).code == 0
            edit(folder, pair.after, draw)
        ended = whole(folder, [pair.after], *options)
        case = f"seed {SEED}, {way}, {pair.kind}, {pair.before['id']}: {pair.changes}"
        assert ended.code in (0, 1), case
        ended = follow(folder, pair.after, ended)
        assert ended.code == 0, f"{case}\n{ended.shown[-3000:]}"
        assert finished(folder, pair.after) == finished(pairs.folder / "alone", pair.after), case


@pytest.mark.quick
def test_transitions_change_every_key_of_the_study_file():
    schema = documentation.schema()
    keys = {
        re.sub(r"\[[\w-]*\]", "", key.name)
        for name, field in schema["properties"].items()
        for key in documentation._keys(schema, {name: field}, schema["required"])
    }
    assert {key for key in keys if not READ_ELSEWHERE.fullmatch(key)} - mentioned() == set()


def mentioned() -> set[str]:
    """Every key that a base or a change sets, as config/README.md writes it."""
    found: set[str] = set()
    for base, changes in transitions.KINDS.values():
        for study in (base, *changes):
            found |= set(paths(study))
    return found


def paths(value: object, prefix: str = "") -> list[str]:
    """The keys of a nested value: items of lists have no mark, names that a study chooses are a star."""
    if isinstance(value, list):
        return [path for item in value for path in paths(item, prefix)]
    if not isinstance(value, dict):
        return []
    found = []
    for key, item in value.items():
        path = prefix
        for part in key.split("."):
            if not part.isdigit():
                path = f"{path}.{part}".lstrip(".")
                path = re.sub(r"(adhoc\.scores|matching\.radius)\.(?!\*)\w+", r"\1.*", path)
            found.append(path)
        found += paths(item, path)
    return found


MASKED = {
    "id": "masked",
    "microaggregate": {"path": "amounts.csv", "id": "id", "variables": ["sales"], "missing": [""]},
    "linking_variables": [{"name": "sales", "type": "numeric", "missing": [""]}],
    "metrics": {"winkler": {}},
}


def test_a_new_missing_code_of_a_masked_variable_is_refused_after_a_run_as_it_is_before_one(tmp_path):
    study = changed(MASKED, {"linking_variables.0.missing": ["", "5"]})
    for name in ("after", "alone"):
        write_files(tmp_path / name)
    alone = run(tmp_path / "alone", [study])
    assert alone.code != 0
    assert run(tmp_path / "after", [MASKED]).code == 0
    after = run(tmp_path / "after", [study])
    assert (after.code != 0, after.errors) == (True, alone.errors)
