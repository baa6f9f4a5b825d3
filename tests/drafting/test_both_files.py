"""What a draft does with columns that both files have: none is dropped in silence (METHODS §1)."""

import csv
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml
from making.examples import cases
from making.shapes import SHAPES
from reident.drafting import counterparts
from reident.drafting.command import draft


def files(folder, puf, eif, links=None):
    """Two files of columns by name, and links of their first records; the paths."""
    paths = []
    n = len(next(iter(puf.values())))
    tables = {
        "puf": {"pid": [f"p{at:04}" for at in range(n)], **puf},
        "eif": {"eid": [f"e{at:04}" for at in range(n)], **eif},
    }
    links = n if links is None else links
    if links:
        tables["links"] = {key: tables[side][key][:links] for side, key in (("puf", "pid"), ("eif", "eid"))}
    for name, columns in tables.items():
        paths.append(folder / f"{name}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return paths


def drafted(folder, *sides, **how):
    """The text of a draft, its content and what the screen says."""
    out = folder / "study.yaml"
    screen = draft(None, files(folder, *sides, **how), out)
    text = out.read_text(encoding="utf-8")
    return text, yaml.safe_load(text), screen


RANDOM = np.random.default_rng(11)
N = 240
AGE = RANDOM.integers(18, 85, N)
INCOME = RANDOM.lognormal(10, 0.6, N).round().astype(int)
GROUPED = [f"{value:,}" for value in INCOME]
NAMES = [f"Person {at} of {at * 7919}" for at in range(N)]
HIDDEN = [str(value) if at % 5 else "N" for at, value in enumerate(INCOME)]
DROPPED = [
    ("texts among amounts", HIDDEN, INCOME, "values are not numbers"),
    ("names of people", NAMES, NAMES, "names or free text"),
    ("a group of records", [at // 2 for at in range(N)], [at // 2 for at in range(N)], ""),
    ("no value", [""] * N, INCOME, "no values"),
    ("long texts in one file", NAMES, [at % 3 for at in range(N)], "names or free text"),
]


@pytest.mark.parametrize(("ours", "theirs", "why"), cases(DROPPED))
def test_a_column_of_both_files_is_to_be_decided_and_named_on_the_screen(ours, theirs, why, tmp_path):
    text, content, screen = drafted(tmp_path, {"age": AGE, "thing": ours}, {"age": AGE, "thing": theirs})
    (variable,) = [one for one in content["linking_variables"] if one["name"] == "thing"]
    assert "TODO" in variable.values()
    assert why in " ".join(text.replace("#", " ").split())
    assert "`thing`" in screen
    assert "Nothing is left to be decided" not in screen


def test_columns_that_agree_in_the_links_are_to_be_decided_whatever_their_names(tmp_path):
    shops = [f"shop {at % 120} of a long name that has more than forty letters" for at in range(N)]
    _, content, screen = drafted(tmp_path, {"age": AGE, "place": shops}, {"age": AGE, "outlet": shops})
    (variable,) = [one for one in content["linking_variables"] if one["name"] == "place"]
    assert (variable["eif"], variable["type"]) == ("outlet", "TODO")
    assert "`place`" in screen


def test_separated_thousands_are_proposed_and_not_applied(tmp_path):
    text, content, screen = drafted(tmp_path, {"age": AGE, "income": INCOME}, {"age": AGE, "income": GROUPED})
    assert content["files"]["eif"]["thousands"] == "TODO"
    assert "thousands" not in content["files"]["puf"]
    assert 'write "," if it separates thousands' in " ".join(text.replace("#", " ").split())
    (variable,) = [one for one in content["linking_variables"] if one["name"] == "income"]
    assert variable["type"] == "numeric"
    assert "`income`" in screen


@pytest.mark.parametrize("links", [0, N])
def test_another_unit_is_proposed_and_not_applied(links, tmp_path):
    sides = {"age": AGE, "income": INCOME}, {"age": AGE, "income": INCOME / 1000}
    text, content, screen = drafted(tmp_path, *sides, links=links)
    (variable,) = [one for one in content["linking_variables"] if one["name"] == "income"]
    assert variable["convert"] == "TODO"
    assert "{eif: {times: 1000}}" in " ".join(text.replace("#", " ").split())
    assert "`income`" in screen


def test_the_factor_of_thirty_drawn_pairs_is_proposed(tmp_path):
    """Within 1 %; amounts with noise, from 30 links, in units that a survey may have."""
    factors = [1000, 1 / 1000, 100, 0.01, 12, 1 / 12, 52, 2.2046, 0.4536, 2.54]
    for seed in range(30):
        random = np.random.default_rng(seed)
        n, factor = int(random.integers(200, 600)), factors[seed % len(factors)]
        true = random.lognormal(10, 0.5, n) if seed % 2 else random.normal(1700, 90, n)
        ours = (true * np.exp(random.choice([0, 0.03, 0.08]) * random.normal(size=n))).round()
        theirs = (true / factor).round(2 if factor >= 1 else 0)
        folder = tmp_path / str(seed)
        folder.mkdir()
        sides = ({"amount": ours}, {"amount": theirs})
        text, content, _ = drafted(folder, *sides, links=int(random.integers(30, n)))
        assert content["linking_variables"][0]["convert"] == "TODO", seed
        found = re.search(r"\{eif: \{times: ([\d./]+)\}\}", " ".join(text.replace("#", " ").split()))
        assert abs(float(Fraction(found[1])) / factor - 1) < 0.01, (seed, factor, found[1])


def test_no_column_of_both_files_is_dropped_in_silence_in_sixty_drafts(tmp_path):
    """Each is a key, a variable, or to be decided; kinds of columns, their order and the files are drawn."""
    kinds = [AGE, INCOME, GROUPED, NAMES, HIDDEN, [""] * N, [1] * N, AGE % 5, [f"0{one}" for one in AGE % 8]]
    kinds += [
        [f"{1 + one % 12:02}:{one % 60:02}" for one in AGE],
        [f"2001-02-{1 + one % 28:02}" for one in AGE],
        range(N),
    ]
    for seed in range(60):
        random = np.random.default_rng(seed)
        names = [f"v{at}" for at in range(int(random.integers(2, 6)))]
        sides = [{name: kinds[random.integers(len(kinds))] for name in random.permutation(names)} for _ in "pe"]
        folder = tmp_path / str(seed)
        folder.mkdir()
        text, content, screen = drafted(folder, *({"age": AGE, **side} for side in sides), links=N * (seed % 2))
        for name in names:
            used = {one.get(side, one["name"]) for one in content["linking_variables"] for side in ("puf", "eif")}
            used |= {one if isinstance(one, str) else one["name"] for one in content.get("strata", ())}
            keyed = [key for side in ("puf", "eif") for key in np.atleast_1d(content["files"][side]["id"])]
            assert name in used or name in keyed or f"`{name}`" in screen, (seed, name)
        if "Nothing is left" in screen:
            assert "TODO" not in text


SPSS = {
    "age": [str(20 + at % 50) if at % 10 else "98" for at in range(N)],
    "sex": [1 + at % 2 if at % 12 else 3 for at in range(N)],
}


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_what_a_file_of_a_program_declares_missing_is_proposed(kind, tmp_path):
    frame = pd.DataFrame(
        {"pid": [f"p{at:04}" for at in range(N)]} | {name: pd.to_numeric(cells) for name, cells in SPSS.items()}
    )
    labels = {"age": {98: "Verweigert"}, "sex": {1: "Mann", 2: "Frau", 3: "3 Keine Angabe / weiß nicht"}}
    path = tmp_path / f"puf.{kind}"
    if kind == "sav":
        ranges = {"age": [{"lo": 98, "hi": 99}]}
        pyreadstat.write_sav(frame, path, variable_value_labels={"sex": labels["sex"]}, missing_ranges=ranges)
    else:
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    _, eif, links = files(
        tmp_path, {"age": AGE}, {"age": [20 + at % 50 for at in range(N)], "sex": [1 + at % 2 for at in range(N)]}
    )
    out = tmp_path / "study.yaml"
    draft(None, [path, eif, links], out)
    text = out.read_text(encoding="utf-8")
    missing = {one["name"]: one.get("missing") for one in yaml.safe_load(text)["linking_variables"]}
    assert missing == {"age": {"puf": ["98"], "eif": []}, "sex": {"puf": ["3"], "eif": []}}
    assert "declared or labelled as missing by the file itself" in " ".join(text.replace("#", " ").split())


BORN = [np.datetime64("1950-01-01") + int(day) for day in RANDOM.integers(0, 15_000, N)]
ISO_DATES = [str(day) for day in BORN]
EUROPEAN = [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in ISO_DATES]
SHORT = [f"{day[8:]}/{day[5:7]}/{day[2:4]}" for day in ISO_DATES]
LATER = [str(day + 30) for day in BORN]
TIMES = [f"{day} 0{at % 10}:15" for at, day in enumerate(ISO_DATES)]
FIRSTS = [f"0{1 + at % 9}/0{1 + at % 7}/19{50 + at % 40}" for at in range(N)]
DATED = [
    ("the same", ISO_DATES, ISO_DATES, {}),
    ("two formats", EUROPEAN, ISO_DATES, {"format": {"puf": "DD.MM.YYYY", "eif": "YYYY-MM-DD"}}),
    ("years of two digits", SHORT, SHORT, {"format": "DD/MM/YY", "latest_year": "TODO"}),
    ("times in one file", ISO_DATES, TIMES,
     {"format": {"puf": "YYYY-MM-DD", "eif": "YYYY-MM-DD hh:mm"}, "coarsen": {"to": "day"}}),
    ("days that may be months", FIRSTS, FIRSTS, {"format": "TODO"}),
    ("months", [day[:7] for day in ISO_DATES], ISO_DATES,
     {"format": {"puf": "YYYY-MM", "eif": "YYYY-MM-DD"}, "coarsen": {"to": "month"}}),
    ("a shift", ISO_DATES, LATER, {"convert": "TODO"}),
    ("digits", [day.replace("-", "") for day in ISO_DATES], ISO_DATES,
     {"format": {"puf": "YYYYMMDD", "eif": "YYYY-MM-DD"}}),
    ("midnights", [f"{day} 00:00:00" for day in ISO_DATES], ISO_DATES, {}),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "keys"), cases(DATED))
def test_dates_are_drafted_with_their_formats(ours, theirs, keys, tmp_path):
    text, content, _ = drafted(tmp_path, {"sex": AGE % 2, "born": ours}, {"sex": AGE % 2, "born": theirs})
    (variable,) = [one for one in content["linking_variables"] if one["name"] == "born"]
    assert variable == {"name": "born", "type": "date", **keys}
    if "convert" in keys:
        assert "{eif: {plus: -30}}" in " ".join(text.replace("#", "").split())


def test_units_are_proposed_where_columns_group_the_same_rows(tmp_path):
    homes = [at // 3 for at in range(N)]
    letters = [f"X{home * 7 % 80}" for home in homes]
    text, content, screen = drafted(tmp_path, {"age": AGE, "hh": homes}, {"age": AGE, "xhh": letters})
    assert content["units"] == "TODO"
    assert "write {puf: hh, eif: xhh} to compare households" in " ".join(text.replace("#", "").split())
    assert [one["name"] for one in content["linking_variables"]] == ["age"]
    assert "grouped by `hh`" in screen
    others = [("hh", "xhh", RANDOM.permutation(letters)), ("occupation", "occupation", homes)]
    for at, (ours, theirs, values) in enumerate(others):
        folder = tmp_path / str(at)
        folder.mkdir()
        _, content, _ = drafted(folder, {"age": AGE, ours: homes}, {"age": AGE, theirs: values})
        assert "units" not in content


def test_units_are_drafted_where_a_key_repeats(tmp_path):
    tables = {
        "puf": (["pufid", "age", "visit"], [[f"p{at // 2}", 20 + at // 2, "abc"[at % 3]] for at in range(80)]),
        "eif": (["eid", "age", "visit"], [[f"e{at // 3}", 20 + at // 3, "abc"[at % 3]] for at in range(120)]),
        "links": (["pufid", "eid"], [[f"p{at}", f"e{at}"] for at in range(40)]),
    }
    paths = []
    for name, (header, rows) in tables.items():
        paths.append(tmp_path / f"{name}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
    draft(None, paths, tmp_path / "study.yaml")
    content = yaml.safe_load((tmp_path / "study.yaml").read_text(encoding="utf-8"))
    assert content["units"] == {"puf": "pufid", "eif": "eid"}
    assert "id" not in content["files"]["puf"]
    assert (content["files"]["iuf"]["puf_id"], content["files"]["iuf"]["eif_id"]) == ("pufid", "eid")


@pytest.mark.parametrize("rows_too", [False, True])
def test_a_household_study_whose_links_name_units_is_drafted(rows_too, tmp_path):
    """Rows have keys of their own, and numbers that the links have as well; a study runs as it stands."""
    arguments = SHAPES["household panel"](tmp_path, np.random.default_rng(3))
    if rows_too:  # the keys of rows begin with the numbers of units
        for name in ("puf", "links"):
            renumbered(tmp_path / f"{name}.csv", "hid")
    draft(None, list(map(Path, arguments)), tmp_path / "study.yaml")
    content = yaml.safe_load((tmp_path / "study.yaml").read_text(encoding="utf-8"))
    assert content["units"] == {"puf": "hid", "eif": "household"}
    levels = {one["name"]: one.get("level") for one in [*content["strata"], *content["linking_variables"]]}
    assert levels == {"region": None, "tenure": "unit", "age": None, "sex": None, "work": None}
    assert "TODO" not in str(content)


def renumbered(path: Path, column: str) -> None:
    """Write the numbers of units as 1, 2, 3 …, by their order."""
    file = pd.read_csv(path)
    file[column] = file[column].rank(method="dense").astype(int)
    file.to_csv(path, index=False)


def test_wide_files_are_drafted_without_comparing_all_columns(tmp_path, monkeypatch):
    """With other names those are compared that are most alike, and the pairs are those of all comparisons."""
    draw = np.random.default_rng(1)
    tables = {f"v{at}": draw.integers(0, 3 + 5 * at, N) for at in range(12)}
    others = {f"w{at * 7}": values for at, values in enumerate(tables.values())}
    found = []
    for most in (10_000, 20):
        monkeypatch.setattr(counterparts, "_MAX_PAIRS", most)
        folder = tmp_path / str(most)
        folder.mkdir()
        _, content, _ = drafted(folder, tables, others)
        found.append({one["name"]: one.get("eif") for one in content["linking_variables"]})
    assert found[0] == found[1] == dict(zip(tables, others, strict=True))
