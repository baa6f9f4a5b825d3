"""Files of people in households, and columns of other kinds that repeat: what groups rows, and what does not (§1.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
from reident.linkage.settings import Variable
from reident.plausibility import grouping
from reident.plausibility.findings import Finding
from reident.plausibility.grouping import Candidate, Groups
from reident.plausibility.records import read
from reident.plausibility.settings import DescriptionCheckSettings

CODES = ("occupation", "municipality", "interview", "income", "weight", "school")
"""Columns that repeat, and are no units."""


def people(rng: np.random.Generator, households: int) -> pd.DataFrame:
    """People in households, with what both files may have of them; households have the sizes of a census."""
    size = rng.choice([1, 2, 3, 4, 5, 6], households, p=[0.38, 0.33, 0.13, 0.1, 0.04, 0.02])
    hh = np.repeat(np.arange(households), size)
    n = len(hh)
    region = rng.integers(1, 6, households)
    shares = 1 / np.arange(1, 301)
    place = rng.choice(300, n, p=shares / shares.sum())
    return pd.DataFrame(
        {
            "hh": hh,
            "region": region[hh],
            "tenure": rng.integers(1, 5, households)[hh],
            "age": rng.integers(0, 90, n),
            "sex": rng.integers(1, 3, n),
            "education": rng.integers(1, 6, n),
            "occupation": place,
            "municipality": region[hh] * 1000 + rng.choice(300, households, p=shares / shares.sum())[hh],
            "interview": rng.integers(0, 365, households)[hh],
            "income": np.rint(np.exp(rng.normal(10, 0.6, n)) / 500).astype(int) * 500,
            "weight": rng.integers(50, 70, n),
            "school": np.where(rng.random(n) < 0.2, rng.integers(0, n // 10 + 1, n), -1),
        }
    )


def two_files(rng: np.random.Generator, households: int, known: float = 1.0, off: float = 0.1):
    """Both files of the people, the second with a share of the households and ages that are off; the linked rows."""
    puf = people(rng, households)
    held = np.isin(puf["hh"], rng.permutation(households)[: max(2, int(known * households))])
    eif = puf[held].copy()
    eif["age"] = eif["age"] + (rng.random(len(eif)) < off) * rng.integers(1, 4, len(eif))
    order = rng.permutation(len(eif))
    links = np.column_stack([np.flatnonzero(held)[order], np.arange(len(eif))])
    return puf, eif.iloc[order].reset_index(drop=True), links


def found(puf, eif, links, column, variables, *, declared=False, name=None, other=None) -> list[Finding]:
    """What the check says of a column of both files, or of one of each; the stratum is the region."""
    tables, strata = {}, {}
    for side, frame in (("puf", puf), ("eif", eif)):
        columns = {"key": pa.array([f"{side}{row}" for row in range(len(frame))])}
        for one in variables:
            columns[one] = pa.array(
                np.char.mod("%g", frame[one].to_numpy(float)), pa.string(), mask=frame[one].isna().to_numpy()
            )
        tables[side] = pa.table({one: pa.chunked_array([values]) for one, values in columns.items()})
        strata[side] = pa.table({"stratum": frame["region"].to_numpy().astype(np.int32) - 1})
    settings = DescriptionCheckSettings(
        tuple(Variable(one, "categorical") for one in variables), {"puf": ("key",), "eif": ("key",)}
    )
    iuf = pa.table({"puf": links[:, 0].astype(np.int32), "eif": links[:, 1].astype(np.int32)})
    records = read(settings, tables, iuf, strata)
    other = other or column
    codes = pd.factorize(pd.concat([puf[column], eif[other]]).where(lambda values: values != -1))[0].astype(np.int64)
    candidate = Candidate((name or column,), (name or other,), declared)
    groups = Groups(candidate, {"puf": codes[: len(puf)], "eif": codes[len(puf) :]})
    return list(grouping.check(records, iter([groups])))
