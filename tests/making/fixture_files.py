"""Spoilt and odd source files: the good ones, and what a fixture says of those that differ from them."""

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from making.studies import keyed_by

PUF = (
    "pufid,region,age,trade\n"
    "KEY-P1,ZONE-1,7041.625,TRADE-a\nKEY-P2,ZONE-1,7052.875,TRADE-b\n"
    "KEY-P3,ZONE-2,7063.375,TRADE-c\nKEY-P4,ZONE-2,-9,TRADE-a\n"
)
EIF = (
    "eifid,region,age,trade\n"
    "KEY-E1,ZONE-1,7041.625,TRADE-a\nKEY-E2,ZONE-1,7050.125,TRADE-b\n"
    "KEY-E3,ZONE-2,7063.375,TRADE-c\nKEY-E4,ZONE-2,7074.625,TRADE-a\n"
)
IUF = "pufid,eifid\nKEY-P1,KEY-E1\nKEY-P3,KEY-E3\n"
FILES: dict[str, str] = {"puf.csv": PUF, "eif.csv": EIF, "iuf.csv": IUF}
STUDY: dict[str, Any] = {
    "id": "fixture",
    "files": keyed_by("pufid", "eifid"),
    "strata": ["region"],
    "linking_variables": [
        {"name": "age", "type": "numeric", "missing": ["-9"]},
        {"name": "trade", "type": "categorical"},
    ],
    "metrics": {"taxicab": {}},
}
SECRETS = re.compile(r"KEY-|ZONE-|TRADE-|70[4-7]\d[.,]\d|8\d{9}")
WHOLE = {"puf used": 4, "eif used": 4, "iuf used": 2}


class Fixture(NamedTuple):
    """Files that are unlike the good ones, changes of the study, and what comes of it.

    `files` maps a name to its content, or to what makes it. A refused fixture has `says`: parts of the one
    sentence, in order. An accepted one has the `account` (lines of the three steps, "file cause"), a part of
    each warning, and values of prepared or binned columns ("puf age", "binned puf age").
    """

    sentence: str
    files: dict[str, str | bytes | Callable[[Path], object]]
    says: tuple[str, ...] = ()
    account: Mapping[str, int] = MappingProxyType({})
    warnings: tuple[str, ...] = ()
    values: Mapping[str, list] = MappingProxyType({})
    study: Mapping[str, Any] = MappingProxyType({})


def puf(old: str, new: str, count: int = 1) -> dict[str, str]:
    assert old in PUF
    return {"puf.csv": PUF.replace(old, new, count)}


def eif(old: str, new: str, count: int = 1) -> dict[str, str]:
    assert old in EIF
    return {"eif.csv": EIF.replace(old, new, count)}


def source(side: str, **fields: Any) -> dict[str, Any]:
    files = {name: dict(own) for name, own in STUDY["files"].items()}
    files[side] |= fields
    return {"files": files}


def variables(**fields: Any) -> dict[str, Any]:
    """The study with other fields of age or of trade (those that begin with trade_)."""
    age = {name: value for name, value in fields.items() if not name.startswith("trade_")}
    trade = {name.removeprefix("trade_"): value for name, value in fields.items() if name.startswith("trade_")}
    first, second = STUDY["linking_variables"]
    return {"linking_variables": [{**first, **age}, {**second, **trade}]}


def parquet(**columns: pa.Array) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def unreadable(path: Path) -> None:
    path.write_text(PUF, encoding="utf-8")
    path.chmod(0)


TEN = "".join(f"KEY-P{at},ZONE-1,{age},TRADE-a\n" for at, age in enumerate([7050.5] * 7 + [7051.5, 7052.5, 7053.5]))
TEN_LINKS = "pufid,eifid\nKEY-P1,KEY-E1\n"
COMPOSITE = {"files": keyed_by(["house", "person"], "eifid")}
TWO_PARTS = (
    "house,person,region,age,trade\n8000000001,23,ZONE-1,7041.625,TRADE-a\n80000000012,3,ZONE-2,7063.375,TRADE-c\n"
)
LONG = "8007199254740993"
PARQUET = {
    "region": pa.array(["ZONE-1", "ZONE-2"]),
    "age": pa.array([7041.625, 7052.875]),
    "trade": pa.array(["TRADE-a", "TRADE-b"]),
}
CROSSED = (
    "eifid,region,age,trade\n"
    "KEY-E1,ZONE-1,7041.625,TRADE-c\nKEY-E2,ZONE-1,7050.125,TRADE-c\n"
    "KEY-E3,ZONE-2,7063.375,TRADE-b\nKEY-E4,ZONE-2,7074.625,TRADE-b\n"
)
COMPLETE = {"puf in": 4, "eif in": 4, "iuf in": 2, **WHOLE}
