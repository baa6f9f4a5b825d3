"""Draw the files of a simulated study: PUF, EIF and IUF of a household survey, every cell as text.

The population is drawn first. The agency samples persons and treats their records for the public use file. Brokers
hold some of these persons and many others, with errors. The internal use file has the true links and the values
before treatment. Each stage has its own stream of random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from reident.errors import InputError
from reident.simulation import brokers, population, treatments
from reident.simulation.population import REGION_SHARES, Streams, Table, as_text, pick, rows_of
from reident.simulation.section import HouseholdSurvey, LastYear, Treatment

RELEASED = population.columns("REGION AGE SEX MARSTAT HHSIZE EDUC OCC HOURS INCOME TENURE HOUSCOST HEALTH")
"""The columns of the public use file, with the variables of the population; the last is the sensitive one."""

NOT_STATED, UNKNOWN_INCOME = "-9", "-8"
PUFID_DIGITS = 7


class Sampled(NamedTuple):
    """The persons in each file, as rows of the population, int64, in the order of the file.

    A person in two of the brokers' records is repeated; `second` is whether a record is the second of its person.
    """

    puf: np.ndarray
    eif: np.ndarray
    second: np.ndarray


def simulate(spec: HouseholdSurvey) -> dict[str, pd.DataFrame]:
    """Draw the three files of a study.

    A pure function of `spec`: the same text in every cell on every machine.

    Parameters
    ----------
    spec : HouseholdSurvey
        The section `simulate` of the study.

    Returns
    -------
    dict of pandas.DataFrame
        ``puf``: pufid and :data:`RELEASED`. ``eif``: broker, serial and :data:`brokers.BROKER_COLUMNS`; for last year's
        file, the columns of ``puf``. ``iuf``: the keys of both (last year's: last_pufid), and the linking variables
        before treatment, coded as in the public use file. All cells are text; rows are in random order.

    Raises
    ------
    InputError
        If the population is too small for the files, or a file is too small for its records.
    """
    streams = Streams(spec.seed)
    persons = population.draw(spec.households, streams.within("population"))
    sampled = sample(spec, persons, streams.within("sample"))
    files = {"puf": _puf(rows_of(persons, sampled.puf), spec.treatment, streams.within("puf"))}
    eif_persons = rows_of(persons, sampled.eif)
    if spec.last_year is not None:
        before = _a_year_ago(eif_persons, spec.last_year, streams.within("last year"))
        files["eif"] = _puf(before, spec.treatment, streams.within("eif"))
    else:
        files["eif"] = brokers.draw(eif_persons, sampled.second, spec.brokers, streams.within("eif"))
        if spec.brokers.sources is not None:
            selection = np.isin(files["eif"]["broker"], spec.brokers.sources)
            files["eif"] = rows_of(files["eif"], selection)
            sampled = Sampled(sampled.puf, sampled.eif[selection], sampled.second[selection])
    files["iuf"] = _iuf(persons, sampled, files, streams("iuf/order"))
    return {name: as_text(file) for name, file in files.items()}


def _a_year_ago(persons: Table, options: LastYear, streams: Streams) -> Table:
    """Return the persons' values a year ago."""
    n, then = len(persons["age"]), dict(persons)
    then["age"] = np.maximum(persons["age"] - 1, 0)
    for name in ("income", "housing_cost"):
        then[name] = np.rint(persons[name] * (1 - brokers.INFLATION)).astype(np.int64)
    for name, share in options.changed.items():
        then[name] = treatments.replace_by_others(then[name], share, streams(f"changed/{name}"))
    moved = treatments.drawn(n, options.moved, streams("moved"))
    then["region"] = np.where(moved, 1 + pick(REGION_SHARES, n, streams("region")), persons["region"])
    return then


def sample(spec: HouseholdSurvey, persons: Table, streams: Streams) -> Sampled:
    """Draw the persons of both files, without replacement within each.

    Raises
    ------
    InputError
        If there are too few persons.
    """
    n = len(persons["age"])
    if spec.puf_records > n:
        raise InputError(
            f"`simulate.puf_records` must be at most the number of persons ({n:,}), but is {spec.puf_records:,}. "
            "Increase `households`."
        )
    in_puf = streams("puf").permutation(n)[: spec.puf_records]
    if spec.last_year is None:
        reachable = (persons["age"] >= spec.brokers.adults_from) & (persons["region"] != spec.brokers.uncovered_region)
        second = round(spec.brokers.duplicates * spec.eif_records)
    else:
        reachable, second = np.ones(n, bool), 0
    both = streams("overlap").permutation(in_puf[reachable[in_puf]])
    both = both[: round(spec.overlap * len(both))]
    remaining = spec.eif_records - second - len(both)
    if remaining < 0:
        raise InputError(
            f"`simulate.eif_records` ({spec.eif_records:,}) must leave room for the {len(both):,} persons of the "
            "public use file whom brokers hold. Increase `eif_records`, or reduce `overlap`."
        )
    others = reachable.copy()
    others[in_puf] = False
    if others.sum() < remaining:
        raise InputError(
            f"`simulate.eif_records` ({spec.eif_records:,}) must be at most the number of persons that brokers could "
            "hold. Increase `households`."
        )
    eif_rows = np.concatenate([both, streams("eif").permutation(np.flatnonzero(others))[:remaining]])
    twice = streams("duplicates").permutation(eif_rows)[:second]
    order = streams("eif order").permutation(spec.eif_records)
    again = np.repeat([False, True], [len(eif_rows), second])
    return Sampled(in_puf, np.concatenate([eif_rows, twice])[order], again[order])


def _puf(persons: Table, options: Treatment, streams: Streams) -> Mapping[str, np.ndarray]:
    """Return the released records: opaque pufids, treated values, missing items."""
    n = len(persons["age"])
    treated = treatments.swap(
        persons, options.swapping, ("region", "sex"), "age", ("occupation", "hours", "income"), streams("swapping")
    )
    for name, deviation in options.noise.items():
        treated[name] = treatments.multiply_noise(treated[name], deviation, streams(f"noise/{name}"))
    for name, k in options.microaggregation.items():
        treated[name] = treatments.microaggregate(treated[name], k)
    for name, base in options.rounding.items():
        treated[name] = treatments.round_to(treated[name], base)
    for name, quantile in options.top_coding.items():
        treated[name] = treatments.top_code(treated[name], quantile)
    treated["household_size"] = np.minimum(treated["household_size"], options.largest_household)
    out = {"pufid": pufids(n, streams("pufid"))}
    missing = {str(name): share for name, share in options.missing.items()}
    for column, item in RELEASED.items():
        absent = treatments.drawn(n, missing.get(item, 0.0), streams(f"missing/{item}"))
        out[column] = np.where(absent, NOT_STATED, treated[item].astype(str))
    unknown = (out["INCOME"] == NOT_STATED) & treatments.drawn(n, 0.4, streams("missing/income/unknown"))
    out["INCOME"] = np.where(unknown, UNKNOWN_INCOME, out["INCOME"])
    return out


def pufids(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n different opaque texts of digits; leading zeros are part of them."""
    digits = max(PUFID_DIGITS, len(str(100 * n)))
    return np.char.zfill(rng.choice(10**digits, n, replace=False, shuffle=True).astype(str), digits)


def _iuf(
    persons: Table, sampled: Sampled, files: Mapping[str, Mapping[str, np.ndarray]], rng: np.random.Generator
) -> Mapping[str, np.ndarray]:
    """Return the true links, one for each of the brokers' records whose person is in the public use file."""
    place = np.full(len(persons["age"]), -1)
    place[sampled.puf] = np.arange(len(sampled.puf))
    at_eif = rng.permutation(np.flatnonzero(place[sampled.eif] >= 0))
    at_puf = place[sampled.eif[at_eif]]
    parts = {"broker": "broker", "serial": "serial"} if "broker" in files["eif"] else {"last_pufid": "pufid"}
    keys = {"pufid": files["puf"]["pufid"][at_puf]} | {name: files["eif"][part][at_eif] for name, part in parts.items()}
    truth = {
        column: persons[name][sampled.puf[at_puf]].astype(str) for column, name in RELEASED.items() if name != "health"
    }
    return keys | truth
