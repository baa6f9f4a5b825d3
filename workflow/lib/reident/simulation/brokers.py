"""Draw the external intruder file: the records of data brokers, with their codes and errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reident.simulation import treatments
from reident.simulation.population import REGION_SHARES, Streams, Table, pick
from reident.simulation.section import Brokers

BROKER_COLUMNS = {
    "state": "region",
    "age_years": "age",
    "gender": "sex",
    "marital": "marital_status",
    "hh_members": "household_size",
    "schooling": "education",
    "job": "occupation",
    "weekly_hours": "hours",
    "income_est": "income",
    "home": "tenure",
    "home_cost": "housing_cost",
}
"""The columns of the external intruder file, with the variables of the population."""

STATES = ("NORTHPORT", "LAKELAND", "MIDDLETON", "EASTMARCH", "WESTWOLD", "HIGHMOOR", "SOUTHDALE", "FAR ISLES")
WORDS = {
    "region": dict(enumerate(STATES, start=1)),
    "sex": {1: "M", 2: "F"},
    "marital_status": {1: "S", 2: "M", 3: "W", 4: "D"},
    "tenure": {1: "OWN", 2: "MTG", 3: "RENT", 4: "FREE"},
}
"""The brokers' codes for variables that the agency codes as numbers."""

SPELLED = {"household_size": "{}.0", "occupation": "{:02d}", "income": "{}.00"}
"""The formats in which the brokers' programs export numbers."""

UNKNOWN = "U"
EMPTY = frozenset({"region", "age", "hours", "income", "housing_cost"})
"""The variables whose unknown values are empty cells instead of `U`."""

SOURCES = (("1", 6), ("01", 6), ("10", 5))
"""Brokers, and the digits of their serial numbers. The brokers `1` and `01` both count from 1: neither a part of the
key, nor the key read as numbers, nor its parts joined into one text identifies a record."""
SOURCE_SHARES = (0.45, 0.35, 0.20)
INFLATION = 0.03


def draw(persons: Table, second: np.ndarray, options: Brokers, streams: Streams) -> Mapping[str, np.ndarray]:
    """Draw the brokers' records.

    Parameters
    ----------
    persons : dict of arrays
        The person of each record, as in the population.
    second : bool (n,)
        Whether the person is also in a record of another broker.

    Returns
    -------
    dict of text arrays (n,)
        broker, serial, person where the file has it, and :data:`BROKER_COLUMNS`.
    """
    n = len(second)
    eif_values = _as_of_then(persons, options, streams)
    for name, share in options.errors.items():
        eif_values[name] = treatments.replace_by_others(eif_values[name], share, streams(f"errors/{name}"))
    for name, deviation in options.noise.items():
        eif_values[name] = treatments.multiply_noise(eif_values[name], deviation, streams(f"noise/{name}"))
    for name, base in options.rounding.items():
        eif_values[name] = treatments.round_to(eif_values[name], base)
    broker, serial = _keys(persons, second, streams("broker"), streams("serial"))
    out = {"broker": broker, "serial": serial}
    if options.person:
        out["person"] = persons["person"].astype(str)
    missing = {str(name): share for name, share in options.missing.items()}
    for column, item in BROKER_COLUMNS.items():
        absent = treatments.drawn(n, missing.get(item, 0.0), streams(f"missing/{item}"))
        out[column] = np.where(absent, "" if item in EMPTY else UNKNOWN, _spelled(item, eif_values[item]))
    return out


def _as_of_then(persons: Table, options: Brokers, streams: Streams) -> Table:
    """Return the persons' values at the time when their records were last updated."""
    n = len(persons["age"])
    outdated = treatments.drawn(n, options.outdated, streams("outdated"))
    years = np.where(outdated, 1 + pick((0.4, 0.3, 0.2, 0.1), n, streams("years")), 0)
    eif_values = dict(persons)
    eif_values["age"] = np.maximum(persons["age"] - years, 0)
    for name in ("income", "housing_cost"):
        eif_values[name] = np.rint(persons[name] * (1 - INFLATION * years)).astype(np.int64)
    moved = treatments.drawn(n, options.moved, streams("moved"))
    covered = [share * (region != options.uncovered_region) for region, share in enumerate(REGION_SHARES, start=1)]
    former = 1 + pick([share / sum(covered) for share in covered], n, streams("former region"))
    eif_values["region"] = np.where(moved, former, persons["region"])
    return eif_values


def _keys(
    persons: Table, second: np.ndarray, choose: np.random.Generator, number: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the broker and serial number of each record; a person's second record is from another broker."""
    n = len(second)
    first = pick(SOURCE_SHARES, int(persons["person"].max()) + 1, choose)[persons["person"]]
    source = (first + second) % len(SOURCES)
    serial = np.empty(n, object)
    for at, (_, digits) in enumerate(SOURCES):
        records = np.flatnonzero(source == at)
        width = max(digits, len(str(len(records))))
        serial[records] = [str(count + 1).zfill(width) for count in number.permutation(len(records))]
    return np.array([name for name, _ in SOURCES])[source], serial.astype(str)


def _spelled(name: str, values: np.ndarray) -> np.ndarray:
    """Return the values in the brokers' codes."""
    distinct, place = np.unique(values, return_inverse=True)
    if name in WORDS:
        texts = [WORDS[name][value] for value in distinct.tolist()]
    else:
        texts = [SPELLED.get(name, "{}").format(value) for value in distinct.tolist()]
    return np.array(texts, str)[place]
