"""Read the results folder of a study for the report: aggregate tables only, no keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident import language
from reident.challenge.limits import is_own
from reident.intake import severity
from reident.intake.account import coded
from reident.ledger.chain import Chain, place_of, root_of
from reident.ledger.stored import read_csv
from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import WHOLE
from reident.outcomes import ATTACK, LIMITS, OPEN, VERDICT, WARNINGS
from reident.page.layout import locate
from reident.page.sentences import HEADING
from reident.pipeline import steps
from reident.sections.codes import Coding, normaliser
from reident.study.model import Study

RESOLVED = "study.json"
"""The study with every default filled in, which decides what tables the report shows."""

_FROM_LINKS = re.compile(
    "confirmed|conditional|correct|right|named|^reach$|pair_precision|baseline|single_rate|outside|findable|linked|^n_at_"
)
"""The columns of rates and claims that follow from the true links."""


class Results:
    """The aggregate tables that a study asks for; other files in the folder are ignored.

    `study` has every default filled in, and `model` is the same as declared sections; `reviewed` has the tables that it
    asks for, by their path in the folder; `named` is whether the external intruder file has names.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.study: dict[str, Any] = json.loads((folder / RESOLVED).read_text(encoding="utf-8"))
        self.model = Study.model_validate(self.study)
        self.named = self.model.linked_files.eif.named
        tables = steps.reported_tables(self.model).values()
        self.reviewed = frozenset(path for paths in tables for path in paths)
        self.table = cache(self._table)
        self.once = cache(self._once)
        self._places = cache(self._strata_of)

    def has(self, *names: str) -> bool:
        """Return whether the study asks for all of these files and they exist; ``study.json`` always does."""
        required = self.reviewed | {RESOLVED}
        return all(name in required and (self.folder / name).is_file() for name in names)

    def _table(self, name: str) -> pd.DataFrame:
        if name not in self.reviewed:
            raise ValueError(
                f"`{name}` is not a table of this study's report. Mark it as reported in `reident.pipeline.tables`."
            )
        return read_csv(self.folder / name)

    def _once(self, make: Callable[[Results], Any]) -> Any:
        """Return what a function makes of these results; it is made once."""
        return make(self)

    def _strata_of(self, name: str) -> tuple[np.ndarray, pd.Index]:
        codes, strata = pd.factorize(self.table(name)["stratum"])
        return codes, pd.Index(strata)

    def of_strata(self, name: str, strata: Iterable[str]) -> pd.DataFrame:
        """Return the lines of a table about these strata: a report shows few of very many."""
        codes, index = self._places(name)
        mask = np.zeros(len(index), bool)
        place = index.get_indexer(pd.Index(set(strata), dtype=object))
        mask[place[place >= 0]] = True
        return self.table(name)[mask[codes]]

    @property
    def language(self) -> str:
        """Return the language of the report."""
        return language.named(self.study)

    @property
    def compares_units(self) -> bool:
        """Return whether units of several rows take the place of records."""
        return self.model.units is not None

    @property
    def noun(self) -> str:
        """Return what is compared, a key of ``nouns.yaml``: a record, a unit, or what the study says that a unit is."""
        return "record" if self.model.units is None else self.model.units.kind or "unit"

    @cached_property
    def metrics(self) -> list[str]:
        """Return the metrics that have rates, in the order of the registry."""
        names = set(self.table("rates.csv")["metric"].unique())
        return [*(name for name in REGISTRY if name in names), *sorted(names - set(REGISTRY))]

    @property
    def ranked(self) -> list[str]:
        """Return the metrics to which the rank filter applies."""
        return [name for name in self.metrics if name not in REGISTRY or REGISTRY[name].ranked]

    def options(self, metric: str) -> Any:
        """Return the options of a metric that the study computes, as its module declares them."""
        return self.model.chosen[metric]

    @cached_property
    def whole(self) -> pd.DataFrame:
        """Return the rates of the whole study, indexed by metric."""
        return self.of_strata("rates.csv", [WHOLE]).set_index("metric").loc[self.metrics]

    @property
    def decision(self) -> dict[str, Any]:
        """Return the section `decision`; empty without one."""
        return self.study.get("decision") or {}

    @property
    def limit(self) -> float | None:
        """Return the largest conditional rate with which every metric passes; None where there is none for all."""
        limit = self.decision.get("conditional_rate_at_most")
        return None if isinstance(limit, dict) else limit

    def limit_of(self, metric: str) -> float | None:
        """Return the largest conditional rate with which a metric passes, or None without one."""
        limit = self.decision.get("conditional_rate_at_most")
        return limit.get(metric) if isinstance(limit, dict) else limit

    @property
    def warnings(self) -> pd.DataFrame:
        """Return every warning of the study, the gravest first."""
        if not self.has(WARNINGS):
            return severity.table([]).assign(about="")
        return self.table(WARNINGS)

    def limits(self, about: str) -> pd.DataFrame:
        """Return the limits about the attack, the risk of one file, or matching, for what the study limits itself."""
        lines = self.table(LIMITS)
        return lines[(lines["about"] == about) & is_own(lines, self.decision)]

    def verdict(self, about: str) -> str:
        """Return the verdict on the attack, the risk of one file, or matching; ``open`` without a limit."""
        verdicts = self.table(VERDICT).set_index("scope")["verdict"]
        return str(verdicts.get(about, OPEN))

    @property
    def level(self) -> float:
        """Return the confidence level of the intervals."""
        return self.study["rates"]["level"]

    @property
    def max_pairs(self) -> int:
        """Return the rank limit in force."""
        return self.study["rank_filter"]["max_pairs"]

    @property
    def strata_names(self) -> list[str]:
        """Return the names of the strata variables."""
        return [variable["name"] for variable in self.study["strata"]]

    @property
    def strata_heading(self) -> str:
        """Return the heading of the column of strata."""
        return " · ".join(self.strata_names) or HEADING("no_strata.variable")

    @cached_property
    def strata(self) -> pd.DataFrame:
        """Return the manifest with the key values of each stratum as its `label`."""
        manifest = self.table("strata/manifest.csv").copy()
        names = self.strata_names
        values = [[self.label(name, code) for code in manifest[name]] for name in names]
        rows = zip(*values, strict=True) if names else [()] * len(manifest)
        manifest["label"] = [" · ".join(row) if row else HEADING("no_strata.value") for row in rows]
        return manifest

    def label(self, variable: str, code: str) -> str:
        """Return the label that the report shows for a code of a variable; without a label, the code."""
        return self._labels.get(variable, {}).get(code, code)

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        """Return the declared labels of each variable, by code as the tables have it."""
        risk = self.study.get("file_risk") or {}
        learnt = self.study.get("attribute_disclosure") or {}
        lists = ("strata", "linking_variables")
        declared = [variable for name in lists for variable in self.study.get(name) or ()]
        labels: dict[str, dict[str, str]] = {}
        declared += [*(risk.get("key_variables") or ()), *risk.get("sensitive", ())]
        declared += [*learnt.get("keys", ()), *learnt.get("targets", ())]
        for variable in declared:
            coding = Coding(variable.get("type", "categorical"), integer_coded=variable["integer_coded"])
            normal = normaliser(coding)
            by_code = {normal(code): label for code, label in (variable.get("labels") or {}).items()}
            labels[variable["name"]] = by_code or labels.get(variable["name"], {})
        return labels

    @cached_property
    def ledger(self) -> list[dict[str, Any]]:
        """Return the ledger entries of the steps that made these tables, by the path of their first result.

        Entries of other steps, such as that of an earlier report, do not concern these results.
        """
        place = place_of(self.folder)
        names = {*self.reviewed, RESOLVED}
        return Chain(root_of(self.folder)).behind(f"{place}/{name}".lstrip("/") for name in names)

    @cached_property
    def true_links(self) -> tuple[int, int]:
        """Return the number of true links between the two files, and of those inside a stratum.

        Suspected pairs are compared with the latter only: without any of them, nothing can be confirmed.
        """
        account = self.account("stratify", "iuf")
        return account["in"], account["used"]

    @cached_property
    def confirmable(self) -> bool:
        """Return whether it is known what is found: a true link is inside a stratum, and no warning invalidates it."""
        return not self.has("strata/account.csv") or (self.true_links[1] > 0 and not self.invalidated)

    def known(self, lines: pd.DataFrame) -> pd.DataFrame:
        """Return lines of rates, without a number that follows from the true links where they tell nothing."""
        if self.confirmable:
            return lines
        return lines.assign(**{name: float("nan") for name in lines if _FROM_LINKS.search(name)})

    @cached_property
    def invalidated(self) -> bool:
        """Return whether a warning may invalidate the results of the attack."""
        lines = self.warnings
        return bool(((lines["about"] == ATTACK) & (lines["severity"] == severity.INVALIDATES)).any())

    def account(self, step: str, file: str) -> dict[str, int]:
        """Return the rows of one file in one step by code: ``in``, ``used`` and each cause of being left out."""
        name = {"prepare": "prepared/account.csv", "stratify": "strata/account.csv"}[step]
        lines = self.table(name)
        lines = coded(lines[lines["file"] == file])
        return {cause: int(rows) for cause, rows in zip(lines["cause"], lines["rows"], strict=True)}


def open_results(folder: str | Path) -> Results:
    """Open the results in a folder: an absolute path, or one relative to the working folder or a folder above it."""
    advice = "there are no results. Run the study first, for example with `make`."
    return Results(locate(folder, RESOLVED, advice))
