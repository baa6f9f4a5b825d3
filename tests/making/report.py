"""Make a plausible results folder for the report from a seed, without running a study.

Every table keeps its contract: columns, accounts that close, totals that are the sums of the strata. The numbers
have no meaning.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
import reident
from making.warnings import Sentence, warning_table
from oracles.metrics import ORACLES
from reident.intake.severity import StudyWarning
from reident.ledger.chain import sealed
from reident.ledger.stored import arranged, encoded, read_csv
from reident.linkage import surest
from reident.linkage.agreement_of_metrics import OF_ONE_METRIC
from reident.linkage.intervals import interval
from reident.linkage.metrics import REGISTRY
from reident.page.layout import Block
from reident.pipeline.tables import TABLES
from reident.plausibility import findings
from reident.plausibility.findings import Finding
from reident.protection.compare import Attack, compare
from reident.report import blocks
from reident.report.results import Results
from reident.sections.checklist import Questions
from reident.sections.decision import Decision
from reident.study import checklists
from reident.verdict import limits
from reident.verdict.settings import TABLES as JUDGED
from reident.verdict.settings import VerdictSettings
from reident.verdict.warnings import SOURCES
from scipy.stats import beta

LIBRARY = Path(reident.__file__).parent
MODULES = {
    **{module.name: import_module(f"{blocks.__name__}.{module.name}") for module in iter_modules(blocks.__path__)},
    **{
        file.stem.replace("report", file.parent.name): import_module(f"reident.{file.parent.name}.{file.stem}")
        for file in sorted(LIBRARY.glob("*/report*.py"))
    },
}
"""The modules of the blocks of the report: its own, and those of each analysis."""

BLOCKS = {
    f"{name}.{block}": value
    for name, module in MODULES.items()
    for block, value in vars(module).items()
    if isinstance(value, Block) and value.make.__module__ == module.__name__
}
"""The blocks of the report as the notebook names them."""

NOTEBOOK = Path(__file__).parents[2] / "workflow" / "notebooks" / "disclosure-review.ipynb"

RANKED = tuple(name for name, oracle in ORACLES.items() if oracle.ranked)
STRENGTH = {name: oracle.strength for name, oracle in ORACLES.items()}
"""The share of records that a metric suspects, and the share of those that are confirmed."""

VARIABLES = (
    ("age", "numeric", "age_years"),
    ("income", "numeric", "income_eur"),
    ("rent", "numeric", "rent"),
    ("hours", "numeric", "hours_week"),
    ("sex", "categorical", "GENDER"),
    ("marital_status", "categorical", "marital"),
    ("education", "categorical", "educ_level"),
    ("occupation", "categorical", "occ1"),
    ("tenure", "categorical", "tenure"),
    ("household_size", "categorical", "hhsize"),
)
REGIONS = ("Northgate", "Lakeland", "Old Harbour", "Eastmoor", "The Weald", "Highfield", "Southport", "Isles")


@dataclass(frozen=True)
class Shape:
    """The properties of the mock study."""

    metrics: tuple[str, ...] = ("unicity", "taxicab", "euclidean", "adhoc")
    strata: tuple[str, ...] | None = REGIONS
    variables: tuple[tuple[str, str, str], ...] = VARIABLES
    limit: float | None = 0.05
    decision: dict | None = None
    """The limits, instead of `limit` for the conditional rate."""
    title: str = "Household survey 2026, public use file"
    agency: str = "Statistics Ruritania"
    intruder: str | None = None
    date: str | None = "2026-03-02"
    nothing_suspected: tuple[str, ...] = ()
    nothing_confirmed: tuple[str, ...] = ()
    records: int = 6000
    keep: int = 20
    seed: int = 1
    options: dict = field(default_factory=dict)
    tolerances: dict = field(default_factory=dict)
    warnings: tuple[str | StudyWarning | Sentence, ...] = ()
    files: bool = True
    labels: dict = field(default_factory=dict)
    """The labels of the strata's codes."""
    linked: float = 0.55
    """The share of the PUF's records with a true link inside its stratum."""
    cluster: tuple[str, ...] = ()
    """The columns that identify a cluster; with one, intervals are clustered."""
    units: bool = False
    """Whether the study compares units of one to ten or more members."""
    original: bool = False
    """Whether the study gives the file before protection."""
    checklist: dict | None = None
    """The section `checklist`, and under `questions` the content of its file."""
    calibration: tuple[tuple[int, int, float], ...] = ((80, 39, 0.55), (60, 50, 0.82), (40, 38, 0.97))
    """Suspected pairs, confirmed pairs and mean probability, by class of match probability."""
    converged: bool = True
    """Whether the EM algorithm has converged."""
    left_out: float = 0.0
    """The bound on the links among pairs that are no candidates."""
    at_bound: bool = False
    """Whether the prior is at its bound."""
    others: tuple[tuple[str, str, str, int, int], ...] = ()
    """More attacks at hand: kind, metric, detail, suspected and confirmed records."""
    few_expected: float | None = None
    """The share of all links at which they were held, none if 0, where fewer than a tenth are expected."""
    lost: bool = True
    """Whether there are true links outside the strata."""
    exact: tuple[int, int] = (0, 0)
    """Claims of a join on exact values of a variable, of which so many are right; of two variables, twice as many."""
    standard: tuple[int, int] = (0, 0)
    """Suspected records of a standard attack with adhoc, of which so many are confirmed."""


def added(write: Callable[..., Path]) -> Any:
    """A fixture: a function that makes results to which a function of this package adds an analysis."""

    @pytest.fixture
    def fixture(tmp_path: Path) -> Callable[..., Results]:
        def make(metrics: Sequence[str] = ("unicity", "taxicab"), **options: Any) -> Results:
            return Results(write(write_results(tmp_path / "results", Shape(metrics=tuple(metrics))), **options))

        return make

    return fixture


def written(write: Callable[..., Path], *arguments: Any) -> Any:
    """A fixture of a module: the results that a function of this package writes, once for all of its tests."""

    @pytest.fixture(scope="module")
    def fixture(tmp_path_factory: pytest.TempPathFactory) -> Results:
        return Results(write(tmp_path_factory.mktemp("written") / "results", *arguments))

    return fixture


def write_results(folder: Path, shape: Shape = Shape()) -> Path:
    """Write the results of a mock study into a folder and return it; those of a shape are made once in a process."""
    shown = repr(shape)
    if shown not in _MADE:
        with tempfile.TemporaryDirectory() as place:
            _make_results(Path(place), shape)
            _MADE[shown] = _contents(Path(place))
    return _put(folder, _MADE[shown])


_MADE: dict[str, dict[str, bytes]] = {}
"""The files of mock results, by the text of their shape; and the tables of attacks, by that of what they depend on."""


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder by their paths in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _put(folder: Path, contents: dict[str, bytes]) -> Path:
    """Write files into a folder and return it."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _make_results(folder: Path, shape: Shape) -> None:
    right = (shape.decision or {}).get("surest")
    words = {"title": "", "agency": "", "intruder": None, "date": None, "labels": {}, "checklist": None, "warnings": ()}
    attacked = replace(shape, limit=None, decision=right and {"surest": right}, **words)
    shown = f"attacked {attacked!r}"
    if shown not in _MADE:
        with tempfile.TemporaryDirectory() as place:
            _write_attack(Path(place), attacked)
            _MADE[shown] = _contents(Path(place))
    _put(folder, _MADE[shown])
    _write(folder / "study.json", json.dumps(_study(shape), indent=1, sort_keys=True))
    lines = [Sentence("notable", line) if isinstance(line, str) else line for line in shape.warnings]
    if not (shape.linked or shape.lost):
        lines.append(StudyWarning("invalidates", "no_link", {"file": "iuf.csv"}, 0))
    write_verdict(folder, attack=warning_table(lines))
    if shape.checklist is not None:
        write_checklist(folder, shape.checklist)
    _ledger(folder)


def _write_attack(folder: Path, shape: Shape) -> None:
    """Write the tables of an attack, which no limit and no word of the study changes."""
    rng = np.random.default_rng(shape.seed)
    manifest = _manifest(shape, rng)
    by_limit = {metric: _limits(shape, metric, manifest, rng) for metric in shape.metrics}
    rates = pd.concat([_rates(shape, metric, manifest, by_limit[metric]) for metric in shape.metrics])
    write_table(folder / "strata/manifest.csv", manifest)
    write_table(folder / "prepared/account.csv", _prepared_account(shape, manifest))
    write_table(folder / "strata/account.csv", _strata_account(shape, manifest))
    write_table(folder / "binned/cutpoints.csv", _cutpoints(shape, manifest, rng))
    write_table(folder / "rates.csv", rates)
    write_table(folder / "clusters.csv", _clusters(shape, rates))
    if shape.units:
        for name, table in zip(("members", "sizes"), _units(shape, rates), strict=True):
            write_table(folder / f"units/{name}.csv", table)
    if shape.original:
        write_table(folder / "protection/rates.csv", _protection(shape, manifest, rates))
    for metric in shape.metrics:
        ranked = metric in RANKED
        table = by_limit[metric] if ranked else by_limit[metric].iloc[:0]
        write_table(folder / f"confirmed/{metric}.limits.csv", table)
        write_table(
            folder / f"suspected/{metric}.distribution.csv", _distribution(shape, metric, by_limit[metric], rng)
        )
    if "fellegi_sunter" in shape.metrics:
        for name, table in _weights(shape, manifest).items():
            write_table(folder / f"weights/{name}.csv", table)
    variables, agreement = _agreement(shape, manifest, rates, rng)
    write_table(folder / "description/variables.csv", variables)
    write_table(folder / "description/agreement.csv", agreement)
    write_table(folder / "description/overlap.csv", _overlap(shape, rates))
    write_table(folder / "plausibility.csv", _plausibility(variables))
    made = _surest(shape, rates)
    attacks = _attacks(shape, rates, made["surest/summary.csv"], _overlap(shape, rates))
    for path, table in {**made, "attacks.csv": attacks}.items():
        write_table(folder / path, table)


def write_checklist(folder: Path, checklist: dict) -> None:
    """Give the results in a folder a checklist, see :attr:`Shape.checklist`."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    study["checklist"] = {name: value for name, value in checklist.items() if name != "questions"}
    study["checklist"] |= {"decision": checklist.get("decision")}
    _write(folder / "study.json", json.dumps(study, indent=1, sort_keys=True))
    asked = Questions.model_validate(checklist["questions"])
    (folder / "checklist.csv").write_bytes(encoded(checklists.table([asked], checklist.get("answers", {}))))


def write_verdict(folder: Path, **warnings: pd.DataFrame) -> None:
    """Write the verdict on the results in a folder, with the warnings of reading the files by subject."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    names = [variable["name"] for variable in study.get("linking_variables") or ()]
    scores = ((study.get("metrics") or {}).get("adhoc") or {}).get("scores")
    default = () if scores is None else tuple(name for name in names if name not in scores)
    decision = Decision.model_validate(study["decision"]) if study.get("decision") else None
    tables = {
        path: _table(path, (folder / path).read_bytes()).copy()
        for path in JUDGED
        if path not in SOURCES.values() and (folder / path).is_file()
    }
    read = {SOURCES[about]: table for about, table in warnings.items()}
    units = "filerisk/units.csv" in tables
    judged = limits.judge(VerdictSettings(decision, len(names), default, units=units), tables | read)
    for name, table in zip(("warnings", "limits", "summary"), judged, strict=True):
        write_table(folder / f"verdict/{name}.csv", table)


@functools.cache
def _table(path: str, content: bytes) -> pd.DataFrame:
    """Return a table of results from its bytes, which many mock studies have in common."""
    return read_csv(Path(path), content=content)


def rows(markdown: object) -> list[list[str]]:
    """Return the cells of each line of the one table in a text, without its heading."""
    lines = [line for line in str(markdown).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


@functools.cache
def imported() -> dict[str, Any]:
    """Return what the notebook imports for its cells."""
    (setup,) = (cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell["id"] == "setup")
    imports = [node for node in ast.parse(setup.source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    space: dict[str, Any] = {}
    exec(compile(ast.Module(imports, []), NOTEBOOK.name, "exec"), space)  # noqa: S102 - the project's own notebook
    return space


def cells(results: Results, *names: str) -> dict[str, list[Any]]:
    """Return what each cell of the notebook, or each of those named, shows for these results, by the id of the cell."""
    shown = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        wanted = not names or cell["id"] in names
        if wanted and cell.cell_type == "code" and cell.source.startswith("display("):
            output: list[Any] = []
            space = {**imported(), "study": results}
            space["display"] = lambda *blocks, output=output: output.extend(blocks)
            exec(cell.source, space)  # noqa: S102 - the project's own notebook
            shown[cell["id"]] = output
    return shown


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as its step would write it."""
    _write(path, arranged(table, path).to_csv(index=False, lineterminator="\n"))


def _study(shape: Shape) -> dict:
    chosen = {
        name: shape.options.get(name, metric.options().model_dump(mode="json"))
        for name, metric in REGISTRY.items()
        if name in shape.metrics
    }
    own = {"missing": {"puf": ["-9"], "eif": [""]}, "recode": {"puf": {}, "eif": {}}, "integer_coded": False}
    return {
        "id": "mock",
        "title": shape.title,
        "agency": shape.agency,
        "intruder": shape.intruder,
        "date": shape.date,
        "files": None
        if not shape.files
        else {
            "puf": {"path": "puf.csv", "id": ["pufid"]},
            "eif": {"path": "eif.csv", "id": ["broker", "serial"]},
            "original": {"path": "full.csv"} if shape.original else None,
            "iuf": {"path": "iuf.csv", "puf_id": ["pufid"], "eif_id": ["broker", "serial"], "unknown_links_at_most": 5},
        },
        "simulate": None if shape.files else {"kind": "household-survey", "seed": 1},
        **({"units": {"puf": ["house"], "eif": ["household"]}} if shape.units else {}),
        "strata": []
        if shape.strata is None
        else [{"name": "region", "puf": "region", "eif": "REG", **own, "labels": shape.labels}],
        "linking_variables": [
            {"name": name, "type": kind, "puf": name, "eif": eif, "order": None, **own}
            for name, kind, eif in shape.variables
        ],
        "binning": {"bins": 5, "cutpoints": "puf", "scope": "stratum"},
        "metrics": chosen,
        "rank_filter": {"max_pairs": 5, "keep": shape.keep},
        "rates": {
            "interval": "clustered" if shape.cluster else "clopper-pearson",
            "level": 0.95,
            "cluster": list(shape.cluster) or None,
        },
        "decision": shape.decision or (None if shape.limit is None else {"conditional_rate_at_most": shape.limit}),
    }


def _manifest(shape: Shape, rng: np.random.Generator) -> pd.DataFrame:
    labels = shape.strata or ("",)
    n = len(labels)
    share = rng.dirichlet(np.full(n, 3.0)) if n > 1 else np.ones(1)
    table = pd.DataFrame({"stratum": [f"s{at:04d}" for at in range(1, n + 1)]})
    if shape.strata is not None:
        table["region"] = labels
    table["n_puf"] = np.maximum(1, (share * shape.records).astype(int))
    table["n_eif"] = np.maximum(1, (share * 2 * shape.records * rng.uniform(0.9, 1.1, n)).astype(int))
    if n > 3:
        table.loc[n - 1, "n_eif"] = 0  # a stratum that only one file has
    table["n_links"] = (table["n_puf"] * shape.linked).astype(int) * (table["n_eif"] > 0)
    table["pairs"] = table["n_puf"] * table["n_eif"]
    return table


LOST = {"puf": 47, "eif": 120, "iuf": 13}


def _prepared_account(shape: Shape, manifest: pd.DataFrame) -> pd.DataFrame:
    used = {
        "puf": int(manifest["n_puf"].sum()) + LOST["puf"],
        "eif": int(manifest["n_eif"].sum()) + LOST["eif"],
        "iuf": int(manifest["n_links"].sum()) + shape.lost * (LOST["iuf"] + 7),
    }
    lines = []
    for file, rows in used.items():
        out = {"link to an unknown record": 2, "exact repeat of a link": 9} if file == "iuf" else {}
        lines.append(("prepare", file, "in", rows + sum(out.values())))
        lines += [("prepare", file, cause, count) for cause, count in out.items()]
        lines.append(("prepare", file, "used", rows))
    return pd.DataFrame(lines, columns=["step", "file", "cause", "rows"])


def _strata_account(shape: Shape, manifest: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for file in ("puf", "eif"):
        used = int(manifest[f"n_{file}"].sum())
        lines += [
            ("stratify", file, "in", used + LOST[file]),
            ("stratify", file, "no stratum: a strata value is missing", LOST[file]),
            ("stratify", file, "used", used),
        ]
    links = int(manifest["n_links"].sum())
    lines += [
        ("stratify", "iuf", "in", links + shape.lost * (LOST["iuf"] + 7)),
        ("stratify", "iuf", "lost to stratification: a record of the link is in no stratum", shape.lost * LOST["iuf"]),
        ("stratify", "iuf", "lost to stratification: the records are in different strata", shape.lost * 7),
        ("stratify", "iuf", "used", links),
    ]
    return pd.DataFrame(lines, columns=["step", "file", "cause", "rows"])


def _limits(shape: Shape, metric: str, manifest: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return counts by rank limit; those of the whole study are the sums of its strata."""
    suspected, confirmed = STRENGTH[metric]
    limit = np.arange(1, shape.keep + 1)
    growth = limit**0.35 / 5**0.35
    tables = []
    for row in manifest.itertuples():
        size = row.n_puf if row.n_eif else 0
        size = 0 if metric in shape.nothing_suspected else size
        n_suspected = np.minimum(size, np.round(size * suspected * growth * rng.uniform(0.8, 1.2))).astype(int)
        best = 0 if metric in shape.nothing_confirmed else confirmed * rng.uniform(0.5, 1.5)
        n_confirmed = np.minimum(n_suspected, np.round(n_suspected * best * growth**-0.4)).astype(int)
        n_confirmed = np.maximum.accumulate(n_confirmed)
        n_pairs = np.round(n_suspected * (0.8 + 0.45 * limit)).astype(int).clip(n_suspected)
        tables.append(
            pd.DataFrame(
                {
                    "stratum": row.stratum,
                    "max_pairs": limit,
                    "n_suspected": n_suspected,
                    "n_confirmed": n_confirmed,
                    "n_ambiguous": n_suspected[-1] + round(size * 0.04) - n_suspected,
                    "n_pairs": n_pairs,
                    "n_confirmed_pairs": n_confirmed,
                    "expected_correct": n_confirmed * n_suspected / n_pairs.clip(1),
                }
            )
        )
    whole = pd.concat(tables).groupby("max_pairs", as_index=False).sum(numeric_only=True)
    whole.insert(0, "stratum", "ALL")
    return pd.concat([whole, *tables], ignore_index=True)


def _rates(shape: Shape, metric: str, manifest: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    chosen = limits[limits["max_pairs"] == min(5, shape.keep)].set_index("stratum")
    lines = []
    for stratum in ["ALL", *manifest["stratum"]]:
        own = manifest if stratum == "ALL" else manifest[manifest["stratum"] == stratum]
        n_puf = int(own["n_puf"].sum()) + (LOST["puf"] if stratum == "ALL" else 0)
        n_eif = int(own["n_eif"].sum()) + (LOST["eif"] if stratum == "ALL" else 0)
        s, c = int(chosen.at[stratum, "n_suspected"]), int(chosen.at[stratum, "n_confirmed"])
        n_pairs, n_compared = int(chosen.at[stratum, "n_pairs"]), int(own["n_puf"][own["n_eif"] > 0].sum())
        n_ambiguous = int(chosen.at[stratum, "n_ambiguous"]) if metric in RANKED else 0
        links = int(own["n_links"].sum())
        lines.append(
            {
                "metric": metric,
                "stratum": stratum,
                "n_puf": n_puf,
                "n_eif": n_eif,
                "n_links": links + (shape.lost * (LOST["iuf"] + 7) if stratum == "ALL" else 0),
                "n_pairs": n_pairs,
                "n_suspected": s,
                "n_confirmed": c,
                "n_ambiguous": n_ambiguous,
                "n_confirmed_pairs": int(chosen.at[stratum, "n_confirmed_pairs"]),
                "suspected_rate": s / n_puf,
                "confirmed_rate": c / n_puf,
                "conditional_rate": c / s if s else None,
                "conditional_low": (beta.ppf(0.025, c, s - c + 1) if c else 0.0) if s else None,
                "conditional_high": (beta.ppf(0.975, c + 1, s - c) if c < s else 1.0) if s else None,
                "pair_precision": c / n_pairs if n_pairs else None,
                "reach": c / links if links else None,
                "baseline_rate": 2.4 / max(1, n_eif) if s else None,
                **_claims(s, c, chosen.at[stratum, "expected_correct"], s - round(s * shape.linked)),
                "n_compared": n_compared,
                "passing_rate": (s + n_ambiguous) / n_compared if n_compared else None,
                "tolerance": shape.tolerances.get(metric, 2),
                "n_findable": links,
                "conditional_bound": 1 - 0.05 ** (1 / s) if s and not c else None,
            }
        )
    # A column that no made-up result needs is 0.
    return pd.DataFrame(lines).reindex(columns=TABLES["rate"][0].names, fill_value=0)


def _protection(shape: Shape, manifest: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates before protection: twice as many confirmed records, and a region more."""
    before, names = rates.copy(), ["region"] if shape.strata else []
    for name in ("n_confirmed", "confirmed_rate", "conditional_rate"):
        before[name] = 2 * before[name]
    if not names:
        return compare(names, Attack(rates, manifest), Attack(before, manifest))
    one = before[before["stratum"] == "ALL"].assign(stratum="s9999")
    more = pd.concat([manifest, manifest.iloc[:1].assign(stratum="s9999", region="Before")])
    return compare(names, Attack(rates, manifest), Attack(pd.concat([before, one]), more))


def _clusters(shape: Shape, rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates of clusters: two records each, of which one is suspected."""
    if not shape.cluster:
        return pd.DataFrame()
    return rates.assign(
        n_clusters=rates["n_puf"] // 2,
        suspected_rate=2 * rates["suspected_rate"],
        confirmed_rate=2 * rates["confirmed_rate"],
    )[TABLES["rate"][1].names]


def _units(shape: Shape, rates: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the counts of members, two for each unit, and of units by size, half of them of one member."""
    members = rates[["metric", "stratum"]].assign(
        n_units=rates["n_puf"],
        n_members=2 * rates["n_puf"],
        n_suspected_members=2 * rates["n_suspected"],
        n_confirmed_members=2 * rates["n_confirmed"],
        n_linked_members=2 * rates["n_findable"],
        n_named_members=rates["n_confirmed"],
        n_eif_members=rates["n_eif"],
        suspected_member_rate=rates["suspected_rate"],
        confirmed_member_rate=rates["confirmed_rate"],
        named_member_rate=rates["confirmed_rate"] / 2,
    )
    lines = []
    for line in rates[rates["stratum"] == "ALL"].itertuples():
        for least, most, share in ((1, 1, 2), (2, 2, 4), (10, None, 4)):
            counts = (line.n_puf, line.n_suspected, line.n_confirmed, line.n_findable, line.n_findable / 50)
            lines.append((line.metric, least, most, *(int(n) // share for n in counts)))
    return members, pd.DataFrame(lines, columns=TABLES["count_members"][1].names)


def _weights(shape: Shape, manifest: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return weights of variables that tell less and less, the first with partial agreement, and their calibration."""
    n, prior, lines = int(manifest["pairs"].sum()), 0.0004, []
    for at, (name, *_) in enumerate(shape.variables):
        u = {"agree": (at + 1) / (len(shape.variables) + 2), "partial": 0.01} if at == 0 else {"agree": 0.05 * (at + 1)}
        m = {"agree": 0.9, "partial": 0.05} if at == 0 else {"agree": 0.95}
        for own in (m, u):
            own["differ"] = 1 - sum(own.values())
        lines += [
            (name, level, round(n * u[level]), m[level], u[level], np.log2(m[level] / u[level]), *[None] * 4)
            for level in m
        ]
        lines.append((name, "missing", n // 50, None, None, 0.0, *[None] * 4))
    edges = np.linspace(0.5, 1, len(shape.calibration) + 1)
    classes = [
        (low, high, n_pairs, right, mean, right / n_pairs)
        for low, high, (n_pairs, right, mean) in zip(edges, edges[1:], shape.calibration, strict=False)
    ]
    informed = shape.options.get("fellegi_sunter", {}).get("m") == "informed"
    bound = None if informed else prior if shape.at_bound else (2 if shape.few_expected is None else 20) * prior
    share = 0.5 if shape.few_expected is None else shape.few_expected
    rounds, converged = (bound * n * share if bound and share else None, 41), "yes" if shape.converged else "no"
    model = n, prior, bound, shape.left_out, *rounds, converged, -np.log2(prior / (1 - prior)), 2
    return {
        name: pd.DataFrame(rows, columns=table.names)
        for (name, rows), table in zip(
            {"levels": lines, "model": [model], "calibration": classes}.items(),
            (*TABLES["weigh"], *TABLES["calibrate"]),
            strict=True,
        )
    }


def _claims(suspected: int, confirmed: int, expected: float, outside: int) -> dict[str, float | None]:
    """Return how claims come out: three in ten suspected records have one candidate."""
    best, n_single, n_right = (expected + confirmed) / 2, round(suspected * 0.3), round(confirmed * 0.3)
    return {
        "expected_correct": expected,
        "expected_correct_rate": expected / suspected if suspected else None,
        "best_rank_correct": best,
        "best_rank_correct_rate": best / suspected if suspected else None,
        "n_single": n_single,
        "n_single_confirmed": n_right,
        "single_rate": n_right / n_single if n_single else None,
        "n_false_outside": min(outside, suspected - confirmed),
    }


def _distribution(shape: Shape, metric: str, limits: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    name = "rank" if metric in RANKED else "order"
    lines = []
    for stratum, own in limits.groupby("stratum", sort=False):
        total = int(own["n_suspected"].iloc[-1])
        levels = range(1, 12) if name == "rank" else range(2, 9)
        for level in levels:
            share = np.exp(-0.35 * (level - 1)) if name == "rank" else np.exp(-((level - 5.2) ** 2) / 3)
            count = round(total * share * rng.uniform(0.95, 1.0))
            if count:
                lines.append((stratum, level, count, round(count * (1 + 0.12 * level))))
    return pd.DataFrame(lines, columns=["stratum", name, "n_pufids", "n_pairs"])


def _plausibility(variables: pd.DataFrame) -> pd.DataFrame:
    """What links and files show of their description."""
    n = int(variables["links"].max() or 0)
    agree = variables["links_agree"] / max(n, 1)
    checks = [
        Finding(name, "agreement", share, share / 3, n)
        for name, share in zip(variables["variable"], agree, strict=True)
    ]
    checks += [Finding("iuf", "few_links", n, n=n, severity="notable")] if n < 10 else []
    return findings.table(checks)


def _attacks(shape: Shape, rates: pd.DataFrame, summary: pd.DataFrame, overlap: pd.DataFrame) -> pd.DataFrame:
    """The attacks at hand: the metrics, a standard one, joins, and the metrics without a variable find half as many."""
    whole, names = rates[rates["stratum"] == "ALL"].set_index("metric"), [name for name, *_ in shape.variables]
    reached = whole[whole["reach"] > 0]
    n_linked = round((reached["n_confirmed"] / reached["reach"]).iloc[0]) if len(reached) else 0
    claims = summary.set_index("metric")
    lines = [
        {**line, **claims.loc[metric].to_dict(), "kind": "declared", "metric": metric, "detail": ""}
        for metric, line in whole.to_dict("index").items()
    ]
    first = lines[0]
    lines.append({**first, "kind": "standard", "metric": "adhoc", "detail": "", **_found(first, *shape.standard)})
    found = overlap.groupby("set")["n_pufids"].sum()
    together = _found(first, int(found.get("suspected", 0)), int(found.get("confirmed", 0)))
    lines.append({**first, "kind": "any", "metric": "any", "detail": "", **together})
    for kind, metric, detail, *counts in shape.others:
        lines.append({**first, "kind": kind, "metric": metric, "detail": detail, **_found(first, *counts)})
    for of in [(name,) for name in names] + list(itertools.combinations(names, 2)):
        line = _found(first, *(len(of) * count for count in shape.exact))
        lines.append({**first, "kind": "join", "metric": "exact_values", "detail": "+".join(of), **line})
    for name, metric in itertools.product(names, whole.index):
        own = whole.loc[metric]
        line = _found(first, int(own["n_suspected"]), int(own["n_confirmed"]) // 2)
        lines.append({**first, "kind": "without", "metric": metric, "detail": name, **line})
    table = pd.DataFrame(lines).assign(n_linked=n_linked)
    return table[[column.name for column in TABLES["challenge"][0].columns]]


def _found(line: dict, claims: int, right: int) -> dict:
    """An attack on the same files whose claims have one candidate each."""
    low, high = interval(right, claims)
    rate, reach = right / claims if claims else None, line["reach"] and line["n_confirmed"] / line["reach"]
    return {
        **dict.fromkeys(("n_suspected", "n_pairs", "n_single", "n_claims"), claims),
        **dict.fromkeys(
            ("n_confirmed", "n_single_confirmed", "best_rank_correct", "expected_correct", "n_right"), right
        ),
        **dict.fromkeys(("conditional_rate", "single_rate", "best_rank_correct_rate", "right_rate"), rate),
        "confirmed_rate": right / line["n_puf"],
        "reach": right / reach if reach else None,
        "conditional_low": low,
        "conditional_high": high,
        "n_at_95_percent": claims if rate and rate >= 0.95 else 0,
        **{f"right_of_{n}": n * rate if rate is not None and n <= claims else None for n in surest.NUMBERS},
    }


def _surest(shape: Shape, rates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The surest claims, more of them right the surer; agreement of k metrics has the rates of the k-th."""
    whole = rates[rates["stratum"] == "ALL"].set_index("metric")
    best = {metric: whole.loc[metric, ["n_suspected", "best_rank_correct"]].tolist() for metric in shape.metrics}
    claims = {metric: _ordered(n, right) for metric, (n, right) in best.items()}
    agreeing = [rates[rates["metric"] == metric].assign(metrics=k) for k, metric in enumerate(shape.metrics, start=1)]
    if len(shape.metrics) > 1:
        claims["agreement"] = claims[shape.metrics[0]]
    else:
        agreeing = [agreeing[0].iloc[:0]]
    limit = (shape.decision or {}).get("surest", {}).get("right")
    return {
        "surest/summary.csv": surest.summarize(claims, limit),
        "surest/curve.csv": surest.curves(claims),
        "agreement/rates.csv": pd.concat(agreeing).drop(columns=["metric", *OF_ONE_METRIC]),
    }


def _ordered(n: float, right: float) -> pd.DataFrame:
    """The lines of a metric with n claims in ten certainties."""
    at = np.unique(np.ceil(n * np.arange(1, 11) / 10).astype(int))
    at = at[at > 0]
    correct = np.minimum(at, right * (1 - (1 - at / max(n, 1)) ** 2))
    low, high = beta.ppf(0.025, correct + 0.001, at - correct + 1), beta.ppf(0.975, correct + 1, at - correct + 0.001)
    return pd.DataFrame({"n_claims": at, "n_right": correct, "right_rate": correct / at, "low": low, "high": high})


def _agreement(
    shape: Shape, manifest: pd.DataFrame, rates: pd.DataFrame, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    whole = rates[rates["stratum"] == "ALL"].set_index("metric")
    links = int(manifest["n_links"].sum())
    kinds = [("", "true", links, 0.78)]
    for metric in shape.metrics:
        confirmed = int(whole.at[metric, "n_confirmed_pairs"])
        kinds.append((metric, "confirmed", confirmed, 0.9))
        kinds.append((metric, "false", int(whole.at[metric, "n_pairs"]) - confirmed, 0.68))
    lines, variables = [], []
    records = int(manifest["n_puf"].sum()) + LOST["puf"]
    for at, (name, kind, eif) in enumerate(shape.variables):
        easy = rng.uniform(-0.2, 0.1)
        for metric, pairs, n, level in kinds:
            missing = round(n * rng.uniform(0.02, 0.09))
            agree = min(n - missing, round(n * np.clip(level + easy + rng.normal(0, 0.03), 0, 1)))
            lines.append((metric, pairs, name, n, agree, n - agree - missing, missing))
        distinct = 900 - 71 * at if kind == "numeric" else 2 + at
        truth = lines[-len(kinds)]
        variables.append(
            {
                "variable": name,
                "type": kind,
                "puf_column": name,
                "eif_column": eif,
                "puf_missing": round(records * rng.uniform(0, 0.07)),
                "eif_missing": round(2 * records * rng.uniform(0, 0.07)),
                "puf_distinct": distinct,
                "eif_distinct": distinct + (300 if kind == "numeric" else 0),
                "common_codes": None if kind == "numeric" else distinct,
                "links": links,
                "links_agree": truth[4],
                "links_differ": truth[5],
                "links_missing": truth[6],
            }
        )
    columns = ["metric", "pairs", "variable", "n", "agree", "differ", "missing"]
    agreement = pd.DataFrame(lines, columns=columns)
    order = {kind[:2]: at for at, kind in enumerate(kinds)}
    agreement = agreement.sort_values(
        by=["metric"],
        key=lambda _: agreement.apply(lambda row: order[row["metric"], row["pairs"]], axis=1),
        kind="stable",
    )
    return pd.DataFrame(variables), agreement


def _overlap(shape: Shape, rates: pd.DataFrame) -> pd.DataFrame:
    """Distribute the count of each metric over the sets of metrics that contain it; the counts add up."""
    whole = rates[rates["stratum"] == "ALL"].set_index("metric")
    lines = []
    for name in ("suspected", "confirmed"):
        left = {metric: int(whole.at[metric, f"n_{name}"]) for metric in shape.metrics}
        for size in range(len(shape.metrics), 1, -1):
            for start in range(len(shape.metrics) - size + 1):
                group = shape.metrics[start : start + size]
                shared = min(left[metric] for metric in group) // (5 - min(size, 4) + 1)
                if shared:
                    lines.append((name, "+".join(group), shared))
                    for metric in group:
                        left[metric] -= shared
        lines += [(name, metric, count) for metric, count in left.items() if count]
    return pd.DataFrame(lines, columns=["set", "metrics", "n_pufids"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _ledger(folder: Path) -> None:
    """Write the entries of the steps, and that of an earlier report, which does not concern these results."""
    files = {file: f"source:{file}.csv" for file in ("puf", "eif", "iuf")}
    steps = {
        "resolve": ({}, ["study.json"]),
        "prepare": ({"resolved": "study.json", **files}, ["prepared/puf.parquet", "prepared/account.csv"]),
        "stratify": ({"puf": "prepared/puf.parquet"}, ["strata/manifest.csv"]),
        "rate": ({"manifest": "strata/manifest.csv", "puf": "prepared/puf.parquet"}, ["rates.csv"]),
        "report": ({"rates": "rates.csv"}, ["reports/disclosure-review.html"]),
    }
    for step, (inputs, outputs) in steps.items():
        entry = {
            "step": step,
            "rule": step,
            "metric": None,
            "inputs": {name: [_line(path)] for name, path in inputs.items()},
            "outputs": {path: _line(path) for path in outputs},
            "study_digest": _digest("study"),
            "library_digest": _digest("library"),
            "versions": {"python": "3.11.7", "numpy": "2.4.6", "pandas": "3.1.1"},
        }
        write_entry(folder, entry)


def write_entry(folder: Path, entry: dict) -> None:
    """Write an entry of the ledger as its step would write it."""
    whole = {"rule": entry["step"], "metric": None, "study_digest": "", "library_digest": "", **entry}
    _write(folder / f"ledger/{entry['step']}.json", json.dumps(sealed(whole), indent=1, sort_keys=True))


def write_computed(
    folder: Path, name: str, step: str, study: str, tables: dict[str, Any], **warnings: pd.DataFrame
) -> Path:
    """Write the tables of an analysis that the library computed, the study, its verdict and an entry of the step."""
    _write(folder / "study.json", study)
    for table, content in tables.items():
        if isinstance(content, pd.DataFrame):
            write_table(folder / name / f"{table}.csv", content)
    write_verdict(folder, **warnings)
    outputs = {"summary": {"path": f"{name}/summary.csv", "sha256": "0" * 64, "size": 1}}
    write_entry(folder, {"step": step, "inputs": {}, "versions": {"numpy": "2.4.6"}, "outputs": outputs})
    return folder


def _line(path: str) -> dict:
    return {"path": path, "sha256": _digest(path), "size": 1000}


def _cutpoints(shape: Shape, manifest: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    lines = []
    for row in manifest.itertuples():
        for name, kind, _ in shape.variables:
            if kind != "numeric":
                continue
            scale = {"age": 1, "hours": 0.5}.get(name, 300)
            cuts = np.unique(np.round(np.sort(rng.uniform(18, 80, 4)) * scale))
            if name == "rent":
                cuts = np.concatenate([[0.0, 0.0], cuts[:2]])  # heavy ties at zero: an empty bin
            edges = [None, *cuts, None]
            for at in range(5):
                empty = name == "rent" and at == 1
                share = 0 if empty else 0.2 + (0.2 if name == "rent" and at == 0 else 0)
                above, up_to = (edges[min(place, len(edges) - 1)] for place in (at, at + 1))
                counts = round(row.n_puf * share), round(row.n_eif * share)
                lines.append((row.stratum, name, "puf", at + 1, above, up_to, *counts))
    return pd.DataFrame(lines, columns=["scope", "variable", "file", "bin", "above", "up_to", "n_puf", "n_eif"])
