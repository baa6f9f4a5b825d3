"""Draw whole households: a public use file with all their members, and a broker's file of addresses (METHODS §4.7).

Households have the sizes, relations and ages of :mod:`reident.simulation.population`. The broker knows most members of
a household, and takes a few others for members.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.errors import InputError
from reident.simulation import population, treatments
from reident.simulation.brokers import STATES
from reident.simulation.population import REGION_SHARES, Streams, Table, pick, rows_of
from reident.simulation.section import Households

RELATIONS = {
    population.HEAD: "HEAD",
    population.PARTNER: "PARTNER",
    population.CHILD: "CHILD",
    population.SHARER: "OTHER",
}
TENURES = {1: "OWN", 2: "MTG", 3: "RENT", 4: "FREE"}
NOT_STATED = "-9"


def draw_households(spec: Households) -> dict[str, pd.DataFrame]:
    """Draw the three files of a study of households, a pure function of `spec`.

    Returns
    -------
    dict of pandas.DataFrame
        ``puf``: household, person, REGION, TENURE, RELATION, AGE, SEX, MARSTAT, one row a person. ``eif``: address,
        state, home, relation, age_years, gender. ``iuf``: household and address. All cells are text; rows are in
        random order.

    Raises
    ------
    InputError
        If there are fewer households than the files need.
    """
    streams = Streams(spec.seed)
    persons = population.draw(spec.households, streams.within("population"))
    held = round(spec.known * spec.puf_households)
    needed = spec.puf_households + max(spec.eif_households - held, 0)
    if needed > spec.households or held > spec.eif_households:
        raise InputError(
            f"`simulate.households` ({spec.households:,}) and `eif_households` ({spec.eif_households:,}) must be at "
            f"least {needed:,} and {held:,}, as many as the two files have. Increase them, or reduce the files."
        )
    order = streams("sample").permutation(spec.households)
    in_puf, others = order[: spec.puf_households], order[spec.puf_households :]
    in_eif = np.concatenate([in_puf[:held], others[: spec.eif_households - held]])
    puf = _puf(rows_of(persons, _members(persons, in_puf)), spec, streams.within("puf"))
    eif = _eif(persons, in_eif, spec, streams.within("eif"))
    names = {
        side: _names(spec.households, letter, streams(f"{side}/names")) for side, letter in (("puf", 1), ("eif", 2))
    }
    at_home = np.isin(in_puf[:held], eif["household"])
    linked = streams("links").permutation(in_puf[:held][at_home])
    files = {
        "puf": {"household": names["puf"][puf.pop("household")], **puf},
        "eif": {"address": names["eif"][eif.pop("household")], **eif},
        "iuf": {"household": names["puf"][linked], "address": names["eif"][linked]},
    }
    return {side: population.as_text(file) for side, file in files.items()}


def _members(persons: Table, households: np.ndarray) -> np.ndarray:
    """Return the positions of the members of some households."""
    return np.flatnonzero(np.isin(persons["household"], households))


def _names(n: int, first: int, rng: np.random.Generator) -> np.ndarray:
    """Return a different number for each household, which says nothing about it."""
    width = len(str(n)) + 1
    return np.array([f"{first}{number:0{width}}" for number in rng.permutation(n)])


def _puf(persons: Table, spec: Households, streams: Streams) -> Table:
    """Return the released members, with ages that are a year off in some records."""
    n = len(persons["age"])
    off = np.where(streams("age side").random(n) < 0.5, -1, 1)
    age = persons["age"] + off * treatments.drawn(n, spec.age_noise, streams("age"))
    order = streams("order").permutation(n)
    marital = np.where(
        treatments.drawn(n, spec.missing, streams("marital")), NOT_STATED, persons["marital_status"].astype(str)
    )
    columns: dict[str, np.ndarray] = {
        "household": persons["household"],
        "person": 1 + streams("numbers").permutation(n),
        "REGION": persons["region"],
        "TENURE": persons["tenure"],
        "RELATION": persons["role"] + 1,
        "AGE": np.clip(age, 0, spec.top_age),
        "SEX": persons["sex"],
        "MARSTAT": marital,
    }
    return rows_of(columns, order)


def _eif(persons: Table, households: np.ndarray, spec: Households, streams: Streams) -> Table:
    """Return the members whom the broker knows, those whom it takes for members, and their values with errors."""
    rows = _members(persons, households)
    rows = rows[~treatments.drawn(len(rows), spec.lacking, streams("lacking"))]
    n = len(rows)
    strangers = streams("strangers").integers(0, len(persons["age"]), n)
    person = np.where(treatments.drawn(n, spec.wrong, streams("wrong")), strangers, rows)
    home = persons["household"][rows]
    head = np.searchsorted(persons["household"], home)  # the head is the first person of a household
    region = np.where(_of_household(home, spec.moved, streams("moved")), 0, persons["region"][head])
    former = 1 + pick(REGION_SHARES, int(persons["household"].max()) + 1, streams("former"))
    region = np.where(region == 0, former[home], region)
    tenure = treatments.replace_by_others(
        persons["tenure"][persons["role"] == population.HEAD], spec.errors, streams("home")
    )
    columns: dict[str, np.ndarray] = {
        "household": home,
        "state": np.array(STATES)[region - 1],
        "home": np.array([TENURES[code] for code in sorted(TENURES)])[tenure[home] - 1],
        "relation": np.array([RELATIONS[role] for role in sorted(RELATIONS)])[persons["role"][person]],
        "age_years": treatments.replace_by_others(persons["age"][person], spec.errors / 4, streams("age")),
        "gender": np.where(persons["sex"][person] == population.MALE, "M", "F"),
    }
    return rows_of(columns, streams("order").permutation(n))


def _of_household(household: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw which households something happens to, each with a probability, for all of their members."""
    return treatments.drawn(int(household.max(initial=0)) + 1, share, rng)[household]
