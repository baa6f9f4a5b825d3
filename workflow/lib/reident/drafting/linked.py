"""The draft of a study that links a public use file with an intruder's file (METHODS §1–6)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from reident.drafting import counterparts, dates, draft, grouping, links, order, recodes, strata, types
from reident.drafting.counterparts import Pair
from reident.drafting.draft import Missing
from reident.drafting.links import Key, Links
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.progress import progress
from reident.drafting.recodes import Recode
from reident.drafting.sheet import Sheet, listed, number, scalar, table
from reident.drafting.sheet import key as key_value
from reident.drafting.source import describe
from reident.drafting.types import Kind
from reident.errors import InputError
from reident.intake.severity import MIN_RECORDS
from reident.linkage.metrics import standard
from reident.linkage.metrics.unicity import MAX_VARIABLES
from reident.plausibility.coarser import Coarser
from reident.plausibility.conversions import Conversion
from reident.sections import codes
from reident.sections.days import ISO
from reident.sections.exact import rational_text
from reident.sections.linkage import MAX_LINKING_VARIABLES
from reident.study.reading import TODO

MAX_NAMED = 40
"""Columns that a sentence on the terminal names."""


class Variable(NamedTuple):
    """A variable of the draft, with its missing codes by side, its values in linked records, and its level."""

    name: str
    pair: Pair
    kind: Kind
    recode: Recode
    missing: dict[str, Missing]
    linked: tuple[np.ndarray, np.ndarray] | None
    conversion: Conversion | Coarser | None = None
    level: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the analyst must decide something of it."""
        undecided = any(item.todo for item in self.missing.values()) or self.kind.kind == TODO
        return undecided or not self.pair.sure or isinstance(self.conversion, Conversion) or self._lacks_codes

    @property
    def _lacks_codes(self) -> bool:
        return bool(self.recode.side) and self.recode.table is None


class LeftOver(NamedTuple):
    """Columns of both files that are no variable, though their names or the links say that they are one."""

    puf: str
    eif: str
    why: str
    obstacle: str


def make(paths: list[Path], out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study of two files, PUF and EIF, and of the links between them if they are given.

    With it come sentences about the files for the terminal.
    """
    sources = [describe(path, out) for path in paths]
    # The smallest file first: what is wrong in it is said before a large one is read.
    by_size = sorted(range(len(paths)), key=lambda at: paths[at].stat().st_size)
    profiles = {at: profile(sources[at]) for at in by_size}
    files = [profiles[at] for at in range(len(paths))]
    puf, eif = files[:2]
    links_ = links.find(puf, eif, files[2]) if len(files) > 2 else None
    keys = (links_.puf, links_.eif) if links_ else (links.alone(puf), links.alone(eif))
    units = grouping.find(puf, eif, keys, links_)
    named = grouping.with_keys(units, keys)
    constant = units.constant if units else None
    if links_ is not None and constant is not None:
        links_ = links_.of_units(constant)
    variables = find_variables(puf, eif, named, links_)
    if constant is not None:
        variables = [variable._replace(level=_level(variable.pair, constant)) for variable in variables]
    left = _left_over(puf, eif, named, variables, links_)
    if not variables and not left:
        raise InputError(
            f"{puf.name} and {eif.name}: no column of one file corresponds to a column of the other, by name, codes or "
            "distribution. Check that these are the two files, and name columns alike that have the same meaning."
        )
    every = puf.records * eif.records
    effects, stratum = choose_strata([one for one in variables if constant is None or one.level], every)
    sheet = Sheet()
    draft.head(sheet, out, sources, "A study of two files")
    _files(sheet, puf, eif, keys, links_)
    if units is not None:
        grouping.lines(sheet, units)
    add_strata(sheet, variables, effects, stratum, every)
    add_linking(sheet, [variable for variable in variables if variable.name != stratum], left)
    _rest(sheet, (puf, eif), named, variables, left)
    _closing(sheet, len(variables) - (stratum is not None))
    facts = _facts(files, keys, variables, stratum, links_, left)
    facts += [] if units is None else [grouping.fact(units)]
    if links_ is not None:
        facts += order.facts((puf.name, eif.name), links_, (_values(one) for one in variables if one.linked))
    return sheet.text(), facts


def _level(pair: Pair, constant: tuple[frozenset[str], frozenset[str]]) -> str:
    """Return `unit` for a variable with one value in each unit of both files."""
    return "unit" if pair.puf.name in constant[0] and pair.eif.name in constant[1] else ""


def choose_strata(variables: list[Variable], every: int) -> tuple[dict[str, strata.Stratum], str | None]:
    """Return what each categorical variable would do as strata, and the one that makes them, if any."""
    effects = {
        variable.name: effect
        for variable in variables
        if variable.kind.kind == "categorical"
        if (effect := strata.effect(variable.pair, variable.recode, variable.linked)) is not None
    }
    sure = {variable.name for variable in variables if variable.pair.sure and variable.recode.table is not None}
    stratum = strata.chosen({name: effect for name, effect in effects.items() if name in sure}, every)
    return effects, None if len(variables) == 1 else stratum


def _values(variable: Variable) -> np.ndarray:
    """Return the values of the PUF in linked records: numbers, -inf where missing, or codes of categories."""
    texts = [text or "" for text in (variable.linked[0].tolist() if variable.linked is not None else ())]
    if variable.kind.kind != "categorical":
        numbers = [codes.number(text) for text in texts]
        if any(one is not None for one in numbers):
            return np.array([-np.inf if one is None else float(one) for one in numbers])
    return np.unique(np.array(texts, str), return_inverse=True)[1]


def find_variables(puf: File, eif: File, keys: tuple[Key, Key], links: Links | None) -> list[Variable]:
    """Return the variables that both files have, without their keys."""
    ours, theirs = (
        [column for column in file.columns.values() if column.name not in key.columns and not types.obstacle(column)]
        for file, key in zip((puf, eif), keys, strict=True)
    )
    taken = {*keys[0].columns, *keys[1].columns}
    result = list[Variable]()
    for pair in counterparts.pairs(ours, theirs, links):
        name = draft.free_name(pair.puf.name, taken)
        taken.add(name)
        progress(f"{len(result):,} variables are described")
        result.append(_variable(name, pair, links))
    return result


def _variable(name: str, pair: Pair, links: Links | None) -> Variable:
    kind = types.kind([pair.puf, pair.eif])
    linked = counterparts.linked_codes(links, pair)
    recode = recodes.recode(pair, linked) if kind.kind == "categorical" else recodes.NONE
    if recodes.is_shift(recode) and counterparts.conversion(pair, linked) is not None:
        kind, recode = Kind("numeric", "codes of both files differ by one number"), recodes.NONE
    numeric = kind.kind != "categorical"
    missing = {}
    for side, column in (("puf", pair.puf), ("eif", pair.eif)):
        extra, values = recode.missing.get(side, ()), {*recode.values.get(side, ())}
        if not numeric:
            values |= recodes.common(linked)
        missing[side] = draft.missing(column, kind.kind, extra, values)
    conversion = counterparts.conversion(pair, linked) if numeric else None
    if numeric and conversion is None and linked is not None:
        kind = kind._replace(reason="; ".join([kind.reason, *counterparts.differences(pair, linked)]))
    return Variable(name, pair, kind, recode, missing, linked, conversion)


def _left_over(
    puf: File, eif: File, keys: tuple[Key, Key], variables: list[Variable], links: Links | None
) -> list[LeftOver]:
    """Return the columns to decide on, since both files have them or the links show them to agree."""
    used = [{getattr(variable.pair, side).name for variable in variables} for side in ("puf", "eif")]
    columns, refused = zip(*((_by_name(file), file.source.refused) for file in (puf, eif)), strict=True)
    taken = {*keys[0].columns, *keys[1].columns}
    paired = {(variable.pair.puf.name, variable.pair.eif.name) for variable in variables}
    same = [name for name in columns[0] if name in columns[1] and name not in taken and (name, name) not in paired]
    left = []
    for name in same:
        whys = [
            f"`{name}` of {file.name}: {refused_.get(name) or types.obstacle(side[name]) or 'another counterpart'}"
            for file, side, refused_, used_ in zip((puf, eif), columns, refused, used, strict=True)
            if name in refused_ or name in used_ or types.obstacle(side[name])
        ]
        left.append(LeftOver(name, name, "the same name in both files", "; ".join(whys)))
    free = [
        [column for name, column in file.columns.items() if name not in {*taken, *used_, *same}]
        for file, used_ in zip((puf, eif), used, strict=True)
    ]
    for pair in counterparts.agreeing(free[0], free[1], links):
        whys = [
            f"`{column.name}`: {types.obstacle(column)}" for column in (pair.puf, pair.eif) if types.obstacle(column)
        ]
        left.append(LeftOver(pair.puf.name, pair.eif.name, pair.reason, "; ".join(whys)))
    return left


def _by_name(file: File) -> dict[str, DraftColumn | None]:
    """Return the columns of a file, None for one that cannot be read."""
    return {**dict.fromkeys(name for name in file.source.refused if name.strip()), **file.columns}


def _files(sheet: Sheet, puf: File, eif: File, keys: tuple[Key, Key], links: Links | None) -> None:
    sheet.add("files:")
    for side, file, key in (("puf", puf, keys[0]), ("eif", eif, keys[1])):
        sheet.end_block()
        sheet.add(f"  {side}:")
        draft.file(sheet, "    ", file.source, file.records)
        if key.repeats:
            sheet.remark(f"`{key.columns[0]}` {key.reason}.", 4)
        else:
            sheet.add(f"    id: {key_value(key.columns) if key.columns else TODO}", key.reason)
    sheet.end_block()
    sheet.add("  iuf:")
    if links is None:
        sheet.add(f"    path: {TODO}", "the file of the true links; give it to `reident init` as the third file")
        sheet.add(f"    puf_id: {TODO}", "its columns with the key of the PUF")
        sheet.add(f"    eif_id: {TODO}", "its columns with the key of the EIF")
        sheet.gap()
        return
    draft.file(sheet, "    ", links.source, links.n)
    if links.compared < links.n - links.unknown:
        sheet.end_block()
        sheet.remark(f"What comments say of links is of a sample of {links.compared:,} of them.", 4)
    for side, key in (("puf", links.puf), ("eif", links.eif)):
        sheet.add(f"    {side}_id: {key_value(key.linked) if key.linked else TODO}", "" if key.linked else key.reason)
    if links.unknown:
        sheet.add(
            f"    unknown_links_at_most: {TODO}",
            f"{links.unknown:,} of {links.n:,} links name a record that is not in one of the files; write that number "
            "to accept it, or correct the file",
        )
    sheet.gap()


def add_strata(
    sheet: Sheet, variables: list[Variable], effects: dict[str, strata.Stratum], stratum: str | None, every: int
) -> None:
    """Add the strata, and what other variables would do as such."""
    others = {name: effect for name, effect in effects.items() if name != stratum}
    best = sorted(others, key=lambda name: (others[name].lost or 0, others[name].pairs))[:4]
    if stratum is None and not best:
        return
    sheet.remark("Only records of the same stratum are compared. A variable is either here or a linking variable.")
    if stratum is not None:
        sheet.add("strata:")
        _variable_lines(sheet, next(variable for variable in variables if variable.name == stratum), typed=False)
        sheet.end_block()
        sheet.remark(f"{effects[stratum].words(every).capitalize()}.", 4)
    elif best:
        sheet.remark(f"Without strata all {every:,} pairs are compared. Move a variable here to make strata.")
    for name in best:
        sheet.remark(f"`{name}` {others[name].words(every)}.")
    sheet.gap()


def add_linking(sheet: Sheet, variables: list[Variable], left: list[LeftOver]) -> None:
    """Add the linking variables, and the columns to decide on."""
    if len(variables) > MAX_LINKING_VARIABLES:
        sheet.remark(f"At most {MAX_LINKING_VARIABLES} variables can link; remove the others.")
    sheet.add("linking_variables:")
    for variable in variables:
        _variable_lines(sheet, variable)
        sheet.gap()
    for columns in left:
        sheet.add(f"  - name: {scalar(columns.puf)}", columns.why)
        if columns.eif != columns.puf:
            sheet.add(f"    eif: {scalar(columns.eif)}")
        decide = "write `numeric`, `date` or `categorical` and what it needs, as missing codes, or remove the variable"
        sheet.add(f"    type: {TODO}", "; ".join(filter(None, (columns.obstacle, decide))))
        sheet.gap()


def _variable_lines(sheet: Sheet, variable: Variable, *, typed: bool = True) -> None:
    pair, recode = variable.pair, variable.recode
    sheet.add(f"  - name: {scalar(variable.name)}", pair.reason if pair.sure else "")
    if variable.name != pair.puf.name:
        sheet.add(f"    puf: {scalar(pair.puf.name)}")
    if not pair.sure:
        sheet.add(f"    eif: {TODO}", f"{pair.reason}; write the column, or remove the variable")
    elif variable.name != pair.eif.name:
        sheet.add(f"    eif: {scalar(pair.eif.name)}")
    if typed:
        reason = "; ".join(filter(None, (variable.kind.reason, recode.note, _doubt(variable))))
        sheet.add(f"    type: {variable.kind.kind}", reason)
    if typed and variable.level:
        sheet.add(f"    level: {variable.level}", "one value in each unit of both files")
    if typed and variable.kind.kind == "date":
        _dates(sheet, pair)
    if recode.integer_coded:
        sheet.add("    integer_coded: true", "" if recode.side else recode.reason)
    _missing(sheet, variable)
    tables = {side: {code: code for code in item.values} for side, item in variable.missing.items() if item.values}
    if tables and not recode.side:
        written = ", ".join(f"{side}: {table(same)}" for side, same in tables.items())
        sheet.add(f"    recode: {{{written}}}", "values, though they look like missing codes")
    if recode.side:
        tables[recode.side] = tables.get(recode.side, {}) | (recode.table or {})
        written = TODO if recode.table is None else table(tables[recode.side])
        hidden = (
            f"; {recode.hidden} further codes of fewer than {MIN_RECORDS} records are not written here"
            if recode.hidden
            else ""
        )
        decide = '; write the table, as in {"a": "1"}, or {} if codes are the same' if recode.table is None else ""
        sheet.add(f"    recode: {{{recode.side}: {written}}}", f"{recode.reason}{hidden}{decide}")
    if typed and isinstance(variable.conversion, Coarser):
        _coarser(sheet, variable.conversion)
    elif typed and isinstance(variable.conversion, Conversion):
        sheet.add(f"    convert: {TODO}", _other_unit(variable, variable.conversion))


def _coarser(sheet: Sheet, found: Coarser) -> None:
    """Ask for what makes the numbers of both files equally coarse; of rounded ones, only tell it."""
    if found.is_rounding:
        sheet.remark(f"The numbers of one file are coarser; {found.words} makes both alike.", 4)
        return
    for key, value in found.sections.items():
        reason = "the numbers of one file are coarser, and both are alike so" if key == "coarsen" else "then"
        sheet.add(f"    {key}: {TODO}", f"{reason}: write {value}, or remove the line")


def _dates(sheet: Sheet, pair: Pair) -> None:
    """Add how both files write the dates, and what makes them equally coarse."""
    forms = [column.dates for column in (pair.puf, pair.eif)]
    written = [draft.date_format(form) for form in forms]
    if set(written) != {ISO}:
        value = written[0] if written[0] == written[1] else f"{{puf: {written[0]}, eif: {written[1]}}}"
        sheet.add(f"    format: {value}", draft.about_formats(*forms))
    if dates.has_short_year([form[0] for form in forms]):
        sheet.add(f"    latest_year: {TODO}", draft.LATEST_YEAR)
    if unit := dates.coarsest([form[0] for form in forms]):
        sheet.add(f"    coarsen: {{to: {unit}}}", "one file has finer dates than the other")


def _other_unit(variable: Variable, unit: Conversion) -> str:
    """Return the conversion that is proposed, with its evidence."""
    terms = [f"times: {rational_text(unit.times)}"] if unit.times != 1 else []
    terms += [f"plus: {rational_text(unit.plus)}"] if unit.plus else []
    about = f" (times about {float(unit.times):.6g})" if "/" in terms[0] else ""
    what = "the numbers of the EIF are in another unit"
    if variable.kind.kind == "date":
        what = "the dates of most links differ by the same number of days"
    shown = f"in {unit.n:,} links" if unit.n else "by their distributions, which hardly overlap"
    return f"{what} {shown}: write {{eif: {{{', '.join(terms)}}}}}{about} if that is so, or remove the line"


def _doubt(variable: Variable) -> str:
    """Return the codes of few records that may mean missing, if no line of missing codes says it."""
    sides = variable.missing.values()
    if any(item.codes or item.todo for item in sides):
        return ""
    return "; ".join(f"{side}: {item.reason}" for side, item in variable.missing.items() if item.reason)


def _missing(sheet: Sheet, variable: Variable) -> None:
    puf, eif = variable.missing["puf"], variable.missing["eif"]
    if not any((puf.codes, eif.codes, puf.todo, eif.todo)):
        return
    reason = "; ".join(f"{side}: {item.reason}" for side, item in variable.missing.items() if item.reason)
    if puf.todo or eif.todo:
        certain = [f"{side} {draft.code_list(item.codes)}" for side, item in variable.missing.items() if item.todo]
        reason += f". Write the codes that mean missing (certain: {', '.join(certain)})"
    written = f"{{puf: {draft.value_of(puf)}, eif: {draft.value_of(eif)}}}"
    if puf.codes == eif.codes and not puf.todo and not eif.todo:
        written = draft.value_of(puf)
    sheet.add(f"    missing: {written}", reason)


def _rest(
    sheet: Sheet, files: tuple[File, File], keys: tuple[Key, Key], variables: list[Variable], left: list[LeftOver]
) -> None:
    used = [
        {
            *keys[at].columns,
            *(getattr(variable.pair, side).name for variable in variables),
            *(getattr(columns, side) for columns in left),
        }
        for at, side in enumerate(("puf", "eif"))
    ]
    for file, other, used_columns in zip(files, reversed(files), used, strict=True):
        unused = [name for name in file.columns if name not in used_columns]
        draft.remaining(sheet, file, unused, other=other)
        draft.unreadable(sheet, file.source, 0)
    sheet.gap()


def _closing(sheet: Sheet, n: int) -> None:
    metrics = "{" + ", ".join(f"{name}: {{}}" for name in standard()) + "}"
    if n > MAX_VARIABLES:
        metrics = metrics.replace("unicity: {}", "unicity: {max_order: 3}")
    sheet.add(f"metrics: {metrics}", "config/README.md describes their options")
    sheet.add("# decision: {conditional_rate_at_most: 0.05}", draft.LIMIT)


def _facts(
    files: list[File],
    keys: tuple[Key, Key],
    variables: list[Variable],
    stratum: str | None,
    links: Links | None,
    left: list[LeftOver],
) -> list[str]:
    facts = [draft.described(file, key.columns, "to be decided") for file, key in zip(files, keys, strict=False)]
    if links is not None:
        facts.append(f"{files[2].name}: {links.n:,} links, {links.unknown:,} to unknown records")
    n = len(variables) - (stratum is not None)
    stratified = f", strata by {stratum}" if stratum else ", no strata"
    facts.append(f"{number(n, 'linking variable')}{stratified}")
    open_ = [
        variable.name
        for variable in variables
        if variable.is_open
        or variable.pair.puf.name in files[0].source.grouped
        or variable.pair.eif.name in files[1].source.grouped
    ]
    if open_ or left:
        names = listed([*open_, *(columns.puf for columns in left)], MAX_NAMED)
        facts.append(f"To be decided of columns in both files: {names}")
    once = [name for name in files[0].columns if name in files[1].columns]
    keyed = [name for name in once if (name in keys[0].columns) != (name in keys[1].columns)]
    if keyed:
        facts.append(f"In both files, and the key of one of them: {listed(keyed, MAX_NAMED)}")
    return facts
