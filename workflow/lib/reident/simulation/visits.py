"""Draw patients with several hospital visits: a file of all their visits, and one of some (METHODS §4.7)."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd

from reident.errors import InputError
from reident.simulation import population, treatments
from reident.simulation.brokers import STATES
from reident.simulation.population import Streams, rows_of
from reident.simulation.section import Visits

DIAGNOSES = 40
FIRST_DAY, DAYS = date(2025, 1, 1).toordinal(), 365
MAX_VISITS = 30


def draw_visits(spec: Visits) -> dict[str, pd.DataFrame]:
    """Draw the three files of a study of patients, a pure function of `spec`.

    Returns
    -------
    dict of pandas.DataFrame
        ``puf``: patient, REGION, BORN, SEX, ADMITTED (YYYY-MM-DD), DIAGNOSIS, STAY, one row a visit. ``eif``: member,
        state, birth_year, gender, day (DD.MM.YYYY), reason, of the visits that an insurer knows. ``iuf``: patient and
        member. All cells are text; rows are in random order.

    Raises
    ------
    InputError
        If there are fewer persons than the files need.
    """
    streams = Streams(spec.seed)
    persons = population.draw(spec.households, streams.within("population"))
    n = len(persons["age"])
    held = round(spec.known * spec.puf_patients)
    if spec.puf_patients + max(spec.eif_patients - held, 0) > n or held > spec.eif_patients:
        raise InputError(
            f"`simulate.households` ({n:,} persons in {spec.households:,} households) and `eif_patients` "
            f"({spec.eif_patients:,}) must be enough for both files. Increase them, or reduce the files."
        )
    order = streams("sample").permutation(n)
    in_eif = np.concatenate([order[:held], order[spec.puf_patients :][: spec.eif_patients - held]])
    patients = np.union1d(order[: spec.puf_patients], in_eif)
    visits = _visits(persons, patients, streams.within("visits"))
    names = {side: streams(f"{side}/names").permutation(n) + 10 ** len(str(n)) for side in ("puf", "eif")}
    puf = rows_of(visits, np.flatnonzero(np.isin(visits["person"], order[: spec.puf_patients])))
    eif = rows_of(visits, np.flatnonzero(np.isin(visits["person"], in_eif)))
    eif = rows_of(eif, np.flatnonzero(~treatments.drawn(len(eif["day"]), spec.lacking, streams("lacking"))))
    linked = streams("links").permutation(np.intersect1d(order[:held], eif["person"]))
    files = {
        "puf": _puf(puf, names["puf"], spec, streams.within("puf")),
        "eif": _eif(eif, names["eif"], spec, streams.within("eif")),
        "iuf": {"patient": names["puf"][linked], "member": names["eif"][linked]},
    }
    return {side: population.as_text(file) for side, file in files.items()}


def _visits(persons: population.Table, patients: np.ndarray, streams: Streams) -> population.Table:
    """Return the visits of patients: more for the old, and often for the same reason."""
    mean = 1 + np.take(persons["age"], patients) / 30
    number = np.minimum(1 + np.floor(-mean * np.log1p(-streams("number").random(len(patients)))), MAX_VISITS)
    person = np.repeat(patients, number.astype(np.int64))
    n = len(person)
    usual = _diagnoses(len(persons["age"]), streams("usual"))[person]
    same = streams("same").random(n) < 0.6
    return {
        "person": person,
        "region": persons["region"][person],
        "born": 2025 - persons["age"][person],
        "sex": persons["sex"][person],
        "day": FIRST_DAY + streams("day").integers(0, DAYS, n),
        "diagnosis": np.where(same, usual, _diagnoses(n, streams("diagnosis"))),
        "stay": np.minimum(np.floor(-4 * np.log1p(-streams("stay").random(n))), 60).astype(np.int64),
    }


def _diagnoses(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return groups of diagnoses, the first ones far more often than the last."""
    shares = 1 / np.arange(1, DIAGNOSES + 1)
    return 1 + population.pick((shares / shares.sum()).tolist(), n, rng)


def _dates(days: np.ndarray, form: str) -> np.ndarray:
    return np.array([date.fromordinal(day).strftime(form) for day in days.tolist()], str)


def _puf(visits: population.Table, names: np.ndarray, spec: Visits, streams: Streams) -> population.Table:
    """Return the released visits, with dates that are moved by some days."""
    n = len(visits["day"])
    columns: dict[str, np.ndarray] = {
        "patient": names[visits["person"]],
        "REGION": visits["region"],
        "BORN": visits["born"] // 5 * 5,
        "SEX": visits["sex"],
        "ADMITTED": _dates(visits["day"] + streams("moved").integers(-spec.moved, spec.moved + 1, n), "%Y-%m-%d"),
        "DIAGNOSIS": visits["diagnosis"],
        "STAY": visits["stay"],
    }
    return rows_of(columns, streams("order").permutation(n))


def _eif(visits: population.Table, names: np.ndarray, spec: Visits, streams: Streams) -> population.Table:
    """Return the visits that the insurer knows, some with another reason or without one."""
    n = len(visits["day"])
    reason = treatments.replace_by_others(visits["diagnosis"], spec.errors, streams("reason"))
    late = treatments.drawn(n, spec.errors, streams("late"))  # the day of the invoice
    columns: dict[str, np.ndarray] = {
        "member": names[visits["person"]],
        "state": np.array(STATES)[visits["region"] - 1],
        "birth_year": visits["born"],
        "gender": np.where(visits["sex"] == population.MALE, "M", "F"),
        "day": _dates(visits["day"] + late * streams("days").integers(1, 15, n), "%d.%m.%Y"),
        "reason": np.where(treatments.drawn(n, spec.errors, streams("unknown")), "", reason.astype(str)),
    }
    return rows_of(columns, streams("order").permutation(n))
