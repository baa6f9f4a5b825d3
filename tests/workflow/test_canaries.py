"""No key, no link and no value of the data is anywhere but in the files that the documentation names: not after a run
in which every step fails once with data in its error, not after spoilt sources, and not in what `--report` gathers."""

from __future__ import annotations

import base64
import binascii
import fnmatch
import gzip
import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typst
import yaml
from reident.pipeline.steps import STEPS
from workflow.canaries import LABEL, NUMBER, WORD, found, write
from workflow.commands import CHECKOUT, LINKAGE, PRELOADED, Ended, copied, made, reident, snakemake

pytestmark = pytest.mark.slow

CODE = re.compile("cnryjb")
"""A code of a category, which is no key."""

FILES = {
    "puf": {"path": "puf.csv", "id": "pufid"},
    "eif": {"path": "eif.csv", "id": "eifid"},
    "iuf": {"path": "iuf.csv", "puf_id": "puf", "eif_id": "eif"},
}
LINKING = [
    {"name": "sex", "type": "categorical"},
    {"name": "age", "type": "numeric"},
    {"name": "income", "type": "numeric"},
    {"name": "job", "type": "categorical"},
]
CANARY: dict[str, Any] = {
    "id": "canary",
    "files": FILES,
    "strata": ["region"],
    "linking_variables": LINKING,
    "metrics": {"unicity": {}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}, "fellegi_sunter": {}},
    "file_risk": {"sampling_fraction": 0.1, "key_variables": ["sex", "age", {"name": "rooms"}, {"name": "region"}],
                  "population_models": {"household": ["region", "rooms"]},
                  "scenarios": [{"name": "Neighbour", "known": ["sex", "rooms"]}],
                  "key_sets": {"up_to": 2}, "sensitive": ["job", "region"]},
    "matching": {
        "confidential": {"path": "confidential.csv", "id": "pid"},
        "synthetic": [{"path": "synthetic.csv", "id": "pid"}],
        "known": ["sex", "rooms"],
        "synthesized": ["income", "wealth"],
        "radius": {"income": {"absolute": 20}, "wealth": {"relative": "0.0001"}},
    },
    "variants": [{"set": "metrics.taxicab.alpha", "values": ["1/2", "1/4"]}],
}  # fmt: skip
MASKED: dict[str, Any] = {
    "id": "masked",
    "microaggregate": {"path": "original.csv", "id": "key", "variables": ["x1", "x2", "x3"]},
    "linking_variables": [{"name": name, "type": "numeric"} for name in ("x1", "x2", "x3")],
    "metrics": {"winkler": {}},
}
TIMES = 2
"""How often a job may fail: the report by its step, and by its notebook."""

FAILS_ONCE = """
    # The first time, an error that says everything that the step reads.
    import os, pathlib, pyarrow.parquet
    mark = pathlib.Path(os.environ["MARKS"], snakemake.rule)
    if not mark.exists():
        mark.touch()
        raise ValueError([
            str(pyarrow.parquet.read_table(path, partitioning=None).to_pydict())
            if path.suffix == ".parquet" else path.read_text(errors="replace")
            for paths in step.inputs.values() for path in paths
        ])
"""
CELL_FAILS_ONCE = """
import os
mark = Path(os.environ["MARKS"], "notebook")
if not mark.exists():
    mark.touch()
    print(Path(os.environ["SOURCES"], "iuf.csv").read_text())
    raise ValueError(Path(os.environ["SOURCES"], "puf.csv").read_text())
"""


def listed(which: int) -> list[str]:
    """The files below a study's results that the page on confidentiality names in a line of its table, as patterns."""
    text = (CHECKOUT / "docs/explanation/confidentiality.md").read_text(encoding="utf-8")
    table = text.partition("| below `results/{study}/` | hold |\n")[2].splitlines()[1:]
    cells = [line.split("|")[1] for line in table[:2]]
    patterns = re.findall(r"`([^`]+)`", cells[which])
    assert patterns
    return patterns


def named(path: str, patterns: list[str]) -> bool:
    """Whether the page names a file, by its path from the working directory; variants have the same files."""
    whole = re.sub(r"\.([^/]+)\.\d+\.part$", r"\1", path)  # what a killed job left
    found_ = re.fullmatch(r"results/[^/]+/(?:variants/[^/]+/)?(.+)", whole)
    return found_ is not None and any(fnmatch.fnmatchcase(found_[1], pattern) for pattern in patterns)


class Failure(NamedTuple):
    """Changed sources, a changed study, the step that fails with them."""

    name: str
    files: Mapping[str, str | bytes] = MappingProxyType({})
    study: Mapping[str, Any] = MappingProxyType({})
    target: str = "prepared/account.csv"


def failures(sources: dict[str, str]) -> list[Failure]:
    """Mistakes that agencies make, on sources that are full of canaries."""
    puf, eif, iuf = (sources[f"{side}.csv"] for side in ("puf", "eif", "iuf"))
    synthetic = sources["synthetic.csv"]
    head, first, second, *rest = puf.splitlines()
    score, matched = {"target": "suspected/adhoc.parquet"}, {"target": "matching/account.csv"}
    risk = {"target": "filerisk/account.csv"}

    def source(side: str, **keys: Any) -> dict[str, Any]:
        return {"files": {**FILES, side: {**FILES[side], **keys}}}

    def own(code: str) -> dict[str, Any]:
        rule = {"function": "own:score", "sha256": hashlib.sha256(code.encode()).hexdigest()}
        return {"files": {"own.py": code}, "study": {"metrics": {"adhoc": {"scores": {"age": rule}}}}, **score}

    return [
        Failure("no-header", {"puf.csv": puf.partition("\n")[2]}),
        Failure("no-header-in-links", {"iuf.csv": iuf.partition("\n")[2]}),
        Failure("no-header-and-a-repeated-value", {"puf.csv": f"{first},{first.split(',')[0]}\n{second}\n"}),
        Failure("other-delimiter", {"puf.csv": puf.partition("\n")[2].replace(",", ";")}),
        Failure("field-shift", {"puf.csv": "\n".join([head, f"1,{first}", second, *rest])}),
        Failure("short-row", {"eif.csv": eif + "CNRYek9999,1\n"}),
        Failure("repeated-key", {"puf.csv": puf + first + "\n"}),
        Failure("unknown-link", {"iuf.csv": iuf + "CNRYpk9999,CNRYek9999,x\n"}),
        Failure("text-for-a-number", {"puf.csv": puf.replace(",8675", ",CNRYxx8675", 1)}),
        Failure("grouped-number", {"eif.csv": re.sub(r",8675(\d+\.\d+)", r',"8,675,\1"', eif, count=1)}),
        Failure("no-common-code", {"eif.csv": eif.replace("CNRYjb", "CNRYjx")}),
        Failure("outside-order", study={"linking_variables": [*LINKING[:3], {**LINKING[3], "order": ["a", "b"]}]}),
        Failure("undecodable", {"puf.csv": puf.encode().replace(b"CNRYjb0003", b"CNRYjb0003\xe9")}),
        Failure("nul", {"puf.csv": puf.replace("CNRYjb0003", "CNRYjb0003\0")}),
        Failure("open-quote", {"puf.csv": puf.replace("CNRYjb0003", '"CNRYjb0003')}),
        Failure("cut-archive", {"puf.csv": gzip.compress(puf.encode())[:-9]}),
        Failure("no-parquet", study=source("puf", format="parquet")),
        Failure("no-stata", study=source("eif", format="stata")),
        Failure("no-spss", study=source("eif", format="spss")),
        Failure("no-sas", study=source("iuf", format="sas7bdat")),
        Failure("no-transport", study=source("iuf", format="xport")),
        Failure("shifted-layout", study=source("puf", format="fixed-width", layout={
            "pufid": "1-8", "region": "12-18", "sex": "19-24", "age": "25-31", "income": "36-40", "job": "41-50",
        })),
        Failure("function-raises", **own("def score(p, e):\n    raise ValueError(p)\n")),
        Failure("function-exits", **own("def score(p, e):\n    raise SystemExit(str(p))\n")),
        Failure("function-prints", **own("def score(p, e):\n    print(p, e)\n    return 6 * (p == e)\n")),
        Failure("function-outside", **own("def score(p, e):\n    return p\n")),
        Failure("killed", **own("import os\ndef score(p, e):\n    print(p)\n    os.kill(os.getpid(), 9)\n")),
        Failure("aborted", **own("import os\ndef score(p, e):\n    os.abort()\n")),
        Failure("synthetic-text", {"synthetic.csv": synthetic.replace(",8675", ",CNRYxx8675", 1)}, **matched),
        Failure("synthetic-key", {"synthetic.csv": synthetic.replace("mk00", "mk77")}, **matched),
        Failure("risk-key", {"puf.csv": puf + first + "\n"}, **risk),
        Failure("risk-text", {"puf.csv": puf.replace(",8675", ",CNRYxx8675", 1)}, **risk),
    ]  # fmt: skip


def breaking(folder: Path) -> Path:
    """A checkout whose every step fails once with data in its error."""
    copied(folder)
    for script in (folder / "workflow" / "scripts").glob("*.py"):
        if "ledger.step(" in script.read_text(encoding="utf-8"):  # commands are no steps
            with script.open("a", encoding="utf-8") as adapter:
                adapter.write(FAILS_ONCE)
    notebook = folder / "workflow" / "notebooks" / "disclosure-review.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))
    cells["cells"][2]["source"] += CELL_FAILS_ONCE.splitlines(keepends=True)
    notebook.write_text(json.dumps(cells), encoding="utf-8")
    return folder


class Left(NamedTuple):
    """Everything that the runs left: files by name, and what the terminal showed."""

    whole: Ended
    spoilt: Ended
    gathered: Ended
    sealed: Ended
    failed: list[Failure]
    marks: set[str]
    files: dict[str, Path]
    sources: dict[str, str]

    def shown(self) -> str:
        return self.whole.shown + self.spoilt.shown + self.gathered.shown + self.sealed.shown


@pytest.fixture(scope="module")
def left(tmp_path_factory) -> Iterator[Left]:
    folder = tmp_path_factory.mktemp("canaries")
    sources = write(folder / "in")
    studies = [_declare(folder / "in", study) for study in (CANARY, MASKED)]
    checkout, run, marks = breaking(folder / "checkout"), folder / "run", folder / "marks"
    marks.mkdir()
    # A short path: sockets of the notebook's kernel lie in it.
    with tempfile.TemporaryDirectory(prefix="r-") as temporary:
        (folder / "home").mkdir()
        environment = {
            "TMPDIR": temporary, "HOME": str(folder / "home"), "XDG_CACHE_HOME": "", "MARKS": str(marks),
            "SOURCES": str(folder / "in"),
        }  # fmt: skip
        common = {"folder": run, "environment": environment}
        whole = snakemake(f"--retries={TIMES}", studies=studies, checkout=checkout, program=PRELOADED, **common)
        gathered = snakemake("--report=all.zip", studies=studies, checkout=checkout, **common)
        sealed = reident("seal", *studies, checkout=checkout, **common)
        failed = failures(sources)
        files = [_spoil(folder / "bad" / one.name, one, sources) for one in failed]
        targets = [target for one in failed for target in made(one.name, one.target)]
        spoilt = snakemake(*targets, studies=files, program=PRELOADED, **common)
        roots = {"": run, "home/": folder / "home", "tmp/": Path(temporary), "checkout/": checkout}
        kept = {
            f"{name}{path.relative_to(root)}": path
            for name, root in roots.items()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }
        done = {path.name for path in marks.iterdir()}
        yield Left(whole, spoilt, gathered, sealed, failed, done, kept, sources)


def _declare(folder: Path, study: dict[str, Any]) -> Path:
    file = folder / f"{study['id']}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return file


def _spoil(folder: Path, failure: Failure, sources: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, content in {**sources, **failure.files}.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    plain = {name: value for name, value in CANARY.items() if name not in ("variants", "metrics")}
    return _declare(folder, {**plain, "metrics": {"taxicab": {}}, **failure.study, "id": failure.name})


def packed() -> dict[str, bytes]:
    """One key, hidden in each way that the search must see through."""
    key = b"a CNRYpk0001 b"
    table, archive = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"key": [key.decode()] * 9}), table, compression="zstd")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("inner.gz", gzip.compress(key * 9))
    return {
        "plain": key,
        "UTF-16": key.decode().encode("utf-16"),
        "gzip": gzip.compress(key * 9),
        "gzip in zip": archive.getvalue(),
        "Parquet": table.getvalue(),
        "PDF": typst.compile(b"= CNRYpk0001"),
        "image in a page": b"<img src='data:image/svg+xml;base64," + base64.b64encode(b"<svg>" + key * 3) + b"'>",
        "base64 for file names": base64.urlsafe_b64encode(b"x" * 40 + key),
    }


@pytest.mark.parametrize("how", packed())
def test_the_search_finds_a_key_however_it_is_packed(how):
    assert found(packed()[how], WORD) == {"cnrypk0001"}


@pytest.mark.parametrize("text", ["8675312.47", "8,675,312.47", "8,675,312", "8 675 312.47"])
def test_the_search_finds_a_number_as_reports_write_it(text):
    assert found(f"<td>{text}</td>".encode(), NUMBER) == {text}


def test_there_are_canaries_enough_and_each_is_found_where_it_may_be(left):
    every = {hit for text in left.sources.values() for hit in found(text.encode(), WORD, NUMBER)}
    assert len(every) >= 500
    used = [name for name in left.files if named(name, listed(0)) and "confidential/" not in name]
    held = set().union(*(found(left.files[name].read_bytes(), WORD, NUMBER) for name in used))
    unread = re.compile("cnry(pn|en|sn)")  # columns that no study names
    assert not {hit for hit in every if not unread.match(hit)} - held
    assert not {hit for hit in held if unread.match(hit)}


def test_every_step_failed_once_and_the_run_ended_well_all_the_same(left):
    assert left.whole.code == 0, left.whole.shown
    rules = {*LINKAGE, "compare_variants"}
    rules |= {
        "weigh",
        "calibrate",
        "prepare_filerisk",
        "assess_file",
        "measure_thresholds",
        "model_population",
        "assess_scenarios",
        "prepare_matching",
        "match",
        "microaggregate",
        "agreements",
    }
    assert left.marks == rules | {"notebook"}
    # The details of a failed attempt go once the step has succeeded.
    assert [name for name in left.files if "/confidential/" in name] == []


def test_every_spoilt_study_failed_with_a_sentence_of_its_own(left):
    assert len(left.failed) >= 30
    assert left.spoilt.code != 0
    silent = {"killed", "aborted"}
    for one in left.failed:
        logs = [path.read_text() for name, path in left.files.items() if name.startswith(f"results/{one.name}/logs/")]
        assert one.name in silent or any(text.startswith("Error: ") for text in logs), one.name
        assert f"results/{one.name}/{one.target}" not in left.files
    assert "Traceback" not in left.shown()


def test_no_canary_is_shown(left):
    assert found(left.shown().encode(), WORD, NUMBER, LABEL) == set()


def test_no_key_and_no_code_is_outside_the_files_that_the_page_names(left):
    """A warning names the codes that it is about in its table, which the page names; never a key."""
    warnings = [pattern for pattern in listed(1) if pattern.endswith("warnings.csv")]
    hits = {
        name: {hit for hit in found(path.read_bytes(), WORD) if not (named(name, warnings) and CODE.match(hit))}
        for name, path in left.files.items()
        if not named(name, listed(0))
    }
    assert {name: some for name, some in hits.items() if some} == {}


def test_no_number_but_a_cut_point_is_outside_the_files_that_the_page_names(left):
    cuts = {
        hit
        for name, path in left.files.items()
        if re.fullmatch(r"results/[^/]+/(.*/)?(cutpoints|categories)\.csv", name)
        for hit in found(path.read_bytes(), NUMBER)
    }
    hits = {
        name: found(path.read_bytes(), NUMBER) - cuts for name, path in left.files.items() if not named(name, listed(0))
    }
    assert {name: some for name, some in hits.items() if some} == {}


def test_labels_and_cut_points_are_in_the_report_and_in_the_files_that_the_page_names(left):
    may = re.compile(r"reports/.*|all\.zip")
    hits = {
        name: found(path.read_bytes(), LABEL, NUMBER)
        for name, path in left.files.items()
        if not named(name, [*listed(0), *listed(1)]) and not may.fullmatch(name)
    }
    assert {name: some for name, some in hits.items() if some} == {}


@pytest.mark.parametrize(
    "name", ["reports/canary/disclosure-review.html", "reports/canary/disclosure-review.pdf", "all.zip"]
)
def test_the_search_sees_what_the_report_shows(left, name):
    assert found(left.files[name].read_bytes(), LABEL) >= {"lblnorth01", "lblsouth02"}


def test_a_sealed_study_has_labels_in_its_report_and_in_the_tables_that_it_shows_alone(left):
    assert left.sealed.code == 0, left.sealed.shown
    bags = [path for name, path in left.files.items() if re.fullmatch(r"reports/[^/]+/sealed/[^/]+\.zip", name)]
    assert len(bags) == 2
    for bag in bags:
        with zipfile.ZipFile(bag) as archive:
            hits = {name: found(archive.read(name), WORD, NUMBER, LABEL) for name in archive.namelist()}
        held = {
            re.sub(r"^tables/variants/[^/]+", "tables", name.split("/", 2)[2]) for name, some in hits.items() if some
        }
        tables = [table for step in STEPS.values() for table in step.tables]
        shown = {f"tables/{table.path}" for table in tables if table.holds == "labels" and table.reported}
        assert held <= {"report/disclosure-review.html", "report/disclosure-review.pdf"} | shown


def test_no_name_of_a_file_holds_a_canary(left):
    for name in left.files:
        assert found(name.encode(), WORD, NUMBER, LABEL) == set()
        for part in Path(name).parts:
            try:
                plain = base64.urlsafe_b64decode(part)
            except (binascii.Error, ValueError):
                continue
            assert found(plain, WORD, NUMBER, LABEL) == set()
