"""`reident init` on drawn pairs of files whose right study is known: no code is both missing and recoded, and no link
that the right study finds is lost without a word in the draft.

What a draft makes of a cell is read by the oracle of METHODS §1.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from making import drawn_pairs
from making.drawn_pairs import DrawnPair
from oracles.preparing import clean, code_of, value_of
from reident.command import main
from reident.study.model import load

SEEDS = [*range(1, 4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 21))]


class Review(NamedTuple):
    """What an analyst who knows the truth finds in a draft.

    Attributes
    ----------
    edits : list of str
        The keys to change: those with TODO, and those that make another study than the right one.
    both : list of str
        Variables with a code that is missing and recoded in one file.
    silent : Counter
        By variable, links that the right study finds on it, and the draft neither finds nor mentions.
    values : list of str
        Values that the draft declares as missing codes.
    """

    edits: list[str]
    both: list[str]
    silent: Counter[str]
    values: list[str]


def review(pair: DrawnPair, draft: Path) -> Review:
    text = draft.read_text(encoding="utf-8")
    content = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    declared = [*content.get("strata", []), *content["linking_variables"]]
    found = Review([], [], Counter(), [])
    for side, options in pair.options.items():
        own = content["files"][side]
        for name in ("delimiter", "decimal") if side != "iuf" else ("delimiter",):
            if own.get(name, {"delimiter": ",", "decimal": "."}[name]) != options[name]:
                found.edits.append(f"{side}.{name}")
        keys = {"puf": {"id": "pid"}, "eif": {"id": "eid"}, "iuf": {"puf_id": "pid", "eif_id": "eid"}}[side]
        found.edits.extend(f"{side}.{name}" for name, column in keys.items() if own[name] != column)
    for name, codings in pair.codings.items():
        columns = {side: coding.name for side, coding in codings.items()}
        own = next((one for one in declared if one.get("puf", one["name"]) == columns["puf"]), None)
        if own is None or own.get("eif", own["name"]) not in (columns["eif"], "TODO"):
            found.edits.append(f"{name}: the pair of columns")
            assert re.search(rf"Not used of .*`{columns['puf']}`", text.replace("\n# ", " "))
            continue
        _review_variable(pair, name, own, _comments(text, own["name"]), found)
    return found


def _comments(text: str, name: str) -> str:
    """The comments on a variable, on one line."""
    (block,) = re.findall(rf'(?ms)^  - name: "?{re.escape(name)}"? .*?(?:^$|\Z|^  - )', text)
    return " ".join(" ".join(re.findall(r"(?m)(?:^|\s)# (.*)$", block)).split())


def _review_variable(pair: DrawnPair, name: str, own: dict[str, Any], comments: str, found: Review) -> None:
    todos = [key for key in ("eif", "type") if own.get(key) == "TODO"]
    parts = {
        (key, side): own.get(key, {}).get(side, []) if isinstance(own.get(key, {}), dict) else own[key]
        for key in ("missing", "recode")
        for side in ("puf", "eif")
    }
    todos += [f"{key}.{side}" for (key, side), part in parts.items() if part == "TODO"]
    found.edits.extend(f"{name}.{todo}" for todo in todos)
    for side in ("puf", "eif"):
        missing, recode = parts["missing", side], parts["recode", side]
        if "TODO" not in (missing, recode):
            codes = [{code_of(own, code) for code in part} for part in (missing, recode)]
            found.both.extend(f"{name}.{side}" for _ in codes[0] & codes[1])
    if not todos:
        _compare(pair, name, own, comments, found)


def _compare(pair: DrawnPair, name: str, own: dict[str, Any], comments: str, found: Review) -> None:
    """Compare what the draft and the right study make of the cells of each file, and of each link."""
    columns = {side: coding.name for side, coding in pair.codings[name].items()}
    rows = pair.rows
    drafts, rights = (
        {
            (side, cell): read(side, cell)
            for side, column in columns.items()
            for cell in {row[column] for row in rows[side].values()}
        }
        for read in (lambda side, cell: _draft(pair, own, side, cell), lambda *at: pair.meaning(name, *at))
    )
    for side in columns:
        wrong = [at for at in drafts if at[0] == side and (drafts[at] is None) != (rights[at] is None)]
        found.edits.extend([f"{name}.missing.{side}"] if wrong else [])
        found.values.extend(f"{name}.{side}.{cell}" for at, cell in wrong if drafts[at, cell] is None)
    pairs = Counter(
        (("puf", rows["puf"][one][columns["puf"]]), ("eif", rows["eif"][other][columns["eif"]]))
        for one, other in pair.links
    )
    equal = {at: [_equal(values, *at) for values in (rights, drafts)] for at in pairs}
    common = {at: n for at, n in pairs.items() if n >= 3}
    found.edits.extend([f"{name}.recode"] if any(equal[at][0] != equal[at][1] for at in common) else [])
    lost = Counter({at: n for at, n in pairs.items() if equal[at] == [True, False]})
    mentioned = re.search(r"([\d,]+) links? still differ", comments)
    silent = sum(n for at, n in lost.items() if not any(_is_said(drafts, comments, one) for one in at))
    if silent > int(mentioned[1].replace(",", "") if mentioned else 0):
        found.silent[name] = silent


def _draft(pair: DrawnPair, own: dict[str, Any], side: str, cell: str) -> Any:
    text = cell.replace(pair.options[side]["decimal"], ".") if own.get("type") == "numeric" else cell
    try:
        return value_of(own, side, text)
    except ValueError:
        return f"no number in the {side}"


def _equal(values: dict[tuple[str, str], Any], one: tuple[str, str], other: tuple[str, str]) -> bool:
    return values[one] is not None and values[one] == values[other]


def _is_said(drafts: dict[tuple[str, str], Any], comments: str, at: tuple[str, str]) -> bool:
    """Whether the comments say what becomes of the records with a code: missing, or without a counterpart."""
    code = re.escape(clean(at[1]) or "an empty cell")
    if drafts[at] is None:
        return bool(re.search(rf"(^|[ ;]){code} in [\d,]+ record", comments))
    listed = re.findall(r"(?:no counterpart in \w+|in [\d,]+ records?): ([^;]*)", comments)
    return any(re.search(rf"(^|, ){code}(,|$)", one.strip()) for one in listed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_draft_of_a_drawn_pair_loses_no_link_in_silence(seed, tmp_path):
    pair = drawn_pairs.draw(tmp_path, seed)
    draft = tmp_path / "study.yaml"
    assert main(["init", *map(str, pair.paths), "--out", str(draft)]) == 0
    found = review(pair, draft)
    assert not found.both
    assert not found.silent
    assert not found.values
    text = draft.read_text(encoding="utf-8")
    assert not [code for code in pair.rare if code in text]
    if "TODO" not in text.replace("replace each TODO", ""):
        load(draft)
