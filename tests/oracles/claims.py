"""The oracle's claims (METHODS §6): a suspected record has candidates, and an intruder must name one of them."""

from collections import defaultdict
from fractions import Fraction

import pyarrow.parquet as pq


def claims(pairs):
    """{pufid: [(level, whether the pair is a true link)]} of pairs (pufid, level, true link); a low level is better."""
    candidates = defaultdict(list)
    for pufid, level, true in pairs:
        candidates[pufid].append((level, true))
    return candidates


def figures(candidates, linked):
    """The columns of rates.csv on claims; `linked` are the pufids with a true link to any EIF record."""
    correct = best_correct = Fraction(0)
    single = single_confirmed = outside = 0
    for pufid, own in candidates.items():
        best = [true for level, true in own if level == min(own)[0]]
        correct += Fraction(sum(true for _, true in own), len(own))
        best_correct += Fraction(sum(best), len(best))
        if len(own) == 1:
            single += 1
            single_confirmed += own[0][1]
        outside += pufid not in linked
    n = len(candidates)
    return {
        "expected_correct": correct,
        "expected_correct_rate": correct / n if n else None,
        "best_rank_correct": best_correct,
        "best_rank_correct_rate": best_correct / n if n else None,
        "n_single": single,
        "n_single_confirmed": single_confirmed,
        "single_rate": Fraction(single_confirmed, single) if single else None,
        "n_false_outside": outside,
    }


def from_files(results, metric, puf_key):
    """{stratum: figures} by `confirmed/{metric}.parquet` and the links by row number of a folder of results."""
    pairs = pq.read_table(results / "confirmed" / f"{metric}.parquet").to_pylist()
    keys = pq.read_table(results / "prepared" / "puf.parquet", columns=puf_key).to_pylist()
    links = pq.read_table(results / "prepared" / "iuf.parquet").to_pylist()
    linked = {tuple(keys[link["puf"]].values()) for link in links}
    level = "order" if metric == "unicity" else "rank"
    strata = {"ALL", *(pair["stratum"] for pair in pairs)}
    return {
        stratum: figures(
            claims(
                (tuple(pair[name] for name in puf_key), pair[level], pair["confirmed"])
                for pair in pairs
                if stratum in ("ALL", pair["stratum"])
            ),
            linked,
        )
        for stratum in strata
    }
