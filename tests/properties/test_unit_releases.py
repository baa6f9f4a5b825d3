"""The edition of a study with units tells no count closer than its policy allows, whoever knows what holds for units
(METHODS §11.2)."""

from collections import Counter
from functools import partial
from itertools import accumulate
from random import Random

import numpy as np
import pandas as pd
import pytest
from making import gated
from oracles.attacker import AttackerOfUnits
from oracles.units import Unit
from properties.test_small_releases import POLICIES, RESULTS, too_close
from properties.test_units import attacked, pairs_of
from reident.linkage.metrics import REGISTRY
from reident.pipeline.releasing import Attack
from reident.pipeline.tables import TABLES
from reident.sections.linkage import Binning, LinkingVariable

OPTIONS = {"unicity": {"interactions": "full"}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}}


def drawn(seed):
    """Variables, and the units of both files with their links: some strata are tiny, some units change."""
    draw = Random(seed)  # noqa: S311 - made-up people
    n_own, n_members = draw.choice([(0, 2), (0, 3), (1, 2), (1, 3)])
    variables = [(f"x{at}", "categorical", at < n_own) for at in range(n_own + n_members)]
    sizes, largest, values = (
        draw.choice([[80], [3, 60], [14, 40, 90], [1, 15, 15, 120]]),
        draw.randint(1, 4),
        draw.randint(2, 5),
    )
    known, change, leave = (draw.choice(shares) for shares in ([0.3, 0.8], [0.02, 0.2, 0.6], [0, 0.1, 0.3]))

    def member():
        return tuple("abcde"[draw.randrange(values)] for _ in range(n_members))

    puf, eif, links = [], [], set()
    for at, stratum in enumerate(stratum for stratum, n in zip("stuv", sizes, strict=False) for _ in range(n)):
        own = tuple("abc"[draw.randrange(3)] for _ in range(n_own))
        members = tuple(member() for _ in range(draw.randint(1, largest)))
        puf.append(Unit(f"p{at}", stratum, own, members))
        if draw.random() < known:
            held = [m if draw.random() >= change else member() for m in members if draw.random() >= leave] or [member()]
            eif.append(Unit(f"e{at}", stratum, own, tuple(held)))
            links.add((f"p{at}", f"e{at}"))
        elif draw.random() < 0.2:
            eif.append(Unit(f"e{at}", stratum, own, (member(),)))
    return variables, puf, eif, links


def records(study, members, *, clusters):
    """The PUF units as the releases of the tests know records: with which rank limits metrics find them."""
    variables, puf, eif, links = study
    metrics = {name: own for name, own in OPTIONS.items() if members == "all" or name != "unicity"}
    most, frame = len(eif), pd.DataFrame(sorted(links), columns=["hh", "household"])
    found = attacked(variables, puf, eif, metrics, members, keep=most, max_pairs=most, links=frame)
    shape = len(puf), len(metrics)
    suspected, confirmed, single = np.full(shape, gated.NEVER), np.full(shape, gated.NEVER), np.zeros(shape, bool)
    for k, metric in enumerate(metrics):
        ranks = {name: {} for name in [unit.key for unit in puf]}
        for (p, e), rank in pairs_of(found.confirmed[metric], *(["order"] if metric == "unicity" else [])).items():
            ranks[p][e] = 1 if metric == "unicity" else rank[1]
        for at, unit in enumerate(puf):
            if own := ranks[unit.key]:
                sizes = Counter(own.values())
                limits = dict(zip(sorted(sizes), accumulate(sizes[rank] for rank in sorted(sizes)), strict=True))
                right = [limits[rank] for e, rank in own.items() if (unit.key, e) in links]
                suspected[at, k], confirmed[at, k] = min(limits.values()), min(right, default=gated.NEVER)
                single[at, k] = max((n for n in limits.values() if n <= gated.LIMIT), default=0) == 1
    strata = sorted({unit.stratum for unit in (*puf, *eif)})
    place = np.array([strata.index(unit.stratum) for unit in puf])
    per_stratum = [
        np.bincount([strata.index(u.stratum) for u in units], minlength=len(strata))
        for units in (eif, [u for u in eif if (f"p{u.key[1:]}", u.key) in links])
    ]
    codes = np.array([[ord(x) for x in member] for unit in puf for member in unit.members], np.int32)
    group = np.arange(len(puf)) // 3 if clusters else None
    return gated.Records(place, suspected, confirmed, single, *per_stratum, tuple(metrics), group, codes)


def passed(study, members, drawn_records, policy, known, after=()):
    """The edition of a study with units."""
    variables, puf, eif, _ = study
    linking = tuple(LinkingVariable(name=n, type=kind, level="unit" if own else "member") for n, kind, own in variables)
    metrics = {name: REGISTRY[name].options(**OPTIONS[name]) for name in drawn_records.metrics}
    line = {"metric": "taxicab", "stratum": "ALL", "n_units": len(puf)}
    line |= {f"n_{side}members": sum(len(u.members) for u in units) for side, units in (("", puf), ("eif_", eif))}
    tables = gated.tables(drawn_records)
    tables[RESULTS / "units/members.csv"] = pd.DataFrame([line]).reindex(columns=TABLES["count_members"][0].names)
    attacks = {"": Attack((), linking, Binning(), metrics, members)}
    return gated.passed(drawn_records, policy, tables, after, attacks=attacks, known=known)


def told(seed, members, policy, folder):
    """The counts of a drawn study with units that its edition tells too closely."""
    study, known = drawn(seed), gated.KNOWN[seed % len(gated.KNOWN)]
    own = records(study, members, clusters=seed % 2 == 0)
    made = passed(study, members, own, policy, known)
    kind = partial(
        AttackerOfUnits, rows=len(own.codes) if "puf" in known else None, best=("taxicab", "euclidean", "adhoc")
    )
    return too_close(known, policy, own, made, folder, kind=kind)


@pytest.mark.parametrize(
    ("seed", "members"),
    [
        (0, "some"),
        pytest.param(0, "all", marks=pytest.mark.slow),
        pytest.param(1, "all", marks=pytest.mark.slow),
        pytest.param(1, "some", marks=pytest.mark.slow),
        pytest.param(2, "all", marks=pytest.mark.slow),
        pytest.param(2, "some", marks=pytest.mark.slow),
    ],
)
def test_no_count_of_units_is_told_closer_than_the_policy_allows(seed, members, tmp_path):
    for policy in ("opensafely", "midpoint-6"):
        assert told(seed, members, policy, tmp_path / policy) == []


@pytest.mark.long
@pytest.mark.parametrize("members", ["all", "some"])
@pytest.mark.parametrize("seed", range(40))
def test_all_policies_on_forty_studies_of_units(seed, members, tmp_path):
    for policy in POLICIES:
        assert told(seed, members, policy, tmp_path / policy) == [], policy
