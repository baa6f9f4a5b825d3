"""Every relation between published counts holds in every study (METHODS §2, §5–§8, §11)."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from making.studies import gathered, in_clusters, in_strata, manifest, study
from reident.filerisk.uniques import conventions
from reident.linkage import clusters, confirmation, ranking, rates
from reident.linkage.metrics import REGISTRY
from reident.matching.summary import CLASSES
from reident.pipeline import step_settings
from reident.release.cells import Cell, Published
from reident.release.facts import Facts, LimitOutcome
from reident.release.relations import relations

KEEP = 6
ATTACK = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
FILES = ("n_puf", "n_eif", "n_links")


def broken(counts, facts):
    """The relations that the counts violate, hidden counts being as is best for each relation alone."""
    published = {cell: Published(str(count), count, count, count) for cell, count in counts.items()}
    found = []
    for row in relations(published, facts):
        if row.terms.keys() <= counts.keys():
            total = sum(factor * counts[cell] for cell, factor in row.terms.items())
            if not row.low <= total <= row.high:
                found.append((row.name, row.terms))
    return found


@st.composite
def attacks(draw):
    """Records in strata or in none, clusters, links, and pairs with scores of few levels."""
    n_strata = draw(st.integers(1, 3))
    stratified = n_strata > 1 or draw(st.booleans())
    place = st.sampled_from([None, *range(n_strata)]) if stratified else st.just(0)
    puf = draw(st.lists(place, min_size=1, max_size=7))
    eif = draw(st.lists(place, min_size=1, max_size=7))
    puf[0] = eif[0] = 0
    cluster = [draw(st.integers(0, 3)) for _ in puf]
    all_pairs = list(product(range(len(puf)), range(len(eif))))
    links = sorted(draw(st.sets(st.sampled_from(all_pairs), max_size=6)))
    inside = [(p, e) for p, e in all_pairs if puf[p] is not None and puf[p] == eif[e]]
    scores = {pair: draw(st.integers(0, 3)) for pair in inside}
    return n_strata, stratified, puf, eif, cluster, links, {pair: s for pair, s in scores.items() if s}


def counted(case, max_pairs):
    """The counts of a study by the library, metric by metric."""
    n_strata, _, puf, eif, cluster, links, scores = case
    lines = manifest(
        *(
            (f"s{at}", puf.count(at), eif.count(at), sum(puf[p] == eif[e] == at for p, e in links))
            for at in range(n_strata)
        )
    )
    strata = {"puf": in_strata(*puf), "eif": in_strata(*eif)}
    iuf = pa.table({side: pa.array([pair[at] for pair in links], pa.int32()) for at, side in enumerate(("puf", "eif"))})
    options = study(metrics={"taxicab": {}}, rank_filter={"max_pairs": max_pairs, "keep": KEEP})
    kept = []
    for record in range(len(puf)):
        own = sorted((score, e) for (p, e), score in scores.items() if p == record)
        first = sum(score == own[0][0] for score, _ in own) if own else 0
        good = [(s, e) for s, e in own if sum(other <= s for other, _ in own) <= KEEP]
        kept += [(record, e, float(s)) for s, e in good] if first <= KEEP else [(record, None, None)]
    columns = list(zip(*kept, strict=True)) or [[], [], []]
    types = (pa.int32(), pa.int32(), pa.float64())
    pairs = pa.table({name: pa.array(c, t) for name, c, t in zip(("puf", "eif", "score"), columns, types, strict=True)})
    suspected, _ = gathered(ranking.rank, REGISTRY["taxicab"], [pairs], strata["puf"], lines)
    keys = {
        "puf": pa.table({"p": [str(at) for at in range(len(puf))]}),
        "eif": pa.table({"e": [str(at) for at in range(len(eif))]}),
    }
    _, positions, limits = gathered(
        confirmation.confirm,
        step_settings.confirming(options),
        REGISTRY["taxicab"],
        suspected,
        keys,
        iuf,
        strata["puf"],
        lines,
        sinks=2,
    )
    rating = step_settings.rating(options)
    table = rates.rate(rating, {}, iuf, strata, lines, {"taxicab": positions}, {"taxicab": limits})
    groups = clusters.rate(rating, in_clusters(*cluster), strata["puf"], lines, {"taxicab": positions})
    counts = {}
    for line in table.to_dict("records"):
        base = Cell("", metric="taxicab", stratum=line["stratum"], rank_limit=max_pairs)
        counts |= {base._replace(quantity=name): int(line[name]) for name in ATTACK}
        counts |= {base._replace(quantity=name, metric="", rank_limit=0): int(line[name]) for name in FILES}
    for line in limits[limits["stratum"] == "ALL"].to_dict("records"):
        base = Cell("", metric="taxicab", rank_limit=line["max_pairs"])
        counts |= {base._replace(quantity=name): int(line[name]) for name in ATTACK[:3]}
    for line in groups.to_dict("records"):
        base = Cell("", metric="taxicab", stratum=line["stratum"], rank_limit=max_pairs)
        counts[base._replace(quantity="n_clusters", metric="", rank_limit=0)] = int(line["n_clusters"])
        for name in ("suspected", "confirmed"):
            counts[base._replace(quantity=f"clusters_{name}")] = int(line[f"n_{name}"])
    return counts


@given(attacks(), st.integers(1, 3), st.integers(1, KEEP), st.integers(0, 100))
def test_relations_of_the_attack_hold(case, one, other, percent):
    """Two rank limits: that of the study, and that of a variant with the same files and the same attack."""
    n_strata, stratified, puf, _, cluster, _, _ = case
    counts = counted(case, one)
    variant = {cell: count for cell, count in counted(case, other).items() if cell.rank_limit in (0, other)}
    counts |= {cell._replace(variant="v"): count for cell, count in variant.items() if cell.stratum == "ALL"}
    before = {cell: count for cell, count in counts.items() if cell.stratum == "ALL" and not cell.variant}
    counts |= {cell._replace(file="before"): count for cell, count in before.items()}
    places = [{puf[at] for at in range(len(puf)) if cluster[at] == own} for own in set(cluster)]
    part, whole = (Cell(name, metric="taxicab", rank_limit=one) for name in ("n_confirmed", "n_suspected"))
    passes = 100 * counts[part] <= percent * counts[whole]
    facts = Facts(
        strata=tuple(f"s{at}" for at in range(n_strata)),
        stratified=stratified,
        puf_in_strata=all(at is not None for at in puf),
        same_files=frozenset({"v"}),
        same_attack=frozenset({("v", "taxicab")}),
        nested_clusters=all(len(own) == 1 for own in places),
        outcomes=(
            LimitOutcome(part, whole, percent / 100, "passes" if passes else "breaks"),
            LimitOutcome(part, None, 2, "passes" if counts[part] <= 2 else "breaks"),
        ),
    )
    assert not broken(counts, facts)
    assert not broken({cell: n for cell, n in counts.items() if cell.stratum != "s0"}, facts)


@given(st.lists(st.tuples(*[st.integers(-1, 1)] * 3), min_size=1, max_size=14))
def test_relations_of_one_file_hold(records):
    codes = np.array(records, np.int32)
    counts = {Cell("n_puf"): len(records)}
    names = {"n_records": "file_records"}
    for line in conventions(codes, (2, 3, 5)).to_dict("records"):
        for column in ("n_records", "below_2", "below_3", "below_5"):
            counts[Cell(names.get(column, column), other=line["convention"])] = int(line[column])
    category = np.where(codes < 0, 2, codes)
    for name, rows in (("excluded", codes[(codes >= 0).all(axis=1)]), ("category", category)):
        sizes = np.unique(rows, axis=0, return_counts=True)[1]
        for size in (2, 3, 4, 5, 6, 7, 8, 9):
            counts[Cell(f"cells_of_{size}", other=name)] = int((sizes == size).sum())
        for size in sizes[sizes > 9]:  # a larger cell is a sum of smaller ones
            for piece in (5, int(size) - 5):
                counts[Cell(f"cells_of_{piece}", other=name)] += 1
    assert not broken(counts, Facts(file_is_puf=True))


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.integers(0, 6), st.booleans()), max_size=12))
def test_relations_of_matching_hold(targets):
    """The second scenario has further known variables: no more matches, and the own record only if it was one."""
    counts = {}
    wide = [(c, own and c > 0) for c, own, _, _ in targets]
    tight = [
        (max(min(c - less, c), int(own and stays), 0), own and stays)
        for (c, own), (_, _, less, stays) in zip(wide, targets, strict=True)
    ]
    own_file = [(c, c > 0) for c, _ in wide]
    for name, rows in {"few|1": wide, "many|1": tight, "few|confidential": own_file}.items():
        for low, high in CLASSES:
            inside = [own for c, own in rows if low <= c <= (math.inf if high is None else high)]
            other = f"{name}|{low}|{'' if high is None else high}"
            counts[Cell("match_targets", other=other)] = len(inside)
            counts[Cell("match_own", other=other)] = sum(inside)
    counts[Cell("matching_targets")] = len(targets)
    assert not broken(counts, Facts(nested_scenarios=(("few", "many"),)))


def test_relations_do_not_depend_on_the_order_of_cells():
    cells = [Cell(name, metric="m", stratum=s, rank_limit=5) for name in ATTACK for s in ("ALL", "a", "b")]
    facts = Facts(strata=("a", "b"))
    assert relations(cells, facts) == relations(cells[::-1], facts)
    frame = pd.DataFrame([row.name for row in relations(cells, facts)])
    assert frame[0].str.contains("sum to the total").sum() == len(ATTACK)
