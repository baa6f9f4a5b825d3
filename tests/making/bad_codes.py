"""The third part of the table of fixtures: recode tables, padding, and what is still to be decided."""

from __future__ import annotations

from making.fixture_files import COMPLETE, IUF, PUF, Fixture, source, variables

CODES_AND_PADDING = [
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
    Fixture(
        "padding makes two keys equal",
        {"puf.csv": PUF.replace("KEY-P1", "08000000002").replace("KEY-P2", "8000000002")},
        ("puf.csv, row 3: the key (pufid) is not unique; an earlier row has it", "Keep one record"),
        study=source("puf", pad={"pufid": 12}),
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
    Fixture(
        "a range that no code is in",
        {},
        account=COMPLETE,
        study=variables(trade_recode={"puf": {"18-29": "TRADE-a"}}),
        warnings=(
            "puf.csv, variable trade: 1 of the 1 codes in `recode` do not occur, while codes that are not",
        ),
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
]
