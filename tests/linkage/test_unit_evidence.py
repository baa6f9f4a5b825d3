"""Units by evidence: weights are those of every assignment of members, and λ and scores those of all pairs of units."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import competing
from oracles import unit_evidence as oracle
from reident.linkage import attack
from reident.linkage import step as linkage_step
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics import fellegi_sunter
from reident.linkage.unit_pairing import UnitComparison
from workflow.library_run import run

OWN, OF_MEMBERS = {"size": "numeric", "area": "categorical"}, {"age": "numeric", "job": "categorical"}
NUMBERS, TEXTS = ["", "1", "2", "3", "7", "20"], ["", "a", "b", "c"]


@st.composite
def unit_files(draw, most_members=6, most_units=5):
    """Rows of units of both files in strata, with missing values and ties, and links of units."""
    value = {"numeric": st.sampled_from(NUMBERS), "categorical": st.sampled_from(TEXTS)}
    sides = []
    for side in ("p", "e"):
        # A code of each category must be in both files.
        rows = [{"unit": f"{side}z", "region": "N", "size": "2", "area": "a", "age": "7", "job": "a"}]
        for unit in range(draw(st.integers(1, most_units))):
            own = {name: draw(value[kind]) for name, kind in OWN.items()}
            region = draw(st.sampled_from(["N", "S"]))
            for _ in range(draw(st.integers(1, most_members))):
                member = {name: draw(value[kind]) for name, kind in OF_MEMBERS.items()}
                rows.append({"unit": f"{side}{unit}", "region": region, **own, **member})
        sides.append(draw(st.permutations(rows)))
    links = [{"p": f"p{at}", "e": f"e{at}"} for at in range(2)]
    names = [{row["unit"] for row in side} for side in sides]
    return sides[0], sides[1], [link for link in links if link["p"] in names[0] and link["e"] in names[1]]


def study(options, variables=None):
    """A study of units."""
    return {
        "id": "units",
        "files": {
            "puf": {"path": "p.csv"},
            "eif": {"path": "e.csv"},
            "iuf": {"path": "i.csv", "puf_id": "p", "eif_id": "e"},
        },
        "units": {"puf": "unit", "eif": "unit"},
        "strata": [{"name": "region"}],
        "linking_variables": variables
        or [{"name": name, "type": kind, "missing": [""], "level": "unit"} for name, kind in OWN.items()]
        + [{"name": name, "type": kind, "missing": [""]} for name, kind in OF_MEMBERS.items()],
        "metrics": {"fellegi_sunter": options},
    }


def estimated(tables):
    """The settings, the files and the estimates of a study that was run."""
    settings = linkage_step.attacking(tables.study)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    return settings, files, attack.compare(settings, files)


def in_words(tables):
    """The strata of a study that have units of both files, as the oracle takes them, and their lines."""
    names = [*OWN, *OF_MEMBERS]
    codes = {
        name: sorted(
            {
                one
                for side in tables.prepared.values()
                for value in side[name].to_pylist()
                for one in (value if isinstance(value, list) else [value])
                if one is not None
            }
        )
        for name, kind in (OWN | OF_MEMBERS).items()
        if kind == "categorical"
    }
    lines = [at for at, pairs in enumerate(tables.manifest["pairs"]) if pairs]
    strata, rows = [tuple([] for _ in range(2)) for _ in lines], [tuple([] for _ in range(2)) for _ in lines]
    for at, side in enumerate(("puf", "eif")):
        of_stratum = tables.strata[side]["stratum"].to_pylist()
        for row, unit in enumerate(tables.prepared[side].to_pylist()):
            if of_stratum[row] not in lines:
                continue
            members = []
            for k in range(unit["n_members"]):
                values = [unit[name][k] if name in OF_MEMBERS else unit[name] for name in names]
                members.append(
                    tuple(
                        None
                        if value is None or value != value
                        else codes[name].index(value)
                        if name in codes
                        else value
                        for name, value in zip(names, values, strict=True)
                    )
                )
            strata[lines.index(of_stratum[row])][at].append(members)
            rows[lines.index(of_stratum[row])][at].append(row)
    return strata, rows


VARIABLES = [("number", None), ("category", False), ("number", None), ("category", False)]


@examples(300)
@given(drawn=unit_files(), competition=st.booleans(), frequency=st.booleans())
def test_evidence_of_units_is_that_of_every_assignment(drawn, competition, frequency):
    options = {"competition": str(competition).lower(), "frequency": str(frequency).lower()}
    tables = run(study(options), *drawn)
    strata, rows = in_words(tables)
    assume(strata)
    settings, files, compared = estimated(tables)
    levels, m, _, _, counts = competing.estimate(
        oracle.members_of(strata)[0], VARIABLES, competition, frequency=frequency
    )
    table = compared.weights.levels.set_index(["variable", "level"])
    for name, shares in zip([*OWN, *OF_MEMBERS], m, strict=True):
        for level, share in shares.items():
            assert table.loc[(name, level), "m"] == pytest.approx(share, rel=1e-9)
    # From here on with the estimates of the study, so that nothing depends on the last digits of EM.
    shares = [
        [
            {level: table.loc[(name, level), column] for level in own}
            for name, own in zip([*OWN, *OF_MEMBERS], m, strict=True)
        ]
        for column in ("m", "u")
    ]
    rare, bits = oracle.rounded(shares)
    found = oracle.weights(strata, (0, 1), levels, bits, rare, counts)
    units = UnitComparison(settings.variables, files.prepared, files.strata, len(files.manifest), "study")
    lines = [at for at, pairs in enumerate(files.manifest["pairs"]) if pairs]
    pairing = units.pairing(np.array(lines), [units.rows("puf", line) for line in lines], whole=True)
    kernel = fellegi_sunter.unit_evidence(pairing, compared.weights.levels, frequency=frequency, threads=1)
    for s in range(len(lines)):
        expected = sorted(weight for (stratum, _, _), weight in found.items() if stratum == s)
        assert np.sort(kernel.stratum(s).ravel()).tolist() == expected
    model = compared.weights.model.iloc[0]
    share = model["held_links"] / sum(min(len(puf), len(eif)) for puf, eif in strata)
    assert model["prior"] == pytest.approx(oracle.prior(found, strata, share, competition), rel=1e-5)
    _, scores = oracle.competed(found, model["prior"], competition)
    best = {}
    for (s, i, k), weight in scores.items():
        best.setdefault(rows[s][0][i], []).append((-weight, rows[s][1][k]))
    claims = {}
    for claim in tables.metrics["fellegi_sunter"].claims.to_pylist():
        claims.setdefault(claim["puf"], []).append((claim["score"], claim["eif"]))
    for puf, pairs in best.items():
        top = min(pairs)[0]
        tied = sorted(eif for weight, eif in pairs if weight == top)
        if len(tied) <= 5:
            assert sorted(eif for _, eif in claims[puf]) == tied
            assert all(score == pytest.approx(-top / 1e12, abs=1e-9) for score, _ in claims[puf])
        else:
            assert puf not in claims
    suspected = {
        (pair["puf"], pair["eif"])
        for pair in tables.metrics["fellegi_sunter"].scores.to_pylist()
        if pair["eif"] is not None
    }
    passing = {
        (rows[s][0][i], rows[s][1][k])
        for (s, i, k), weight in scores.items()
        if weight >= round(model["least_weight"] * 1e12)
    }
    assert suspected == passing


@examples(60)
@given(drawn=unit_files(most_members=1), competition=st.booleans())
def test_units_of_one_member_are_records(drawn, competition):
    options = {"competition": str(competition).lower()}
    of_units = run(study(options), *drawn)
    single = study(options)
    single.pop("units")
    for variable in single["linking_variables"]:
        variable.pop("level", None)
    for side in ("puf", "eif"):
        single["files"][side]["id"] = "unit"
    of_records = run(single, *drawn)
    one, other = (tables.metrics["fellegi_sunter"] for tables in (of_units, of_records))
    assert one.claims.select(["puf", "eif"]).equals(other.claims.select(["puf", "eif"]))
    assert one.claims["score"].to_pylist() == pytest.approx(other.claims["score"].to_pylist(), abs=1e-6)
    assert one.positions.equals(other.positions)


@examples(20)
@given(drawn=unit_files(), seed=st.randoms(use_true_random=False))
def test_neither_keys_nor_the_order_of_rows_matter(drawn, seed):
    puf, eif, links = drawn
    units = sorted({row["unit"] for row in [*puf, *eif]})
    names = dict(zip(units, seed.sample([f"x{at}" for at in range(len(units))], len(units)), strict=True))
    renamed = [[{**row, "unit": names[row["unit"]]} for row in seed.sample(side, len(side))] for side in (puf, eif)]
    of_links = [{side: names[key] for side, key in link.items()} for link in links]
    one, other = (run(study({}), *files) for files in (drawn, (*renamed, of_links)))
    scores = [sorted(tables.metrics["fellegi_sunter"].claims["score"].to_pylist()) for tables in (one, other)]
    assert scores[0] == scores[1]
