"""Simulated households and patients: the same bytes, true links, sizes of a census, errors as declared."""

from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from pydantic import TypeAdapter
from reident.errors import InputError
from reident.ledger import stored
from reident.pipeline.steps import table_of
from reident.simulation import simulate
from reident.simulation.section import Households, Simulation, Visits

EXACT = {"known": 1.0, "lacking": 0, "wrong": 0, "moved": 0, "errors": 0, "age_noise": 0, "missing": 0, "top_age": 120}
REGIONS = dict(
    zip(
        ("NORTHPORT", "LAKELAND", "MIDDLETON", "EASTMARCH", "WESTWOLD", "HIGHMOOR", "SOUTHDALE", "FAR ISLES"),
        map(str, range(1, 9)),
        strict=True,
    )
)


@cache
def households(**keys):
    return simulate(
        Households(kind="households", **{"households": 3000, "puf_households": 600, "eif_households": 900, **keys})
    )


@cache
def visits(**keys):
    return simulate(Visits(kind="visits", **{"households": 1500, "puf_patients": 600, "eif_patients": 900, **keys}))


def members(frame, unit, columns):
    return frame.groupby(unit)[columns].apply(lambda rows: sorted(map(tuple, rows.to_numpy())))


def test_the_same_section_draws_the_same_and_another_seed_does_not():
    for draw in (households, visits):
        first = draw()
        draw.cache_clear()
        again = draw()
        for side, file in first.items():
            pd.testing.assert_frame_equal(file, again[side])
            assert not file.equals(draw(seed=1)[side])


@pytest.mark.parametrize(
    ("draw", "condition"), [(households, "kind `households`"), (visits, "kind `visits`")], ids=["households", "visits"]
)
def test_every_column_of_the_files_is_declared(draw, condition):
    """A column without a declaration would stop the step, one that is declared for all kinds would be empty."""
    for side, file in draw().items():
        path = Path(f"results/s/simulated/{side}.csv")
        declared = [column.name for column in table_of(path).columns if condition in column.only]
        assert set(stored.arranged(file, path)) == set(file)
        assert set(declared) <= set(file)


def test_a_broker_without_errors_knows_all_members_of_the_linked_households():
    files = households(**EXACT)
    puf = files["puf"].rename(columns={"REGION": "region", "AGE": "age"})
    eif = files["eif"].assign(region=files["eif"]["state"].map(REGIONS), age=files["eif"]["age_years"])
    puf["sex"], eif["sex"] = puf["SEX"].map({"1": "M", "2": "F"}), eif["gender"]
    eif["tenure"] = eif["home"].map({"OWN": "1", "MTG": "2", "RENT": "3", "FREE": "4"})
    puf["tenure"] = puf["TENURE"]
    columns = ["region", "tenure", "age", "sex"]
    ours, theirs = members(puf, "household", columns), members(eif, "address", columns)
    assert len(files["iuf"]) == 600
    for link in files["iuf"].itertuples():
        assert ours[link.household] == theirs[link.address]


def test_households_have_the_sizes_relations_and_ages_of_a_population():
    puf = households()["puf"]
    sizes = puf.groupby("household").size().value_counts(normalize=True)
    assert 0.28 < sizes[1] < 0.42
    assert 0.28 < sizes[2] < 0.42
    assert sizes[sizes.index >= 5].sum() < 0.1
    relation = puf.assign(age=puf["AGE"].astype(int)).pivot_table(
        index="household", columns="RELATION", values="age", aggfunc="max"
    )
    assert (puf[puf["RELATION"] == "1"].groupby("household").size() == 1).all()
    both = relation.dropna(subset=["1", "3"])
    assert (both["1"] - both["3"]).min() >= 16
    assert puf.groupby("household")[["REGION", "TENURE"]].nunique().max().max() == 1


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_members_are_unknown_and_wrong_as_declared(share):
    exact, files = households(**EXACT), households(**EXACT | {"lacking": share})
    assert len(files["eif"]) == pytest.approx((1 - share) * len(exact["eif"]), rel=0.1)
    assert set(files["iuf"]["address"]) <= set(files["eif"]["address"])
    wrong = households(**EXACT | {"wrong": share})
    assert wrong["eif"].groupby("address").size().equals(exact["eif"].groupby("address").size())
    other = wrong["eif"]["age_years"] != exact["eif"]["age_years"]
    assert other.mean() == pytest.approx(share, abs=0.05)


def test_an_insurer_without_errors_knows_all_visits_of_the_linked_patients():
    files = visits(known=1.0, lacking=0, moved=0, errors=0)
    ours = members(files["puf"], "patient", ["ADMITTED", "DIAGNOSIS"])
    eif = files["eif"].assign(day=pd.to_datetime(files["eif"]["day"], format="%d.%m.%Y").dt.strftime("%Y-%m-%d"))
    theirs = members(eif, "member", ["day", "reason"])
    assert len(files["iuf"]) == 600
    for link in files["iuf"].itertuples():
        assert ours[link.patient] == theirs[link.member]


def test_days_are_moved_and_visits_unknown_as_declared():
    exact, files = visits(known=1.0, lacking=0, moved=0, errors=0), visits(known=1.0, lacking=0.4, moved=5, errors=0)
    apart = pd.to_datetime(files["puf"]["ADMITTED"]) - pd.to_datetime(exact["puf"]["ADMITTED"])
    assert (apart.dt.days.min(), apart.dt.days.max()) == (-5, 5)
    assert len(files["eif"]) == pytest.approx(0.6 * len(exact["eif"]), rel=0.1)
    assert files["puf"].groupby("patient").size().max() > 5


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"kind": "households", "households": 10, "puf_households": 20}, "`simulate.households` (10)"),
        ({"kind": "households", "known": 1, "puf_households": 50, "eif_households": 40}, "`eif_households` (40)"),
        ({"kind": "visits", "households": 5, "puf_patients": 900}, "`simulate.households`"),
        ({"kind": "visits", "known": 1, "puf_patients": 50, "eif_patients": 40}, "`eif_patients` (40)"),
    ],
)
def test_too_few_people_are_refused(section, message):
    with pytest.raises(InputError) as error:
        simulate(TypeAdapter(Simulation).validate_python(section))
    assert message in str(error.value)
