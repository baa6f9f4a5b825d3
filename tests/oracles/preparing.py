"""The oracle's records: cells to values, keys and strata, as METHODS §1 and §2 define them.

Numbers are exact fractions of the text that the file holds; a missing value is None.
"""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
TRUE = {True, "true", "True", "yes", "1"}


@dataclass(frozen=True)
class Record:
    key: tuple  # the texts of its key columns
    stratum: tuple | None  # the values of the strata variables; None: a strata value is missing
    values: tuple  # one per linking variable; None: missing


def clean(text):
    return unicodedata.normalize("NFC", text.strip())


def is_numeric(variable):
    return variable.get("type") == "numeric"


def code_of(variable, text):
    """What two cells of this variable are compared by."""
    text = clean(text)
    if is_numeric(variable):
        return Fraction(text) if NUMBER.fullmatch(text) else text
    if (variable.get("integer_coded") or variable.get("integer-coded")) in TRUE and WHOLE.fullmatch(text):
        return str(int(text.partition(".")[0]))
    return text


def value_of(variable, file, cell):
    """The value of a cell: first the missing codes, then the recode table, then the type."""
    code = code_of(variable, cell)
    missing = variable.get("missing", [])
    if code in [code_of(variable, m) for m in (missing.get(file, []) if isinstance(missing, dict) else missing)]:
        return None
    recode = variable.get("recode", {}).get(file, {})
    code = {code_of(variable, old): code_of(variable, new) for old, new in recode.items()}.get(code, code)
    if is_numeric(variable) and not isinstance(code, Fraction):
        raise ValueError(f"{variable['name']}: not a number")
    return coarser(variable, code)


def coarser(variable, code):
    """The middle of the interval of a number, within its limits; the coarser code of a category."""
    how = variable.get("coarsen") or {}
    if "recode" in how:
        return {code_of(variable, old): code_of(variable, new) for old, new in how["recode"].items()}.get(code, code)
    if not how:
        return code
    code = min(code, Fraction(how.get("top", code)))
    code = max(code, Fraction(how.get("bottom", code)))
    if "width" not in how:
        return code
    width = Fraction(how["width"])
    return (code // width + Fraction(1, 2)) * width


def prepare(study, file, rows):
    """The records of one file, in the order of its rows."""
    strata = [{"name": s} if isinstance(s, str) else s for s in study.get("strata", [])]
    records = []
    for row in rows:
        stratum = tuple(value_of(s, file, row[s.get(file, s["name"])]) for s in strata)
        values = tuple(value_of(x, file, row[x.get(file, x["name"])]) for x in study["linking_variables"])
        key = tuple(row[column] for column in study["files"][file]["id"])
        records.append(Record(key, None if None in stratum else stratum, values))
    if len({record.key for record in records}) < len(records):
        raise ValueError(f"a key repeats in the {file}")
    return records


def distinct_links(study, puf, eif, rows):
    """The set of (pufid, eifid) of the IUF; links to unknown records are left out, up to the declared number."""
    columns, known = study["files"]["iuf"], [{record.key for record in side} for side in (puf, eif)]
    links = [tuple(tuple(row[c] for c in columns[k]) for k in ("puf_id", "eif_id")) for row in rows]
    found = [(p, e) for p, e in links if p in known[0] and e in known[1]]
    if len(links) - len(found) > int(columns.get("unknown_links_at_most", 0)):
        raise ValueError("a link names a record that is in neither file")
    return set(found)


def by_stratum(puf, eif):
    """The strata of either file: {stratum: (its PUF records, its EIF records)}."""
    keys = {record.stratum for record in puf + eif} - {None}
    return {k: ([p for p in puf if p.stratum == k], [e for e in eif if e.stratum == k]) for k in sorted(keys)}
