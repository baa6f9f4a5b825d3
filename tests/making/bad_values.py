"""The second half of the table of fixtures: keys, links, strata, values, recode tables and padding."""

import re

import pyarrow as pa
from making.fixture_files import (
    COMPLETE,
    COMPOSITE,
    CROSSED,
    EIF,
    IUF,
    LONG,
    PARQUET,
    PUF,
    STUDY,
    TEN,
    TEN_LINKS,
    TWO_PARTS,
    Fixture,
    eif,
    parquet,
    puf,
    source,
    variables,
)


def coded(file: str, *trades: str) -> str:
    """Return a file with other codes of its trades a, b and c."""
    for letter, trade in zip("abc", trades, strict=True):
        file = file.replace(f"TRADE-{letter}", trade)
    return file


KEYS_AND_VALUES = [
    # Keys
    Fixture("a key that repeats", eif("KEY-E4", "KEY-E2"),
            ("eif.csv, row 5: the key (eifid) is not unique; an earlier row has it", "Keep one record")),
    Fixture("an empty key", puf("KEY-P2", ""),
            ("puf.csv, row 3, column `pufid`: the key must not be empty", "Give every record a key")),
    Fixture("a key with a blank behind it", {"puf.csv": PUF.replace("KEY-P2", "KEY-P2 ")}, account=COMPLETE,
            warnings=("puf.csv, column pufid: 1 keys have blanks around them",)),
    Fixture("a linked key with a blank behind it", puf("KEY-P1,", "KEY-P1 ,"),
            ("iuf.csv, row 2: the link names a record that is not in puf.csv (1 such links)", "Correct the links")),
    Fixture(
        "keys as whole numbers",
        {
            "puf.parquet": parquet(pufid=pa.array([8007199254740993, 2**63 - 1]), **PARQUET),
            "iuf.csv": f"pufid,eifid\n{LONG},KEY-E1\n",
        },
        account={"puf used": 2, "iuf used": 1},
        values={"iuf pufid": [LONG], "puf age": [7041.625, 7052.875]},
        study=source("puf", path="puf.parquet"),
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.parquet, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture("keys that a spreadsheet rounded", {**puf("KEY-P2", "8.1E+15"), "iuf.csv": IUF}, account=COMPLETE,
            warnings=("puf.csv, column pufid: 1 keys look like 1.2E+15",)),
    Fixture("composite keys cut elsewhere in the links",
            {"puf.csv": TWO_PARTS, "iuf.csv": "house,person,eifid\n800000000,123,KEY-E3\n"},
            ("iuf.csv, row 2: the link names a record that is not in puf.csv",), study=COMPOSITE),
    # Links
    Fixture("an unknown link", {"iuf.csv": IUF.replace("KEY-E3", "KEY-E7")},
            ("iuf.csv, row 3: the link names a record that is not in eif.csv (1 such links)", "unknown_links_at_most")),
    Fixture("an unknown link within the tolerance", {"iuf.csv": IUF.replace("KEY-E3", "KEY-E7")},
            account={"iuf in": 2, "iuf link to an unknown record": 1, "iuf used": 1},
            study=source("iuf", unknown_links_at_most=1)),
    Fixture("many-to-many links, one of them twice", {"iuf.csv": IUF + "KEY-P1,KEY-E2\nKEY-P2,KEY-E1\nKEY-P1,KEY-E1\n"},
            account={"iuf in": 5, "iuf exact repeat of a link": 1, "iuf used": 4}),
    Fixture("a link between two strata", {"iuf.csv": IUF + "KEY-P2,KEY-E4\n"},
            account={"iuf lost to stratification: the records are in different strata": 1}),
    # Strata
    Fixture(
        "a stratum in one file only",
        {"eif.csv": EIF + "KEY-E5,ZONE-3,7041.625,TRADE-a\n"},
        account={"eif used": 5},
        values={"strata n_puf": [2, 2, 0], "strata n_eif": [2, 2, 1]},
        warnings=(
            "eif.csv, variable region: 1 code does not occur in puf.csv, so 1 of 5 records (20.0 %) are in strata",
        ),
    ),
    Fixture("no code of a stratum in common", {"eif.csv": EIF.replace("ZONE", "ZONE-")},
            ("puf.csv and eif.csv, columns `region` and `region`: no code of `region` is in both files", "recode")),
    Fixture(
        "no stratum in common, though every code is",
        {"eif.csv": CROSSED},
        (
            "puf.csv and eif.csv must have at least one stratum in common (region, trade). ",
            "Recode the strata variables or remove one",
        ),
        study={"strata": ["region", "trade"], "linking_variables": STUDY["linking_variables"][:1]},
    ),
    Fixture("a missing stratum", {"puf.csv": PUF.replace("KEY-P2,ZONE-1", "KEY-P2,ZONE-X")},
            account={"puf no stratum: a strata value is missing": 1, "puf in": 4},
            study={"strata": [{"name": "region", "missing": ["ZONE-X"]}]}),
    # Values
    Fixture(
        "NA is a code unless declared",
        {"puf.csv": PUF.replace("TRADE-b", "NA"), "eif.csv": EIF.replace("TRADE-b", "NA")},
        account=COMPLETE,
        values={"puf trade": ["TRADE-a", "NA", "TRADE-c", "TRADE-a"]},
        warnings=(
            "puf.csv, variable trade: 1 of 4 records (25.0 %) have a code that looks like a missing value",
            "eif.csv, variable trade: 1 of 4 records (25.0 %) have a code that looks like a missing value",
        ),
    ),
    Fixture("dates that the files write otherwise",
            {"puf.csv": re.sub("TRADE-.", "2026-03-31", PUF), "eif.csv": re.sub("TRADE-.", "31.03.2026", EIF)},
            ("puf.csv and eif.csv, columns `trade` and `trade`: no code of `trade` is in both files", "recode")),
    Fixture("another missing code in one file, undeclared", {"eif.csv": EIF.replace("7050.125", "-99")},
            account=COMPLETE, values={"eif age": [7041.625, -99.0, 7063.375, 7074.625]},
            warnings=("eif.csv, variable age: 1 of 4 records (25.0 %) have a code that looks like a missing value",)),
    Fixture(
        "a missing code of the other file only",
        {"eif.csv": EIF.replace("7050.125", "-9")},
        account=COMPLETE,
        study=variables(missing={"puf": ["-9"], "eif": [""]}),
        warnings=(
            "eif.csv, variable age: 1 values are a code that is declared missing for puf.csv only",
            "eif.csv, variable age: 1 of 4 records (25.0 %) have a code that looks like a missing value",
        ),
    ),
    Fixture("missing codes of each file", {"eif.csv": EIF.replace("7050.125", "-99")}, account=COMPLETE,
            values={"eif age": [7041.625, None, 7063.375, 7074.625], "puf age": [7041.625, 7052.875, 7063.375, None]},
            study=variables(missing={"puf": ["-9"], "eif": ["-99"]})),
    Fixture("a variable that is all missing", {"eif.csv": re.sub(r"70\d\d\.\d+", "-9", EIF)}, account=COMPLETE,
            warnings=("The linking variable age is missing in every record of one of the two files",),
            values={"eif age": [None] * 4, "binned eif age": [None] * 4}),
    Fixture("a variable that is all missing in the file that cuts", {"puf.csv": re.sub(r"70\d\d\.\d+", "-9", PUF)},
            account=COMPLETE, warnings=("The linking variable age is missing in every record",),
            values={"binned puf age": [None] * 4, "binned eif age": [None] * 4}),
    Fixture("a constant numeric variable", {"puf.csv": re.sub(r"70\d\d\.\d+|-9", "7050.125", PUF)}, account=COMPLETE,
            warnings=("The linking variable age has a single value in one of the two files",),
            values={"binned puf age": [1, 1, 1, 1], "binned eif age": [1, 1, 5, 5]}),
    Fixture("quintile ties", {"puf.csv": PUF.split("\n", 1)[0] + "\n" + TEN, "iuf.csv": TEN_LINKS},
            account={"puf used": 10}, values={"binned puf age": [1, 1, 1, 1, 1, 1, 1, 4, 5, 5]}, study={"strata": []},
            warnings=("eif.csv, variable trade: 2 codes do not occur in puf.csv", "Fewer than half of the codes")),
    # Recode tables and padding
    Fixture(
        "keys that one file writes without zeros, padded",
        {
            "puf.csv": PUF.replace("KEY-P", "800000000"),
            "iuf.csv": IUF.replace("KEY-P", "0800000000"),
        },
        account={**COMPLETE, "puf used": 4},
        values={"iuf pufid": ["0" * 11 + "8000000001", "0" * 11 + "8000000003"]},
        study={
            "files": {
                "puf": {"path": "puf.csv", "id": "pufid", "pad": {"pufid": 21}},
                "eif": {"path": "eif.csv", "id": "eifid"},
                "iuf": {"path": "iuf.csv", "puf_id": "pufid", "eif_id": "eifid", "pad": {"pufid": 21}},
            }
        },
    ),
    Fixture("padding makes two keys equal",
            {"puf.csv": PUF.replace("KEY-P1", "08000000002").replace("KEY-P2", "8000000002")},
            ("puf.csv, row 3: the key (pufid) is not unique; an earlier row has it", "Keep one record"),
            study=source("puf", pad={"pufid": 12})),
    Fixture(
        "codes by ranges and all others",
        {"puf.csv": PUF.replace("TRADE-a", "18").replace("TRADE-b", "029").replace("TRADE-c", "x")},
        account=COMPLETE,
        values={"puf trade": ["TRADE-a", "TRADE-a", "TRADE-c", "TRADE-a"]},
        study=variables(trade_recode={"puf": {"18-29": "TRADE-a", "otherwise": "TRADE-c"}}),
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.csv, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture(
        "a missing code is not one of all others",
        {"puf.csv": PUF.replace("TRADE-b", "").replace("TRADE-c", "x")},
        account=COMPLETE,
        values={"puf trade": ["TRADE-a", None, "TRADE-b", "TRADE-a"]},
        study=variables(
            trade_missing=[""], trade_recode={"puf": {"TRADE-a": "TRADE-a", "otherwise": "TRADE-b"}}
        ),
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.csv, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture("a range that no code is in", {}, account=COMPLETE,
            study=variables(trade_recode={"puf": {"18-29": "TRADE-a"}}),
            warnings=("puf.csv, variable trade: 1 of the 1 codes in `recode` do not occur, while codes that are not",)),
    Fixture(
        "zeros in front of keys are other keys",
        {**puf("KEY-P1", "0811111111"), "iuf.csv": IUF.replace("KEY-P1", "811111111")},
        ("iuf.csv, row 2: the link names a record that is not in puf.csv",),
    ),
    Fixture(
        "a key that is not composed in one file",
        {**puf("KEY-P1", "KEY-e\u0301"), "iuf.csv": IUF.replace("KEY-P1", "KEY-é")},
        ("iuf.csv, row 2: the link names a record that is not in puf.csv",),
    ),
    Fixture(
        "keys beyond 2^53 and 2^64 as text",
        {
            "puf.csv": PUF.replace("KEY-P1", LONG)
            .replace("KEY-P2", f"{LONG[:-1]}2")
            .replace("KEY-P3", f"{LONG}55555"),
            "iuf.csv": f"pufid,eifid\n{LONG},KEY-E1\n",
        },
        account={"puf used": 4, "iuf used": 1},
        values={"iuf pufid": [LONG]},
    ),
    Fixture(
        "keys beyond 2^53 as doubles",
        {"puf.parquet": parquet(pufid=pa.array([8.1e15, 8.2e15]), **PARQUET)},
        (
            "puf.parquet, column `pufid`: a key must not be stored as floating point numbers",
            "Store it as text or integers",
        ),
        study=source("puf", path="puf.parquet"),
    ),
    Fixture(
        "composite keys that would collide if joined",
        {"puf.csv": TWO_PARTS, "iuf.csv": "house,person,eifid\n80000000012,3,KEY-E3\n"},
        account={"puf used": 2, "iuf used": 1},
        values={"iuf person": ["3"]},
        study=COMPOSITE,
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.csv, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture(
        "a composite key that is empty",
        {"puf.csv": TWO_PARTS.replace("8000000001,23", ","), "iuf.csv": "house,person,eifid\n"},
        ("puf.csv, row 2, columns house, person: the key must not be empty",),
        study=COMPOSITE,
    ),
    Fixture(
        "NA as a missing code",
        {"puf.csv": PUF.replace("TRADE-b", "NA")},
        account=COMPLETE,
        values={"puf trade": ["TRADE-a", None, "TRADE-c", "TRADE-a"]},
        study=variables(trade_missing=["NA"]),
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.csv, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture(
        "NA in a numeric variable",
        puf("7052.875", "NA"),
        ("puf.csv, row 3, column `age`: the value of `age` is not a number", "Declare it as a missing code"),
    ),
    Fixture(
        "codes 1, 1.0 and 01 are three",
        {"puf.csv": coded(PUF, "1", "1.0", "01"), "eif.csv": coded(EIF, "1", "1.0", "1")},
        account=COMPLETE,
        values={"puf trade": ["1", "1.0", "01", "1"]},
        warnings=("puf.csv, variable trade: 1 code does not occur in eif.csv, so 1 of 4 records (25.0 %)",),
    ),
    Fixture(
        "codes 1, 1.0 and 01 are one, declared",
        {"puf.csv": coded(PUF, "1", "1.0", "01"), "eif.csv": coded(EIF, "1", "2", "1")},
        account=COMPLETE,
        values={"puf trade": ["1", "1", "1", "1"]},
        study=variables(trade_integer_coded=True),
        warnings=(
            "eif.csv, variable trade: 1 code does not occur in puf.csv, so 1 of 4 records (25.0 %) never agree",
        ),
    ),
    Fixture(
        "trailing blanks of codes",
        {"eif.csv": EIF.replace("TRADE-a", "TRADE-a  ")},
        account=COMPLETE,
        values={"eif trade": ["TRADE-a", "TRADE-b", "TRADE-c", "TRADE-a"]},
    ),
    Fixture(
        "composed and decomposed letters are one code",
        {"puf.csv": PUF.replace("TRADE-b", "TRADE-é"), "eif.csv": EIF.replace("TRADE-b", "TRADE-e\u0301")},
        account=COMPLETE,
        values={"eif trade": ["TRADE-a", "TRADE-é", "TRADE-c", "TRADE-a"]},
    ),
    Fixture(
        "fewer than half of the codes in common",
        {"eif.csv": EIF.replace("TRADE-a", "TRADE-x").replace("TRADE-c", "TRADE-y")},
        account=COMPLETE,
        warnings=(
            "puf.csv, variable trade: 2 codes do not occur in eif.csv",
            "eif.csv, variable trade: 2 codes do not occur in puf.csv",
            "Fewer than half of the codes of the linking variable trade occur in both files (1 of 5)",
        ),
    ),
    Fixture(
        "1.2E+15 is a number",
        puf("7052.875", "1.2E+15"),
        account=COMPLETE,
        values={"puf age": [7041.625, 1.2e15, 7063.375, None]},
    ),
    Fixture(
        "a number beyond all doubles",
        puf("7052.875", "1e309"),
        ("puf.csv, row 3, column `age`: the value of `age` is not a number",),
    ),
    Fixture(
        "a thousands separator",
        {"puf.csv": PUF.replace("7052.875", '"7,052.875"')},
        ("puf.csv, row 3, column `age`: the value of `age` is not a number", "correct the file"),
    ),
    Fixture(
        "dates in a numeric variable",
        puf("7052.875", "2026-03-31"),
        ("puf.csv, row 3, column `age`: the value of `age` is not a number",),
    ),
    Fixture(
        "an empty cell in a numeric variable",
        puf("7052.875", ""),
        ("puf.csv, row 3, column `age`: the value of `age` is not a number", "Declare it as a missing code"),
    ),
    Fixture(
        "a category outside the declared order",
        eif("TRADE-c", "TRADE-d"),
        ("eif.csv, row 4, column `trade`: the value of `trade` is not in the declared `order`", "recode it"),
        study=variables(trade_order=["TRADE-a", "TRADE-b", "TRADE-c"]),
    ),
    Fixture(
        "a pad of a column that is not read",
        {},
        ("study.yaml, line", "`files.puf.pad` must name columns that the study reads, and `age_` is not one"),
        study=source("puf", pad={"age_": 2}),
    ),
    Fixture(
        "something still to be decided",
        {},
        ("study.yaml, line", "`title` is still to be decided", "Replace the TODO with a value"),
        study={"title": "TODO: a title"},
    ),
    Fixture(
        "ranges that overlap",
        {},
        (
            "study.yaml, line",
            "`linking_variables[2].recode.puf` must not have ranges that overlap",
            "Correct one",
        ),
        study=variables(trade_recode={"puf": {"1-5": "a", "5-": "b"}}),
    ),
]  # fmt: skip
