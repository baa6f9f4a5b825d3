"""Relations between the counts of an edition, and the ranges that a reader can therefore derive (METHODS §11).

Every relation is true of every study, whatever its records are: it follows from METHODS §2 and §5–§8. Relations are
between cells and depend on what is published alone, never on the exact counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from reident.linkage.settings import WHOLE
from reident.release import file_relations
from reident.release.cells import ATTACK, CLUSTERS, FILES, SUPPRESSED, Cell, Published
from reident.release.containment import Contained, How
from reident.release.facts import Facts, LimitOutcome
from reident.release.linear import Relation, at_most, between, equal
from reident.release.losses import Name

RELEASED, BEFORE = "released", "before"
MAX_DENOMINATOR = 1000
"""The largest denominator of a limit whose `breaks` is a sharp inequality; larger ones have too large coefficients."""

CONTAINED = {
    "n_suspected": (1, 0, 0, 0, 0),
    "n_confirmed": (0, 1, 0, 0, 0),
    "several candidates": (1, 0, 0, -1, 0),
    "confirmed with several candidates": (0, 1, 0, 0, -1),
    "suspected, but by a single candidate that is confirmed": (1, 0, 0, 0, -1),
    "suspected, but by a single candidate that is not confirmed": (1, 0, 0, -1, 1),
}
"""The numbers of records that an attack has at most as many of as one with the same candidates and others, by their
factors of the counts of :data:`ATTACK`. All relations between the counts of two such attacks follow from them."""

SINGLE = {
    "n_single": ((0, 0, 0, 1, 0), (1, 0, 0, 0, 0)),
    "n_single_confirmed": ((0, 0, 0, 0, 1), (0, 1, 0, 0, 0)),
    "a single candidate that is confirmed": ((0, 0, 0, 0, 1), (1, 0, 0, -1, 1)),
    "a single candidate that is not confirmed": ((0, 0, 0, 1, -1), (1, 0, 0, 0, -1)),
}
"""The same at a lower rank limit of the other attack, at which a single candidate is still one."""

ONLY = {
    "n_confirmed": ((0, 1, 0, 0, 0), (0, 1, 0, 0, 0)),
    "suspected, not confirmed": ((1, -1, 0, 0, 0), (1, -1, 0, 0, 0)),
}
"""The same where a record has one candidate in both attacks."""

ONLY_PUBLISHED = {
    "a single candidate that is confirmed": ((0, 1, 0, 0, 0), (0, 0, 0, 0, 1)),
    "a single candidate that is not confirmed": ((1, -1, 0, 0, 0), (0, 0, 0, 1, -1)),
}
"""The same where the number of single candidates is published."""

MAX_RECORDS = 100
"""A stratum has at most records · records links; a relation where one of the two numbers is at most this."""


def relations(cells: Iterable[Cell] | Mapping[Cell, Published], facts: Facts) -> list[Relation]:
    """Return every relation between the cells of an edition that a reader may know (METHODS §11).

    With what is published of the cells, the relations of strata with no EIF record, or with at least one, are sharper.
    Cells that are not in the edition are hidden counts. The order does not depend on that of the cells.
    """
    edition = _Edition(cells, facts)
    return [
        *edition.relations(),
        *file_relations.of_file(edition.cells, edition.same_file, several_rows=facts.several_rows),
        *file_relations.of_matching(edition.cells, facts.nested_scenarios),
    ]


class _Edition:
    """The cells of an edition, each under the name that it has in the study, and their relations."""

    def __init__(self, cells: Iterable[Cell] | Mapping[Cell, Published], facts: Facts) -> None:
        self.published = cells if isinstance(cells, Mapping) else {}
        self.facts, self.given = facts, sorted(set(cells))
        self.cells = {self.canonical(cell) for cell in self.given}
        self.strata: defaultdict[Cell, list[Cell]] = defaultdict(list)
        self.rank_limits: defaultdict[Cell, set[int]] = defaultdict(set)
        # The lines of rates of each variant and metric, of the released file.
        self.lines: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in sorted(self.cells):
            if cell.stratum != WHOLE:
                self.strata[cell._replace(stratum=WHOLE)].append(cell)
            if cell.quantity == "n_suspected" and cell.file == RELEASED:
                self.lines[cell.variant, cell.metric].append(cell._replace(quantity=""))
            if cell.quantity in ATTACK and cell.rank_limit:
                self.rank_limits[cell._replace(quantity="", rank_limit=0)].add(cell.rank_limit)

    def canonical(self, cell: Cell) -> Cell:
        """Return the cell of the study that certainly has the same count, or the cell itself."""
        if cell.quantity in FILES and cell.stratum == WHOLE and cell.variant in self.facts.same_records:
            same = True
        elif cell.quantity in (*FILES, "n_clusters"):
            same = cell.variant in self.facts.same_files
        else:
            same = bool(cell.metric) and (cell.variant, cell.metric) in self.facts.same_attack
        return cell._replace(variant="") if same else cell

    def get(self, base: Cell, quantity: str) -> Cell | None:
        """Return the cell of a quantity beside another cell; None if it is not in the edition."""
        cell = base._replace(quantity=quantity)
        if quantity in (*FILES, "n_clusters"):
            cell = self.canonical(cell._replace(metric="", rank_limit=0))
        return cell if cell in self.cells else None

    def bases(self, quantities: Sequence[str]) -> list[Cell]:
        """Return one cell without quantity for each line that has one of the quantities."""
        return sorted({cell._replace(quantity="") for cell in self.cells if cell.quantity in quantities})

    def relations(self) -> Iterator[Relation]:
        """Yield the relations of the attack and of clusters."""
        for cell in self.given:
            yield from equal("a variant repeats the count of the study", [(1, cell)], [(1, self.canonical(cell))])
        for base in self.bases(FILES):
            yield from self._records(base)
        for base in self.bases(ATTACK):
            yield from self._attack(base)
        for base in sorted(self.rank_limits):
            yield from self._rank_limits(base, sorted(self.rank_limits[base]))
        yield from self._rank_limits_of_others()
        for contained in self._shortest():
            yield from self._contained(contained)
        for base in self.bases(CLUSTERS):
            yield from self._clusters(base)
        for whole in sorted(self.strata):
            yield from self._sum(whole, self.strata[whole])
        for limit in self.facts.outcomes:
            yield from self._outcome(limit)

    def _chain(self, base: Cell, *quantities: str) -> Iterator[Relation]:
        """Yield that each quantity is at most the next one in the edition."""
        chain = [(name, cell) for name in quantities if (cell := self.get(base, name))]
        for (name, cell), (larger, other) in pairwise(chain):
            yield from at_most(f"{name} ≤ {larger}", [(1, cell)], [(1, other)])

    def _records(self, base: Cell) -> Iterator[Relation]:
        """Yield the relations of the records and links of a stratum, or of the whole study."""
        puf, eif, links = (self.get(base, name) for name in FILES)
        if base.file == BEFORE and base.stratum == WHOLE:
            for name in FILES:
                after = self.get(base._replace(file=RELEASED), name)
                yield from equal(f"{name} is the same before protection", [(1, self.get(base, name))], [(1, after)])
        for records, others in ((puf, eif), (eif, puf)):
            most = self._high(records)
            # Of 0 records nothing follows that the relation with the files exchanged does not say.
            if most and (most <= MAX_RECORDS or self._high(others) == 0):
                yield from at_most("a record has at most a link to each other record", [(1, links)], [(most, others)])

    def _high(self, cell: Cell | None) -> int | None:
        """Return the largest count with the published text of a cell."""
        published = self.published.get(cell) if cell else None
        return published.high if published and published.text != SUPPRESSED else None

    def _low(self, cell: Cell | None) -> int:
        """Return the smallest count with the published text of a cell."""
        published = self.published.get(cell) if cell else None
        return published.low if published and published.text != SUPPRESSED else 0

    def _attack(self, base: Cell) -> Iterator[Relation]:
        """Yield the relations within one line of rates."""
        suspected, confirmed, ambiguous, single, correct = (self.get(base, name) for name in ATTACK)
        yield from self._chain(base, "n_single_confirmed", "n_confirmed", "n_suspected")
        yield from self._chain(base, "n_single_confirmed", "n_single", "n_suspected")
        yield from self._chain(base, "n_confirmed", "n_links")
        yield from at_most(
            "records with several candidates: confirmed ≤ suspected",
            [(1, confirmed), (-1, correct)],
            [(1, suspected), (-1, single)],
        )
        puf, eif = self.get(base, "n_puf"), self.get(base, "n_eif")
        tops = [cell for cell in (suspected or confirmed or single or correct, ambiguous) if cell]
        yield from at_most("n_suspected + n_ambiguous ≤ n_puf", [(1, cell) for cell in tops], [(1, puf)])
        # Written with n_eif, so that nothing follows where it is suppressed.
        if self._high(eif) == 0 and (most := self._high(puf)) is not None:
            for cell in filter(None, (suspected, ambiguous)):
                yield from at_most("no pair in a stratum without EIF records", [(1, cell)], [(most, eif)])
        if base.metric in self.facts.unranked:
            yield from equal("no rank limit, no ambiguous record", [(1, ambiguous)], [])
        name = base.variant, base.metric
        pairs = base.file == RELEASED and name in self.facts.containments.one_candidate
        if pairs or (base.rank_limit == 1 and base.metric not in self.facts.unranked):
            yield from equal("every record has one candidate", [(1, single)], [(1, suspected)])
            yield from equal("every confirmed record has one candidate", [(1, correct)], [(1, confirmed)])
        if pairs:
            yield from self._chain(base, "n_suspected", "n_eif")
        if base.file == RELEASED and name in self.facts.containments.none_pass:
            for cell in filter(None, (suspected, ambiguous)):
                yield from equal("no pair can pass", [(1, cell)], [])
        if base.file == RELEASED and base.stratum == WHOLE and name in self.facts.containments.two_pairs:
            candidates = [(1, suspected), (1 + base.rank_limit, ambiguous)]
            yield from at_most("at most two pairs pass for each link", candidates, [(2, self.get(base, "n_links"))])
        is_compared = (base.stratum != WHOLE or not self.facts.stratified) and self._low(eif) > 0
        if base.file == RELEASED and name in self.facts.containments.all_pass and is_compared:
            yield from equal("every pair passes", [(1, suspected), (1, ambiguous)], [(1, puf)])

    def _rank_limits(self, base: Cell, limits: Sequence[int]) -> Iterator[Relation]:
        """Yield the relations between the rank limits of a metric (METHODS §5)."""
        lines = [[self.get(base._replace(rank_limit=limit), name) for name in ATTACK] for limit in limits]
        yield from self._of_limits(lines)
        if base.file == RELEASED and (base.variant, base.metric) in self.facts.containments.one_candidate:
            for at in range(3):
                for one, other in pairwise([line[at] for line in lines if line[at]]):
                    yield from equal("a one-to-one assignment has no other ranks", [(1, one)], [(1, other)])
        if (
            limits[0] == 1
            and base.file == RELEASED
            and (base.variant, base.metric) in self.facts.containments.one_level
        ):
            for at, only in ((0, 3), (1, 4)):
                for line in lines:
                    yield from equal(
                        "all candidates are equally good: the only one is that of rank limit 1",
                        [(1, lines[0][at])],
                        [(1, line[only])],
                    )

    def _rank_limits_of_others(self) -> Iterator[Relation]:
        """Yield the relations between the rank limits of attacks that rank the same pairs alike."""
        alike = {(one.smaller, one.larger) for one in self.facts.containments.contained if one.how == "alike"}
        same = sorted({*alike} & {(larger, smaller) for smaller, larger in alike})
        names: dict[Name, Name] = {}
        for one, other in same:
            names[other] = min(one, other, names.get(one, one), names.get(other, other))
        grouped = defaultdict(list)
        for name, first in sorted(names.items()):
            for line in self.lines[name]:
                grouped[first, line.stratum].append(line)
        for lines in grouped.values():
            if len({(line.variant, line.metric) for line in lines}) > 1:
                ordered = sorted(lines, key=lambda line: (line.rank_limit, line))
                yield from self._of_limits([[self.get(line, name) for name in ATTACK] for line in ordered])

    def _of_limits(self, lines: Sequence[Sequence[Cell | None]]) -> Iterator[Relation]:
        """Yield the relations between lines of rates whose rank limits rise, of the same pairs and ranks."""
        for name, (at, sign) in {
            "n_suspected does not fall with the rank limit": (0, 1),
            "n_confirmed does not fall with the rank limit": (1, 1),
            "n_ambiguous does not rise with the rank limit": (2, -1),
            "n_single does not rise with the rank limit": (3, -1),
            "n_single_confirmed does not rise with the rank limit": (4, -1),
        }.items():
            for one, other in pairwise([line[at] for line in lines if line[at]]):
                yield from at_most(name, [(sign, one)], [(sign, other)])
        for before, after in pairwise([line for line in lines if line[0] and line[2]]):
            yield from equal(
                "n_suspected + n_ambiguous is the same at every rank limit",
                [(1, before[0]), (1, before[2])],
                [(1, after[0]), (1, after[2])],
            )
        for before, after in pairwise([line for line in lines if line[3] and line[4]]):
            yield from at_most(
                "single candidates that are not confirmed do not rise with the rank limit",
                [(1, after[3]), (-1, after[4])],
                [(1, before[3]), (-1, before[4])],
            )
        for (suspected, confirmed, *_), (*_, single, correct) in (
            (lines[first], line) for at, line in enumerate(lines) for first in {0, at} if first < at
        ):
            yield from at_most("a single candidate is suspected at every limit", [(1, single)], [(1, suspected)])
            yield from at_most("a single candidate is confirmed at every limit", [(1, correct)], [(1, confirmed)])
            yield from at_most(
                "records with several candidates at the higher limit: confirmed ≤ suspected",
                [(1, confirmed), (-1, correct)],
                [(1, suspected), (-1, single)],
            )

    def _shortest(self) -> Iterator[Contained]:
        """Yield the containments that do not follow from others, through an equally published attack."""
        counts = defaultdict(set)
        for cell in self.cells:
            if cell.file == RELEASED:
                counts[cell.variant, cell.metric].add((cell.quantity, cell.stratum, cell.rank_limit))
        strength: tuple[How, ...] = ("passing", "first", "level", "found", "alike", "only")
        known = {
            (one.smaller, one.larger): strength.index(one.how)
            for one in self.facts.containments.contained
            if self.lines[one.smaller] and self.lines[one.larger]
        }
        names = sorted({name for pair in known for name in pair})
        for (smaller, larger), how in list(known.items()):
            steps = (
                (known.get((smaller, name), -1), known.get((name, larger), -1))
                for name in names
                if counts[name] in (counts[smaller], counts[larger])
            )
            # Through a `first` or a `level`, which say nothing of the order of candidates, nothing but what passes
            # follows; what they say of ambiguous records follows from `alike` alone.
            if any(min(step) >= (4 if how in (1, 2) else how) and (how == 0 or not {1, 2} & {*step}) for step in steps):
                del known[smaller, larger]
        for (smaller, larger), how in known.items():
            yield Contained(smaller, larger, strength[how])

    def _contained(self, contained: Contained) -> Iterator[Relation]:
        """Yield the relations between an attack and one that contains it, in each stratum and at each rank limit."""
        larger = {(line.stratum, line.rank_limit): line for line in self.lines[contained.larger]}
        for line in self.lines[contained.smaller]:
            detailed = self.get(line, "n_single") is not None
            # A one-to-one assignment finds at every limit what it finds at the one in force.
            if contained.smaller in self.facts.containments.one_candidate and not detailed:
                continue
            limits = sorted(limit for stratum, limit in larger if stratum == line.stratum)
            above = [limit for limit in limits if limit >= line.rank_limit]
            chosen = {*above[:1]}
            if line.rank_limit not in chosen:
                chosen |= {*limits[: len(limits) - len(above)][-1:]}
            if detailed:
                chosen |= {limit for limit in limits if self.get(larger[line.stratum, limit], "n_single")}
                chosen |= {*limits[:1]}
            if contained.how == "level":
                chosen |= {*above[-1:]}
            elif contained.how == "only":
                chosen = {*limits}
            for limit in sorted(chosen):
                yield from self._within(contained, line, larger[line.stratum, limit])

    def _within(self, contained: Contained, line: Cell, other: Cell) -> Iterator[Relation]:
        """Yield the relations between a line of rates and one of an attack that contains it."""
        how, is_lower = contained.how, other.rank_limit < line.rank_limit
        few, many = ([self.get(base, name) for name in ATTACK] for base in (line, other))
        parts = {"passing": ((1, 0, 1, 0, 0), (1, 0, 1, 0, 0))}
        one_to_one = contained.smaller in self.facts.containments.one_candidate and line.rank_limit > 0
        # All candidates of the larger attack are then equally good, at whatever limit.
        is_level = contained.larger in self.facts.containments.one_level and line.rank_limit != other.rank_limit
        if how == "level" or (how not in ("passing", "first") and is_level and line.rank_limit):
            # Who is ambiguous here may have all of his candidates at a higher limit there, none of them right.
            several = is_lower or line.rank_limit in (0, other.rank_limit)
            for name, of in CONTAINED.items():
                here = int(several or bool(of[0]))
                parts[f"{name}, or ambiguous"] = (*of[:2], here, *of[3:]), (*of[:2], 1, *of[3:])
        if how == "only":
            parts = ONLY_PUBLISHED if many[3] else ONLY
        elif how in ("found", "alike") and not is_lower:
            parts |= {name: (of, of) for name, of in CONTAINED.items()}
            if line.rank_limit in (0, 1) and other.rank_limit == 1:
                parts |= ONLY
        elif how in ("found", "alike") and not one_to_one:
            parts |= SINGLE
        for name, factors in parts.items():
            terms = [
                [(factor, cell) for factor, cell in zip(of, cells, strict=True) if factor]
                for of, cells in zip(factors, (few, many), strict=True)
            ]
            yield from at_most(f"{name}: contained in another attack", *terms)
        if how in ("alike", "level", "first") and (is_lower or line.rank_limit == other.rank_limit):
            yield from at_most("n_ambiguous: contained in another attack", [(1, few[2])], [(1, many[2])])
        if how == "alike" and one_to_one and line.rank_limit == other.rank_limit:
            yield from equal("the same records are ambiguous with one to one", [(1, few[2])], [(1, many[2])])
        if how in ("found", "alike", "only") and not is_lower:
            yield from self._clusters_within(line, other)

    def _clusters_within(self, line: Cell, other: Cell) -> Iterator[Relation]:
        """Yield the same for clusters: of more records, there are no fewer clusters and no fewer further records."""
        for name, records in zip(CLUSTERS[1:], ATTACK, strict=False):
            few, many = ([self.get(base, name), self.get(base, records)] for base in (line, other))
            yield from at_most(f"{name}: contained in another attack", [(1, few[0])], [(1, many[0])])
            yield from at_most(
                "further records of clusters: contained in another attack",
                [(1, few[1]), (-1, few[0])],
                [(1, many[1]), (-1, many[0])],
            )

    def _clusters(self, base: Cell) -> Iterator[Relation]:
        """Yield the relations of the clusters of a stratum and their records (METHODS §6)."""
        clusters, suspected, confirmed = (self.get(base, name) for name in CLUSTERS)
        records = [self.get(base, name) for name in ("n_puf", "n_suspected", "n_confirmed")]
        yield from self._chain(base, *CLUSTERS[::-1])
        for cell, count, name in zip((clusters, suspected, confirmed), records, CLUSTERS, strict=True):
            yield from at_most(f"{name} ≤ their records", [(1, cell)], [(1, count)])
        lines = [pair for pair in zip((confirmed, suspected, clusters), records[::-1], strict=True) if all(pair)]
        for (few, few_records), (many, many_records) in pairwise(lines):
            yield from at_most(
                "further records of clusters: confirmed ≤ suspected ≤ all",
                [(1, few_records), (-1, few)],
                [(1, many_records), (-1, many)],
            )

    def _complete(self, whole: Cell, parts: Sequence[Cell]) -> bool:
        """Return whether the cells are those of all strata."""
        if whole.file != RELEASED or (whole.variant and whole.variant not in self.facts.same_files):
            return False
        return bool(self.facts.strata) and {cell.stratum for cell in parts} >= set(self.facts.strata)

    def _sum(self, whole: Cell, parts: Sequence[Cell]) -> Iterator[Relation]:
        """Yield the relations between strata and the whole study (METHODS §2, §6)."""
        name, total = whole.quantity, whole if whole in self.cells else None
        terms, complete = [(1, cell) for cell in parts], self._complete(whole, parts)
        if name in CLUSTERS:
            yield from self._clusters_of_strata(whole, parts)
        elif complete and (name in ATTACK or self._in_strata(name)):
            yield from equal(f"{name}: the strata sum to the total", terms, [(1, total)])
        elif name in (*FILES, *ATTACK):
            outside = int(complete and name == "n_puf" and self.facts.puf_in_strata is False)
            of_total = [*terms, (-1, total)]
            yield from between(f"{name}: the strata are part of the total", of_total, -math.inf, -outside)

    def _in_strata(self, name: str) -> bool:
        """Return whether a count of a file is certainly the sum of its strata."""
        return not self.facts.stratified or (name == "n_puf" and self.facts.puf_in_strata is True)

    def _clusters_of_strata(self, whole: Cell, parts: Sequence[Cell]) -> Iterator[Relation]:
        """Yield the same for clusters, which count in each of their strata and once in the whole study."""
        name, total = whole.quantity, whole if whole in self.cells else None
        terms, complete = [(1, cell) for cell in parts], self._complete(whole, parts)
        if self.facts.nested_clusters or not self.facts.stratified:
            yield from at_most(f"{name}: the strata are part of the total", terms, [(1, total)])
        else:
            for cell in parts:
                yield from at_most(f"{name}: a stratum is part of the total", [(1, cell)], [(1, total)])
        if complete and name != "n_clusters":
            yield from at_most(f"{name}: each is in a stratum", [(1, total)], terms)
        elif complete:
            outside = [(-1, self.get(whole, "n_puf")), *((1, self.get(cell, "n_puf")) for cell in parts)]
            more = [(1, total), *((-1, cell) for cell in parts), *outside]
            twice = int(self.facts.nested_clusters is False)
            yield from between("clusters outside the strata ≤ their records", more, -math.inf, -twice)

    def _outcome(self, limit: LimitOutcome) -> Iterator[Relation]:
        """Yield the relation given by the outcome of a limit; for one with a large denominator, with ≥ instead of >."""
        bound = Fraction(str(limit.bound))
        numerator = self.canonical(limit.numerator)
        denominator = self.canonical(limit.denominator) if limit.denominator else None
        if denominator is None:
            least = math.floor(bound) + 1
            terms: list[tuple[int | Fraction, Cell | None]] = [(1, numerator)]
            low, high = (least, math.inf) if limit.outcome == "breaks" else (-math.inf, least - 1)
        else:
            terms = [(bound.denominator, numerator), (-bound.numerator, denominator)]
            sharp = 1 if bound.denominator <= MAX_DENOMINATOR else 0
            if not sharp:
                terms = [(1, numerator), (-bound, denominator)]
            low, high = (sharp, math.inf) if limit.outcome == "breaks" else (-math.inf, 0)
        yield from between(f"a limit that the study {limit.outcome}", terms, low, high)

    def same_file(self, cell: Cell) -> Cell | None:
        """Return the number of PUF records, where the file whose risk is measured is the PUF."""
        return self.get(cell._replace(other="", stratum=WHOLE), "n_puf") if self.facts.file_is_puf else None
