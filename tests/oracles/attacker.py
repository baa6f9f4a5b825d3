"""Who reads the published tables of an edition and asks a solver what each count can be.

Written apart from the audit: it reads text, takes the rounding rules from the words of their sources, and writes its
own relations.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from oracles import rounding
from scipy.optimize import LinearConstraint, milp

FREE = ("n_puf", "n_eif", "n_links")
OF_METRIC = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
MOST = 4_000
"""More records than any study of the tests has."""


def image(policy: str, text: str) -> tuple[int, int]:
    """The smallest and the largest count that a policy publishes as a text, by trying."""
    if text == "x":
        return 0, MOST
    base = rounding.BASES.get(policy)
    if base is not None:
        return max(0, int(text) - base + 1), int(text) + base - 1
    found = [count for count in range(MOST) if rounding.FIXED[policy](count) == text]
    return found[0], found[-1]


class Attacker:
    """All that is published of a study, as one system."""

    def __init__(self, policy: str, folder: Path, known: dict[str, int], *, blind: bool = False) -> None:
        with (folder / "attack.csv").open(encoding="utf-8", newline="") as stream:
            self.lines = [line for line in csv.DictReader(stream) if line["file"] == "released"]
        with (folder / "limits.csv").open(encoding="utf-8", newline="") as stream:
            self.limits = list(csv.DictReader(stream))
        self.texts: dict[tuple[str, ...], str] = {}
        for line in self.lines:
            for name in (*FREE, *OF_METRIC):
                if line[name]:
                    cell = self.cell(line, name)
                    assert self.texts.setdefault(cell, line[name]) == line[name], (
                        "one number is published twice"
                    )
        images = {text: image(policy, "x" if blind else text) for text in set(self.texts.values())}
        self.cells = {cell: at for at, cell in enumerate(sorted(self.texts))}
        ends = [images[self.texts[cell]] for cell in self.cells]
        ends = [
            (known[cell[2]],) * 2 if cell[0] == "n_puf" else end
            for cell, end in zip(self.cells, ends, strict=True)
        ]
        self.low, self.high = (np.array([end[side] for end in ends], float) for side in (0, 1))
        self.rows: list[np.ndarray] = []
        self.most: list[float] = []
        self._relate()

    @staticmethod
    def cell(line: dict[str, str], name: str) -> tuple[str, ...]:
        """Which count it is: its quantity, metric, stratum and rank limit."""
        return (name, "", line["stratum"], "") if name in FREE else (
            name, line["metric"], line["stratum"], line["rank_limit"],
        )  # fmt: skip

    def at_most(self, terms: dict[tuple[str, ...], float], most: float = 0) -> None:
        """A weighted sum of counts is at most a number, if all of them are published."""
        if all(cell in self.cells for cell in terms):
            row = np.zeros(len(self.cells))
            for cell, factor in terms.items():
                row[self.cells[cell]] += factor
            self.rows.append(row)
            self.most.append(most)

    def equal(self, terms: dict[tuple[str, ...], float]) -> None:
        """A weighted sum of counts is 0."""
        self.at_most(terms)
        self.at_most({cell: -factor for cell, factor in terms.items()})

    def _relate(self) -> None:
        for line in self.lines:
            c = {name: self.cell(line, name) for name in (*FREE, *OF_METRIC)}
            for small, large in (
                ("n_confirmed", "n_suspected"), ("n_single", "n_suspected"), ("n_single_confirmed", "n_single"),
                ("n_single_confirmed", "n_confirmed"), ("n_confirmed", "n_links"), ("n_suspected", "n_puf"),
            ):  # fmt: skip
                self.at_most({c[small]: 1, c[large]: -1})
            self.at_most({c["n_suspected"]: 1, c["n_ambiguous"]: 1, c["n_puf"]: -1})
            # Suspected records with more than one candidate: the confirmed ones are at most all of them.
            self.at_most(
                {c["n_confirmed"]: 1, c["n_single_confirmed"]: -1, c["n_suspected"]: -1, c["n_single"]: 1}
            )
        self._add_up()
        self._rank()
        for limit in self.limits:
            self._judge(limit)

    def _add_up(self) -> None:
        parts = defaultdict(list)
        for cell in self.cells:
            if cell[2] != "ALL":
                parts[(cell[0], cell[1], "ALL", cell[3])].append(cell)
        for whole, own in parts.items():
            self.equal({whole: -1, **dict.fromkeys(own, 1)})  # in these studies every record is in a stratum

    def _rank(self) -> None:
        by_metric = defaultdict(list)
        for line in self.lines:
            if line["stratum"] == "ALL":
                by_metric[line["metric"]].append(line)
        for lines in by_metric.values():
            lines.sort(key=lambda line: int(line["rank_limit"]))
            for one, other in zip(lines, lines[1:], strict=False):
                a, b = ({name: self.cell(line, name) for name in OF_METRIC} for line in (one, other))
                self.at_most({a["n_suspected"]: 1, b["n_suspected"]: -1})
                self.at_most({a["n_confirmed"]: 1, b["n_confirmed"]: -1})
                self.equal(
                    {a["n_suspected"]: 1, a["n_ambiguous"]: 1, b["n_suspected"]: -1, b["n_ambiguous"]: -1}
                )
        unranked = [cell for cell in self.cells if cell[0] == "n_ambiguous" and cell[1] == "unicity"]
        for cell in unranked:
            self.equal({cell: 1})

    def _judge(self, limit: dict[str, str]) -> None:
        if limit["outcome"] == "withheld":
            return
        force = {line["metric"]: line for line in self.lines if line["stratum"] != "ALL"} or {
            line["metric"]: line for line in self.lines
        }
        line = {**force[limit["metric"]], "stratum": "ALL"}
        terms = {self.cell(line, "n_confirmed"): 1.0, self.cell(line, "n_suspected"): -float(limit["bound"])}
        sign = 1 if limit["outcome"] == "passes" else -1
        self.at_most({cell: sign * factor for cell, factor in terms.items()})

    def width(self, cell: tuple[str, ...]) -> float:
        """Largest minus smallest value of a count that everything allows."""
        objective = np.zeros(len(self.cells))
        objective[self.cells[cell]] = 1
        ends = []
        for sign in (1, -1):
            found = milp(
                sign * objective,
                constraints=LinearConstraint(np.array(self.rows), -np.inf, np.array(self.most)),
                bounds=(self.low, self.high),
                integrality=np.ones(len(self.cells)),
            )
            assert found.status == 0, found.message
            ends.append(sign * found.fun)
        return round(ends[1] - ends[0])


NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")


def numbers(text: str) -> set[str]:
    """Every number of a text, without separators between thousands."""
    return {match.replace(",", "") for match in NUMBER.findall(text)}
