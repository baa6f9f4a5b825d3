"""Adhoc: the sum of scores from 0 to 5 that the study defines for each variable (METHODS §4.4)."""

from __future__ import annotations

import atexit
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from reident.linkage import functions
from reident.linkage.metrics.contract import OF_GROUPS, Measure, Metric, Scored, ScoringContext, job_arguments, scored
from reident.linkage.metrics.unit_pairs import nearest
from reident.sections.base import Pattern, Section
from reident.sections.codes import Coding, normaliser
from reident.sections.exact import SCALE, ULPS
from reident.sections.linkage import MAX_LINKING_VARIABLES

if TYPE_CHECKING:
    from reident.kernels.adhoc import Rule
    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing, Records
    from reident.linkage.settings import Variable
    from reident.linkage.unit_pairing import UnitPairing
    from reident.sections.linkage import LinkingVariable

Score = Annotated[Decimal, Field(ge=0, le=5, decimal_places=12)]


class Band(Section):
    """A band of differences between the two values of a numeric variable."""

    within: float = Field(ge=0, description="The largest difference that is in the band.")
    score: Score = Field(description="The score of a pair in the band, from 0 to 5.")
    relative: bool = Field(
        False, description="Whether `within` is relative to the absolute value in the public use file."
    )


class Cell(Section):
    """The score of one pair of categories."""

    puf: str = Field(description="The category in the public use file, after recoding.")
    eif: str = Field(description="The category in the external intruder file, after recoding.")
    score: Score = Field(description="The score of the pair, from 0 to 5.")


class VariableScore(Section):
    """The score of one linking variable: exactly one of `exact`, `bands`, `table` and `function`."""

    exact: bool = Field(
        False,
        description="Whether the score is 5 for equal values and 0 for all others. May be written as the word `exact` "
        "instead of a section.",
    )
    bands: tuple[Band, ...] | None = Field(
        None,
        min_length=1,
        description="Numeric variables and dates: bands of differences, of dates in days; the narrowest band that "
        "contains a difference gives its score.",
    )
    beyond: Score = Field(Decimal(0), description="The score of a difference outside every band.")
    table: tuple[Cell, ...] | None = Field(
        None, min_length=1, description="Categorical variables: the scores of pairs of categories."
    )
    otherwise: Score = Field(Decimal(0), description="The score of a pair of categories that is not in the table.")
    function: (
        Annotated[
            str,
            Pattern(
                r"[A-Za-z_]\w*:[A-Za-z_]\w*",
                "must be the name of a module and of a function in it. Write `module:name`, for a file beside the "
                "study file.",
            ),
        ]
        | None
    ) = Field(None, description="`module:name`, a vectorised function in a Python file beside the study file.")
    sha256: (
        Annotated[str, Pattern(r"[0-9a-f]{64}", "must be a SHA-256, 64 hexadecimal digits in lower case. Correct it.")]
        | None
    ) = Field(None, description="The SHA-256 of the approved version of that Python file; other versions are not run.")

    @model_validator(mode="after")
    def _one_rule(self) -> VariableScore:
        rules = [self.exact, self.bands is not None, self.table is not None, self.function is not None]
        if sum(rules) != 1:
            raise ValueError(
                "must have exactly one of `exact`, `bands`, `table` and `function`. Remove the others, or add one."
            )
        if self.function is not None and self.sha256 is None:
            raise ValueError("`.sha256` is missing. Review the file of the scoring function, and add its SHA-256.")
        if self.bands is not None and len({(band.within, band.relative) for band in self.bands}) < len(self.bands):
            raise ValueError("`.bands` must not have the same `within` twice. Remove one of the two.")
        if self.bands is not None and len({band.relative for band in self.bands}) > 1:
            raise ValueError("`.bands` must be either all relative or all absolute. Correct `relative`.")
        if self.table is not None and len({(cell.puf, cell.eif) for cell in self.table}) < len(self.table):
            raise ValueError("`.table` must not have a pair of categories twice. Remove one of the two.")
        return self


def _word(value: Any) -> Any:
    """Let the word `exact` stand for the section."""
    return {"exact": True} if value == "exact" else value


class Options(Section):
    """The sum of scores from 0 to 5, which the analyst defines for each linking variable."""

    scores: dict[
        str, Annotated[VariableScore, BeforeValidator(_word, json_schema_input_type=Literal["exact"] | VariableScore)]
    ] = Field(
        default_factory=dict,
        description="The score of each linking variable: `exact`, `{bands: [{within, score}, …]}`, `{table: [{puf, "
        "eif, score}, …]}` or `{function: module:name, sha256: …}`. Other variables take the default: `exact` for "
        "categorical variables, bands in standard deviations of the public use file for numeric variables. Source: "
        "METHODS §4.4.",
    )
    threshold: (
        Annotated[Decimal, Field(ge=0, le=5 * MAX_LINKING_VARIABLES, decimal_places=12)]
        | Literal["half_of_maximum"]
        | None
    ) = Field(
        None,
        description="A pair is suspected if its score is above this number, or above half of the sum of the largest "
        "scores of the variables. If absent: 5v/2, as in the Primer, with v linking variables; scores that cannot "
        "exceed that are refused. Source: METHODS §4.4.",
    )


DEFAULT_BANDS = ((0.1, 5), (0.25, 4), (0.5, 3), (1.0, 2), (2.0, 1))
"""(within, score) in standard deviations of the public use file, for undeclared numeric variables."""


def check(options: Options, variables: Variables) -> None:
    """Refuse scores of unknown variables, and scores that do not fit the type of a variable."""
    types = {variable.name: variable.type for variable in variables}
    for name, rule in options.scores.items():
        if name not in types:
            raise ValueError(
                f"`.metrics.adhoc.scores.{name}` is not the score of a linking variable. Correct the name."
            )
        if rule.bands is not None and types[name] == "categorical":
            raise ValueError(
                f"`.metrics.adhoc.scores.{name}` must not have `bands`, because the variable is categorical. Use "
                "`exact` or `table`."
            )
        if rule.table is not None and types[name] != "categorical":
            raise ValueError(
                f"`.metrics.adhoc.scores.{name}` must not have a `table`, because the variable is {types[name]}. Use "
                "`exact` or `bands`."
            )
        if types[name] == "date" and any(band.relative for band in rule.bands or ()):
            raise ValueError(
                f"`.metrics.adhoc.scores.{name}.bands` of a date must not be relative, because `within` is a number of "
                "days. Remove `relative`."
            )
    if options.threshold is None and tolerance(options, variables, False) < 0:
        largest = sum(extremes(options, variable.name)[1] for variable in variables)
        raise ValueError(
            f"`.metrics.adhoc` must have scores that can exceed the threshold ({threshold(options, variables):f}), but "
            f"their largest sum is {largest:f}. No pair would be suspected. Increase scores, or give a `threshold`, "
            "for example `half_of_maximum`."
        )


def extremes(options: Options, name: str) -> tuple[Decimal, Decimal]:
    """Return the lowest and the highest score that two present values of a linking variable can have."""
    rule = options.scores.get(name)
    if rule is not None and rule.bands is not None:
        scores = [rule.beyond, *(band.score for band in rule.bands)]
    elif rule is not None and rule.table is not None:
        scores = [rule.otherwise, *(cell.score for cell in rule.table)]
    else:  # exact, the default, or a function of the study, which may give any score
        scores = [Decimal(0), Decimal(5)]
    return min(scores), max(scores)


def threshold(options: Options, variables: Variables) -> Decimal:
    """Return the threshold: a pair is suspected if its score is above it."""
    if options.threshold == "half_of_maximum":
        return sum((extremes(options, variable.name)[1] for variable in variables), Decimal(0)) / 2
    return Decimal(5 * len(variables)) / 2 if options.threshold is None else options.threshold


def _step(rules: Iterable[VariableScore]) -> Fraction:
    """Return the least difference of sums of scores; 0 where a function of the study gives some of them."""
    scores = [Fraction(1)]
    for rule in rules:
        if rule.function is not None:
            return Fraction(0)
        declared = [*(band.score for band in rule.bands or ()), *(cell.score for cell in rule.table or ())]
        scores += map(Fraction, [*declared, rule.beyond, rule.otherwise])
    return Fraction(1, math.lcm(*(score.denominator for score in scores)))


def _scores_of_table(rule: VariableScore, variable: Variable | LinkingVariable) -> dict[tuple[str, str], Fraction]:
    """Return the scores of the pairs of categories of a table."""
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    return {(normal(cell.puf), normal(cell.eif)): Fraction(cell.score) for cell in rule.table or ()}


def tolerance(options: Options, variables: Variables, _: bool) -> int:
    """Return the number of variables that may have their lowest score, those that lose least by it first."""
    ends = [extremes(options, variable.name) for variable in variables]
    score = sum((highest for _, highest in ends), Decimal(0))
    scores = accumulate(sorted(lowest - highest for lowest, highest in ends)[::-1], initial=score)
    return sum(score > threshold(options, variables) for score in scores) - 1


SPREAD = 1e-9
"""The slack of the ends of default bands, as a share of their width: a standard deviation is rounded itself.
:data:`reident.sections.exact.ULPS` is the slack of declared bands."""


MAX_TABULATED = 4096
"""Up to this number of distinct values in either file, a function is asked once about each pair of them."""

LEAST_CELLS = 512**2
"""The size of a table of scores that is made however few pairs there are."""

MAX_PUF_VALUES = 512
"""PUF values for which a scoring function is called at a time."""


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of a pairing of prepared records; sums are integers at scale 10^12.

    Raises
    ------
    InputError
        If a study's own function is not the approved one, or gives something else than scores 0 to 5.
    """
    declared = [options.scores.get(variable.name) for variable in pairing.variables]
    function_rules = {
        at: (rule.function, rule.sha256)
        for at, rule in enumerate(declared)
        if rule is not None and rule.function is not None
    }
    rules = [_rule(pairing, at, rule if at not in function_rules else None) for at, rule in enumerate(declared)]
    own_functions = {at: functions.approved(*rule, context.functions) for at, rule in function_rules.items()}
    tables = _tabulate(pairing, own_functions)
    if tables is None:
        pairs = _score_all_pairs(pairing, rules, own_functions, options, context)
        atexit.register(functions.mute)  # runs before what the functions may have registered
        return pairs
    if tables:
        atexit.register(functions.mute)
        puf, eif = (side._replace(codes=side.codes.copy()) for side in (pairing.puf, pairing.eif))
        for at, table in tables.items():
            puf.codes[:, at], eif.codes[:, at], rules[at] = table
        pairing = pairing._replace(puf=puf, eif=eif)
    return _nearest(pairing, rules, options, context)


def _nearest(pairing: Pairing, rules: list[Rule], options: Options, context: ScoringContext, **widths: Any) -> Scored:
    """Return the suspected pairs by the rules of the kernel."""
    from reident.kernels import adhoc  # compiled code: loaded only where pairs are scored

    pairs = adhoc.nearest(
        pairing.puf.codes,
        pairing.eif.codes,
        pairing.puf.values,
        pairing.eif.values,
        rules,
        above=_above(options, pairing),
        scale=SCALE,
        **widths,
        keep=context.keep,
        **job_arguments(pairing, context),
    )
    return scored(pairs, lambda level: level / SCALE)


def _above(options: Options, pairing: Pairing | UnitPairing) -> int:
    """Return the threshold at the scale of the kernels."""
    return math.floor(threshold(options, pairing.variables) * SCALE)


def _score_all_pairs(
    pairing: Pairing, rules: list[Rule], own_functions: dict[int, Callable], options: Options, context: ScoringContext
) -> Scored:
    """Return the suspected pairs after asking the functions of the study about every pair of records."""
    from reident.kernels import blocks

    def score_block(rows: slice, columns: slice) -> np.ndarray:
        total = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.int64)
        for at, rule in enumerate(rules):
            if at in own_functions:
                total += functions.own_scores(pairing, at, own_functions[at], rows, columns)
            else:
                total += _rule_scores(pairing, at, rule, rows, columns)
        return total

    pairs = blocks.nearest_blocks(
        score_block,
        len(pairing.puf.codes),
        len(pairing.eif.codes),
        above=_above(options, pairing),
        keep=context.keep,
        progress=context.progress,
    )
    return scored(pairs, lambda level: level / SCALE)


def _tabulate(
    pairing: Pairing, own_functions: dict[int, Callable]
) -> dict[int, tuple[np.ndarray, np.ndarray, Rule]] | None:
    """Return the codes of both files and a table of scores for each variable with a function of the study.

    None if a variable has too many distinct values in a file, or if a table of its values is larger than that of all
    pairs; then all pairs of records are scored.
    """
    from reident.kernels.adhoc import Table

    tables: dict[int, tuple[np.ndarray, np.ndarray, Rule]] = {}
    most = min(MAX_TABULATED**2, max(len(pairing.puf.codes) * len(pairing.eif.codes), LEAST_CELLS))
    for at, function in own_functions.items():
        (puf, puf_codes), (eif, eif_codes) = (_distinct(side, at) for side in (pairing.puf, pairing.eif))
        width = max(len(puf), len(eif))
        if width**2 > most:
            return None
        scores = np.zeros((width, width), np.int64)
        if len(puf) and len(eif):
            few = pairing._replace(puf=pairing.puf.take(puf), eif=pairing.eif.take(eif))
            columns = slice(0, len(eif))
            for start in range(0, len(puf), MAX_PUF_VALUES):
                rows = slice(start, min(start + MAX_PUF_VALUES, len(puf)))
                scores[rows, columns] = functions.own_scores(few, at, function, rows, columns)
        tables[at] = puf_codes, eif_codes, Table(scores)
    return tables


def _distinct(records: Records, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a record for each distinct value of a variable, and the number of each record's value, -1 for missing.

    Numbers are distinct in their bits: a function may tell 0 from −0.
    """
    codes, values = records.codes[:, at], np.ascontiguousarray(records.values[:, at])
    present = np.flatnonzero((codes >= 0) | ~np.isnan(values))
    keys = np.where(codes < 0, values.view(np.int64), codes)[present]
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    every = np.full(len(codes), -1, np.int32)
    every[present] = numbers
    return present[first], every


def score_small(pairings: Pairing, options: Options, context: ScoringContext) -> Scored | None:
    """Return the suspected pairs of many small strata, as :func:`score`; None with functions of the study."""
    declared = [options.scores.get(variable.name) for variable in pairings.variables]
    if any(rule is not None and rule.function is not None for rule in declared):
        return None
    rules, widths = _rules_of_strata(pairings, declared)
    return _nearest(pairings, rules, options, context, widths=widths)


def _rules_of_strata(
    pairings: Pairing | UnitPairing, declared: Sequence[VariableScore | None]
) -> tuple[list[Rule], dict[int, np.ndarray]]:
    """Return the rule of each variable in several strata, and the widths of default bands, which depend on these."""
    from reident.kernels.adhoc import Bands

    rules, widths = [], {}
    for at, rule in enumerate(declared):
        if rule is None and pairings.labels[at] is None:
            rules.append(_bands(Bands, [(0.0, 0.0, score) for _, score in DEFAULT_BANDS]))
            widths[at] = np.stack(_widths(pairings.spread[:, at]), axis=1)
        else:
            rules.append(_rule(pairings, at, rule))
    return rules, widths


def measure(pairing: UnitPairing, options: Options) -> Measure:
    """Return how units are compared: by the points that a pair lacks, in the largest unit that all of them share."""
    from reident.kernels.adhoc_rules import flatten, widths_of_strata
    from reident.kernels.unit_costs import of_scores
    from reident.kernels.units import LINEAR

    rules, widths = _rules_of_strata(pairing, [options.scores.get(variable.name) for variable in pairing.variables])
    flat = [flatten([rules[at] for at in places], SCALE) for places in (pairing.own, pairing.of_members)]
    above, total = _above(options, pairing), sum(int(one.highest.sum()) for one in flat)
    costs = [column for one in flat for column in (one.table, one.cost, one.beyond, one.highest)]
    unit = int(np.gcd.reduce([above, SCALE, *(int(np.gcd.reduce(column, initial=0)) for column in costs)]))
    own, of_members = (
        of_scores(
            one,
            widths_of_strata(one, pairing.n_strata, {k: widths[at] for k, at in enumerate(places) if at in widths}),
            unit,
        )
        for one, places in zip(flat, (pairing.own, pairing.of_members), strict=True)
    )
    charge = int(flat[1].highest.sum()) // unit
    return Measure(own, of_members, LINEAR, unit, total - above, charge)


def score_units(pairing: UnitPairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of prepared units; scores are rounded to twelve decimals, and ranks are exact."""
    compared = measure(pairing, options)
    pairs = nearest(pairing, compared, context)
    total = compared.threshold + _above(options, pairing)
    own_score = (2 * (total * pairs.members - pairs.total) + pairs.members) // (2 * pairs.members) / SCALE
    return scored(pairs, lambda level: (total - level) / SCALE, own_score)


def _widths(spread: np.ndarray) -> list[np.ndarray]:
    """Return the width of each default band by standard deviation.

    Without a spread (constant, or fewer than two values) only equal values are near: all widths are 0.
    """
    return [np.where(spread > 0, share * spread * (1 + SPREAD), 0.0) for share, _ in DEFAULT_BANDS]


def _scaled(value: Decimal | int) -> int:
    return int(Decimal(value) * SCALE)


def _rule(pairing: Pairing | UnitPairing, at: int, declared: VariableScore | None) -> Rule:
    """The kernel's form of a variable's scores: declared, or the default of its type."""
    from reident.kernels.adhoc import Bands, Exact, Table

    labels = pairing.labels[at]
    if declared is None and labels is None:
        widths = _widths(pairing.spread[at])
        near = [(float(width), 0.0, score) for width, (_, score) in zip(widths, DEFAULT_BANDS, strict=True)]
        return _bands(Bands, near) if pairing.spread[at] > 0 else _equal(Bands)
    if declared is not None and declared.bands is not None:
        closed = [_closed(band) for band in sorted(declared.bands, key=lambda band: band.within)]
        return _bands(Bands, closed, _scaled(declared.beyond))
    if declared is not None and declared.table is not None and labels is not None:
        code = {label: place for place, label in enumerate(labels)}
        normal = normaliser(Coding("categorical", integer_coded=pairing.variables[at].integer_coded))
        scores = np.full((len(code), len(code)), _scaled(declared.otherwise), np.int64)
        for cell in declared.table:
            p, e = code.get(normal(cell.puf)), code.get(normal(cell.eif))
            if p is not None and e is not None:
                scores[p, e] = _scaled(cell.score)
        return Table(scores)
    return _equal(Bands) if labels is None else Exact()


def _closed(band: Band) -> tuple[float, float, Decimal]:
    """A band's width in units, its width as a share of the PUF value, both with its ends, and its score."""
    width = band.within * (1 + ULPS)
    if band.within == 0:
        return 0.0, 0.0, band.score
    return (0.0, width + ULPS, band.score) if band.relative else (width, ULPS, band.score)


def _bands(make: type, near: Sequence[tuple[float, float, Decimal | int]], beyond: int = 0) -> Rule:
    within, share, points = zip(*near, strict=True)
    return make(np.array(within), np.array(share), np.array([_scaled(score) for score in points], np.int64), beyond)


def _equal(make: type) -> Rule:
    """Only equal numbers are near."""
    return _bands(make, [(0.0, 0.0, 5)])


def _rule_scores(pairing: Pairing, at: int, rule: Rule, rows: slice, columns: slice) -> np.ndarray:
    """The scores of a block for a variable with rules: int64 (rows, columns), in numpy."""
    from reident.kernels.adhoc import Bands, Table

    if isinstance(rule, Bands):
        p, e = pairing.puf.values[rows, at][:, None], pairing.eif.values[columns, at][None, :]
        difference = np.abs(e - p)
        scores = np.full(difference.shape, rule.beyond, np.int64)
        for within, share, points in reversed(list(zip(rule.within, rule.share, rule.score, strict=True))):
            scores[difference <= within + share * np.abs(p)] = points
        return np.where(np.isnan(difference), 0, scores)
    p, e = pairing.puf.codes[rows, at][:, None], pairing.eif.codes[columns, at][None, :]
    scores = rule.scores[p, e] if isinstance(rule, Table) else np.where(p == e, 5 * SCALE, 0)
    return np.where((p < 0) | (e < 0), 0, scores)


def check_units(options: Options, _: bool) -> None:
    """Refuse scoring functions, which compare single records."""
    for variable, rule in options.scores.items():
        if rule.function is not None:
            raise ValueError(
                f"`.metrics.adhoc.scores.{variable}` must not have a `function` with `units`. Use `exact`, `bands` or "
                "a `table`."
            )


METRIC = Metric(
    "adhoc",
    "Adhoc",
    Options,
    "prepared",
    ranked=True,
    score=score,
    tolerance=tolerance,
    check=check,
    score_small=score_small,
    score_units=score_units,
    measure=measure,
    look=("#8a5aa8", "D"),
    pair_cost=OF_GROUPS,
    is_standard=True,
    depends_on_size=lambda _: False,
    check_units=check_units,
)
