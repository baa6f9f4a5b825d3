"""Who reads the published tables of an edition and asks a solver what each count can be.

Written apart from the audit: it reads text, takes the rounding rules from the words of their sources, and writes its
own relations.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from oracles import rounding
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, milp

FREE = ("n_puf", "n_eif", "n_links")
OF_METRIC = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
BELOW = ("below_2", "below_3", "below_5", "n_records")
SIZES = (2, 3, 4, 5, 6, 7, 8, 9)
"""Records in cells of at least five are a sum of these numbers from 5 to 9."""
MOST = 4_000
"""More records than any study of the tests has."""


@cache
def images(policy: str) -> dict[str, tuple[int, int]]:
    """The smallest and the largest count that a policy publishes as each text, by trying all counts."""
    found: dict[str, tuple[int, int]] = {}
    for count in range(MOST):
        text = rounding.FIXED[policy](count)
        found[text] = (found.get(text, (count, 0))[0], count)
    return found


def image(policy: str, text: str) -> tuple[int, int]:
    """The smallest and the largest count that a policy publishes as a text."""
    if text == "x":
        return 0, MOST
    base = rounding.BASES.get(policy)
    return images(policy)[text] if base is None else (max(0, int(text) - base + 1), int(text) + base - 1)


def alone(policy: str, count: int) -> tuple[bool, int, int]:
    """What a policy publishes of a count, suppressed or not: whether a number, and the interval of its text."""
    if policy in rounding.BASES:
        low, high, _ = rounding.around(count, rounding.BASES[policy])
        ends = [image(policy, str(value)) for value in (low, high)]
        return True, *min(ends, key=lambda end: end[1] - end[0])
    text = rounding.FIXED[policy](count)
    return text.isdigit(), *image(policy, text)


class Attacker:
    """All that is published of a study, as one system."""

    counted: Mapping[tuple[str, ...], int] = MappingProxyType({})
    """Other counts that everyone can make."""

    def __init__(
        self,
        policy: str,
        folder: Path,
        known: dict[str, int],
        known_eif: dict[str, int] | None = None,
        *,
        blind: bool = False,
        nested: bool = False,
    ) -> None:
        tables = {}
        for name in ("attack", "limits", "clusters", "file"):
            with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
                tables[name] = list(csv.DictReader(stream))
        self.record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        self.lines = [line for line in tables["attack"] if line["file"] == "released"]
        self.limits, self.clusters, self.file = tables["limits"], tables["clusters"], tables["file"]
        self.texts: dict[tuple[str, ...], str] = {}
        for line in self.lines:
            for name in (*FREE, *OF_METRIC):
                if line[name]:
                    cell = self.cell(line, name)
                    assert self.texts.setdefault(cell, line[name]) == line[name], "one number is published twice"
        for line in self.clusters:
            for name in ("n_clusters", "n_suspected", "n_confirmed"):
                self.texts[self.group(line, name)] = line[name]
        for line in self.file:
            for name in BELOW:
                self.texts[self.below(line["convention"], name)] = line[name]
        # Numbers of cells of a size that nobody published.
        hidden = {self.below(line["convention"], f"cells_of_{size}") for line in self.file for size in SIZES}
        self.nested = nested
        hidden |= {cell for pair in self._pairs() for cell in self._moves(*pair)}
        self.cells = {cell: at for at, cell in enumerate(sorted({*self.texts, *hidden}))}
        ends = [image(policy, "x" if blind else self.texts.get(cell, "x")) for cell in self.cells]
        public = {"n_puf": known, "n_eif": known_eif or {}}
        for at, cell in enumerate(self.cells):
            if cell[2] in public.get(cell[0], {}):
                ends[at] = (public[cell[0]][cell[2]],) * 2
            elif cell in self.counted:
                ends[at] = (self.counted[cell],) * 2
        self.low, self.high = (np.array([end[side] for end in ends], float) for side in (0, 1))
        self.rows: list[np.ndarray] = []
        self.most: list[float] = []
        self._relate()
        self.matrix = sparse.csr_array(np.array(self.rows))

    @staticmethod
    def cell(line: dict[str, str], name: str) -> tuple[str, ...]:
        """Which count it is: its quantity, metric, stratum and rank limit."""
        return (name, "", line["stratum"], "") if name in FREE else (
            name, line["metric"], line["stratum"], line["rank_limit"],
        )  # fmt: skip

    @staticmethod
    def group(line: dict[str, str], name: str) -> tuple[str, ...]:
        """Which count of clusters it is."""
        return f"clusters {name}", "" if name == "n_clusters" else line["metric"], line["stratum"], ""

    @staticmethod
    def below(convention: str, name: str) -> tuple[str, ...]:
        """Which count of the file on its own it is."""
        return name, "", "ALL", convention

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
            self.at_most({c["n_confirmed"]: 1, c["n_single_confirmed"]: -1, c["n_suspected"]: -1, c["n_single"]: 1})
            if (pairs := self.high[self.cells[c["n_puf"]]] * self.high[self.cells[c["n_eif"]]]) < MOST:
                for name in ("n_links", "n_suspected", "n_ambiguous"):
                    self.at_most({c[name]: 1}, pairs)
            # Each candidate is the only one of its record, and each record of the intruder a candidate of one.
            if ["", line["metric"]] in self.record.get("containments", {}).get("one_candidate", []):
                self.at_most({c["n_suspected"]: 1, c["n_eif"]: -1})
        self._add_up()
        self._rank()
        self._group()
        if self.file:
            self._count_matches()
        for few, many in self._pairs():
            self._nest(few, many)
        for limit in self.limits:
            self._judge(limit)

    def _add_up(self) -> None:
        parts = defaultdict(list)
        for cell in self.cells:
            if cell[2] != "ALL" and not cell[0].startswith("clusters"):
                parts[(cell[0], cell[1], "ALL", cell[3])].append(cell)
        for whole, own in parts.items():
            terms = {whole: -1, **dict.fromkeys(own, 1)}
            if whole[0] in ("n_eif", "n_links"):  # records and links may be in no stratum
                self.at_most(terms)
            else:
                self.equal(terms)

    def _rank(self) -> None:
        by_metric = defaultdict(list)
        for line in self.lines:
            if line["stratum"] == "ALL":
                by_metric[line["metric"]].append(line)
        for lines in by_metric.values():
            lines.sort(key=lambda line: int(line["rank_limit"]))
            for one, other in pairwise(lines):
                a = {name: self.cell(one, name) for name in OF_METRIC}
                b = {name: self.cell(other, name) for name in OF_METRIC}
                self.at_most({a["n_suspected"]: 1, b["n_suspected"]: -1})
                self.at_most({a["n_confirmed"]: 1, b["n_confirmed"]: -1})
                self.equal({a["n_suspected"]: 1, a["n_ambiguous"]: 1, b["n_suspected"]: -1, b["n_ambiguous"]: -1})
        unranked = [cell for cell in self.cells if cell[0] == "n_ambiguous" and cell[1] == "unicity"]
        for cell in unranked:
            self.equal({cell: 1})

    def _pairs(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Lines of two metrics, the first contained in the second, of one stratum and rank limit."""
        pairs = []
        for few, many in pairwise(("unicity", "taxicab", "euclidean")) if self.nested else ():
            for line in self.lines:
                for other in self.lines:
                    same = few == "unicity" or line["rank_limit"] == other["rank_limit"]
                    if (line["metric"], other["metric"], line["stratum"]) == (few, many, other["stratum"]) and same:
                        pairs.append((line, other))
        return pairs

    @staticmethod
    def _moves(line: dict[str, str], other: dict[str, str]) -> dict[tuple[str, ...], tuple[str, str]]:
        """What a record can be in two metrics at once, the one contained in the other: how many there are of each kind.

        `c` and `u`: one candidate, confirmed or not; `C` and `U`: several; `a`: ambiguous; `-`: none of these. At rank
        limit 1 nobody has several.
        """
        kinds = {"c": "cC", "u": "uUC", "C": "C", "U": "UC", "a": "a", "-": "cuCUa-"}
        if other["rank_limit"] == "1":
            kinds = {"c": "c", "u": "u", "a": "a", "-": "cua-"}
        place = line["metric"], other["metric"], line["stratum"], other["rank_limit"]
        return {("both", *place, one + two): (one, two) for one, many in kinds.items() for two in many}

    def _nest(self, line: dict[str, str], other: dict[str, str]) -> None:
        """Every record is one thing in each of two metrics."""
        moves = self._moves(line, other)
        for side, own in enumerate((line, other)):
            for name, kinds in (("n_suspected", "cuCU"), ("n_confirmed", "cC"), ("n_ambiguous", "a"),
                                ("n_single", "cu"), ("n_single_confirmed", "c"), ("n_puf", "cuCUa-")):  # fmt: skip
                inside = {cell: 1 for cell, kind in moves.items() if kind[side] in kinds}
                self.equal({**inside, self.cell(own, name): -1})

    def _group(self) -> None:
        """A cluster has a first record and further ones, and counts in each stratum that it has records in."""
        for line in self.clusters:
            record = next(
                other
                for other in self.lines
                if (other["metric"], other["stratum"]) == (line["metric"], line["stratum"]) and other["n_single"] != ""
            )
            many, some, few = (self.group(line, name) for name in ("n_clusters", "n_suspected", "n_confirmed"))
            whole, claimed, right = (self.cell(record, name) for name in ("n_puf", "n_suspected", "n_confirmed"))
            for small, large in ((few, some), (some, many), (many, whole), (some, claimed), (few, right)):
                self.at_most({small: 1, large: -1})
            self.at_most({right: 1, few: -1, claimed: -1, some: 1})
            self.at_most({claimed: 1, some: -1, whole: -1, many: 1})
        for name in ("n_clusters", "n_suspected", "n_confirmed"):
            for metric in {line["metric"] for line in self.clusters}:
                own = [line for line in self.clusters if line["metric"] == metric]
                cells = {line["stratum"]: self.group(line, name) for line in own}
                total = cells.pop("ALL")
                for cell in cells.values():
                    self.at_most({cell: 1, total: -1})
                self.at_most({total: 1, **dict.fromkeys(cells.values(), -1)})
                if self.record.get("nested_clusters"):
                    self.at_most({total: -1, **dict.fromkeys(cells.values(), 1)})

    def _count_matches(self) -> None:
        """Records of one file come in cells; a missing value is left out, a category, or matches everything."""
        for convention in ("excluded", "category", "wildcard"):
            below = [self.below(convention, name) for name in BELOW]
            for small, large in pairwise(below):
                self.at_most({small: 1, large: -1})
            sizes = {size: self.below(convention, f"cells_of_{size}") for size in SIZES}
            for few, more, those in ((0, 1, (2,)), (1, 2, (3, 4)), (2, 3, (5, 6, 7, 8, 9))):
                if convention != "wildcard":
                    self.equal({below[more]: 1, below[few]: -1, **{sizes[size]: -size for size in those}})
        complete, category, wild = (
            [self.below(convention, name) for name in BELOW] for convention in ("excluded", "category", "wildcard")
        )
        for few, all_of_them, fewer in zip(complete, category, wild, strict=True):
            self.at_most({few: 1, all_of_them: -1})
            self.at_most({fewer: 1, all_of_them: -1})
        for at, later in pairwise(range(4)):
            self.at_most({complete[later]: 1, complete[at]: -1, category[later]: -1, category[at]: 1})
        for size in (2, 3, 4):
            few, more = (self.below(convention, f"cells_of_{size}") for convention in ("excluded", "category"))
            self.at_most({few: 1, more: -1})
        self.equal({wild[3]: 1, category[3]: -1})
        self._count_rows(category[3], ("n_puf", "", "ALL", ""))

    def _count_rows(self, rows: tuple[str, ...], everyone: tuple[str, ...]) -> None:
        """The file is the released one."""
        self.equal({rows: 1, everyone: -1})

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
        return round(objective @ self._least(-objective) - objective @ self._least(objective))

    def spread(self, tries: int = 8) -> np.ndarray:
        """How far every count is apart in solutions that are drawn up or down together: its width is at least this."""
        generator, found = np.random.default_rng(0), []
        for _ in range(tries):
            signs = generator.choice([-1.0, 1.0], size=len(self.cells))
            found += [self._least(signs), self._least(-signs)]
        return np.max(found, axis=0) - np.min(found, axis=0)

    def _least(self, objective: np.ndarray) -> np.ndarray:
        """The point with the smallest value, over whole numbers.

        Where the linear program has a whole-numbered solution, it is the answer: the solver for whole numbers can err
        (it has given 2 where 0 is possible), and is asked only where there is none, without its presolve.
        """
        rows, most = self.matrix, np.array(self.most)
        ends = np.stack([self.low, self.high], axis=1)
        found = linprog(objective, A_ub=rows, b_ub=most, bounds=ends, method="highs-ds")
        if found.status == 0 and np.abs(found.x - np.round(found.x)).max() > 1e-6:
            found = milp(
                objective,
                constraints=LinearConstraint(rows, -np.inf, most),
                bounds=(self.low, self.high),
                integrality=np.ones(len(self.cells)),
                options={"presolve": False},
            )
        assert found.status == 0, found.message
        return np.round(found.x)


class AttackerOfUnits(Attacker):
    """Who knows what holds between the metrics of units, and between units and the rows of the file.

    Categorical variables and the default thresholds are taken for granted. Of a pair of units, let d and m be the
    mean numbers of variables that differ, or are missing or of a member left over: Euclidean (`rms`) passes for
    d + m/4 < v/8, Taxicab for d + m/2 < v/4, Adhoc for d + m < v/2, each of which implies the next.
    """

    def __init__(self, *published: Any, rows: int | None, best: Sequence[str], **blind: bool) -> None:
        names = [self.below(convention, "n_records") for convention in ("category", "wildcard")]
        self.counted = {} if rows is None else dict.fromkeys(names, rows)
        self.best = best  # metrics in which a unit that is unique on all variables is the only best candidate
        super().__init__(*published, **blind)

    def _relate(self) -> None:
        super()._relate()
        for few, many in combinations(("euclidean", "taxicab", "adhoc"), 2):
            for line, other in product(self.lines, self.lines):
                if (line["metric"], other["metric"], line["stratum"]) == (few, many, other["stratum"]):
                    terms = {self.cell(line, name): 1 for name in ("n_suspected", "n_ambiguous")}
                    self.at_most(terms | {self.cell(other, name): -1 for name in ("n_suspected", "n_ambiguous")})
        for line, other in product(self.lines, self.lines):
            if line["metric"] == "unicity" and line["stratum"] == other["stratum"] and other["metric"] != "unicity":
                names = ("n_suspected", "n_ambiguous") if other["metric"] not in self.best else ("n_suspected",)
                self.at_most({self.cell(line, "n_suspected"): 1} | {self.cell(other, name): -1 for name in names})

    def _pairs(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        return [
            (line, other)
            for line, other in product(self.lines, self.lines)
            if line["metric"] == "unicity" and line["stratum"] == other["stratum"] and other["metric"] in self.best
        ]

    def _count_rows(self, rows: tuple[str, ...], everyone: tuple[str, ...]) -> None:
        self.at_most({everyone: 1, rows: -1})
        self.at_most({rows: 1, everyone: -1000})


NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")


def numbers(text: str) -> set[str]:
    """Every number of a text, without separators between thousands."""
    return {match.replace(",", "") for match in NUMBER.findall(text)}
