"""Columns of a file may have any name: none is one that the reader uses itself."""

import pandas as pd
import pytest
import reident

PUF = pd.DataFrame({"hh": list("1122"), "rid": list("abcd"), "x": list("fmff"), "area": list("NNSS")})
EIF = pd.DataFrame({"ad": list("AABB"), "rie": list("klmn"), "x": list("fmff"), "area": list("NNSS")})
LINKS = pd.DataFrame({"rid": ["a", "c"], "rie": ["k", "m"]})
UNITS = {"units": {"puf": "hh", "eif": "ad"}}


MORE = [pytest.param(name, marks=pytest.mark.slow) for name in ("0", "1", "row_0", "[0]")]


@pytest.mark.parametrize("name", ["row", "unit", "cluster", ".household", *MORE])
@pytest.mark.parametrize("sections", [UNITS, {"rates": {"cluster": "area"}}, {}], ids=str)
@pytest.mark.parametrize("old", ["x", "rid"])
def test_a_column_may_have_any_name(name, sections, old):
    puf, links = (table.rename(columns={old: name}) for table in (PUF, LINKS))
    eif = EIF.rename(columns={"x": name} if old == "x" else {})
    variables = {name if old == "x" else "x": "categorical", "area": "categorical"}
    found = reident.attack(puf, eif, links, variables=variables, metrics=["taxicab"], **sections).rates
    assert found["n_puf"].iloc[0] == (2 if "units" in sections else 4)
    assert found["n_confirmed"].iloc[0] == 2


@pytest.mark.parametrize("name", ["row", "0", ".household", "[0]"])
def test_a_part_of_a_key_may_have_any_name(name):
    puf, links = (table.rename(columns={"rid": name}) for table in (PUF, LINKS.assign(hh=["1", "2"])))
    found = reident.attack(
        puf,
        EIF,
        links[["hh", name, "rie"]],
        variables={"x": "categorical"},
        metrics=["taxicab"],
        puf_id=["hh", name],
        eif_id="rie",
    ).rates
    assert found["n_confirmed"].iloc[0] == 2
