"""Explanation of confirmed records: the variables that carry the claims, and preventive changes (METHODS §6.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import batches, counterfactual
from reident.linkage.attack import AttackFiles
from reident.linkage.attack_settings import ExplanationSettings, SearchSettings
from reident.linkage.counterfactual import Pairs
from reident.linkage.links import Links, numbers
from reident.linkage.pairing import encode
from reident.linkage.rates import share
from reident.linkage.recodings import Change, changes
from reident.linkage.strata import links_inside, stratum_of_records
from reident.linkage.unique_sets import SmallestSets, smallest_sets

if TYPE_CHECKING:
    from reident.linkage.batches import Source
    from reident.linkage.metrics.contract import ScoringContext


class Explanation(NamedTuple):
    """Tables: the confirmed pairs with the variables that carry them; coarser values; linking variables."""

    pairs: pa.Table
    recodings: pd.DataFrame
    variables: pd.DataFrame


def explain(
    settings: ExplanationSettings,
    metric: str,
    files: AttackFiles,
    positions: Mapping[str, Source],
    context: ScoringContext,
) -> Explanation:
    """Find the variables that carry each confirmed pair of a metric, and the changes that would have prevented it.

    The prepared tables have their keys; `positions` are the suspected pairs by metric, as
    :func:`reident.linkage.confirmation.confirm` leaves them.

    Returns
    -------
    Explanation
        With the columns that `columns.csv` declares; the pairs are sorted by their keys.
    """
    confirmed = {name: _confirmed(source) for name, source in positions.items()}
    pairs, variables = confirmed[metric], settings.attack.variables
    tried = changes(variables, settings.recodings, files.prepared["puf"], settings.coarsened)
    lost, recodings = _effects(settings.attack, metric, files, pairs, tried, context, _linked(files))
    sets, agree = _unique_sets(settings, files, pairs)
    left_out = np.array([change.coarsening is None for change in tried], bool)
    names = [variable.name for variable in variables]
    texts = {
        "carried_by": joined(lost[:, left_out], names, "+"),
        "prevented_by": joined(
            lost[:, ~left_out],
            [f"{change.variable}: {change.title}" for change in tried if change.coarsening is not None],
            "; ",
        ),
        "agreeing": joined(agree, names, "+"),
        "unique_set": _first_sets(sets, names),
        "unique_size": pa.array(sets.size, mask=sets.size == 0),
        "n_unique_sets": pa.array(sets.n_sets),
        "confirming": joined(
            np.stack([np.isin(numbers(*pairs), numbers(*metric_pairs)) for metric_pairs in confirmed.values()], axis=1),
            list(confirmed),
            "+",
        ),
    }
    return Explanation(
        pa.table({**_keyed(settings, files, pairs), **texts}),
        recodings,
        _variables(names, recodings[left_out], pairs, agree, sets),
    )


def prevented(
    settings: SearchSettings,
    metric: str,
    files: AttackFiles,
    source: Source,
    tried: Sequence[Change],
    context: ScoringContext,
) -> pd.DataFrame:
    """Return the share of the confirmed records of a metric that each change would have prevented.

    The source holds the suspected pairs of the metric by row number. The table has the columns variable, recoding and
    prevented_rate.
    """
    pairs = _confirmed(source)
    confirmed = _marked(files, pairs.puf)
    _, recodings = _effects(settings, metric, files, pairs, tried, context, confirmed)
    return recodings[["variable", "recoding", "prevented_rate"]]


def _confirmed(source: Source) -> Pairs:
    """Return the confirmed pairs of a metric, by PUF record and then EIF record."""
    tables = [batch.filter(batch["confirmed"]) for batch in batches.split(source)]
    puf, eif = (np.concatenate([table[name].to_numpy() for table in tables]).astype(np.int64) for name in Pairs._fields)
    order = np.lexsort((eif, puf))
    return Pairs(puf[order], eif[order])


def _marked(files: AttackFiles, puf: np.ndarray) -> np.ndarray:
    """Return a mark for each PUF record: whether it is among the given ones."""
    marks = np.zeros(files.prepared["puf"].num_rows, bool)
    marks[puf] = True
    return marks


def _linked(files: AttackFiles) -> np.ndarray:
    """Return the PUF records with a true link to an EIF record of their stratum: no other can be confirmed."""
    inside = links_inside(files.iuf, stratum_of_records(files.strata["puf"]), stratum_of_records(files.strata["eif"]))
    return _marked(files, files.iuf["puf"].to_numpy()[inside])


def _effects(
    settings: SearchSettings,
    metric: str,
    files: AttackFiles,
    pairs: Pairs,
    tried: Sequence[Change],
    context: ScoringContext,
    records: np.ndarray,
) -> tuple[np.ndarray, pd.DataFrame]:
    """Return whether each change prevents confirmed pairs, bool (m, changes), and its line about the marked records."""
    before, links = _marked(files, pairs.puf), Links(files.iuf)
    n_confirmed, lost = int(before.sum()), np.zeros((len(pairs.puf), len(tried)), bool)
    table = []
    for at, change in enumerate(tried):
        n_prevented = n_new = 0
        if records.any():
            recoding = {change.variable: change.coarsening}
            recoded = counterfactual.recode(settings, files, recoding)
            new_pairs = counterfactual.NO_PAIRS
            if recoded is not None:
                new_pairs = counterfactual.suspected(*recoded, metric, records, context)
            lost[:, at] = ~np.isin(numbers(*pairs), numbers(*new_pairs))
            after = _marked(files, new_pairs.puf[links.hold(pa.table(new_pairs._asdict()))])
            n_prevented, n_new = int((before & ~after).sum()), int((after & ~before).sum())
            if context.progress is not None:
                context.progress((at + 1) / len(tried))
        table.append(
            {
                "variable": change.variable,
                "recoding": change.title,
                "n_confirmed": n_confirmed,
                "n_prevented": n_prevented,
                "prevented_rate": share(n_prevented, n_confirmed),
                "n_newly_confirmed": n_new,
                "net_change": n_new - n_prevented,
            }
        )
    return lost, pd.DataFrame(table).astype({"prevented_rate": float})


def _unique_sets(settings: ExplanationSettings, files: AttackFiles, pairs: Pairs) -> tuple[SmallestSets, np.ndarray]:
    """Return the smallest unique sets of each pair, and the variables on which its records agree."""
    records, _ = encode(settings.attack.variables, files.binned or {})
    puf, eif = (records[side].codes[getattr(pairs, side)] for side in ("puf", "eif"))
    agree = (puf == eif) & (puf >= 0)
    return smallest_sets(
        records["eif"].codes, stratum_of_records(files.strata["eif"]), pairs.eif, agree, settings.max_size
    ), agree


def joined(which: np.ndarray, names: Sequence[str], separator: str) -> pa.Array:
    """Return, for each row of bool (m, k), the names of the columns that are true; empty text where none is."""
    if not which.size:
        return pa.array([""] * len(which), pa.string())
    distinct, place = np.unique(np.packbits(which, axis=1), axis=0, return_inverse=True)
    rows = np.unpackbits(distinct, axis=1, count=which.shape[1]).astype(bool)
    texts = [separator.join(name for name, member in zip(names, row, strict=True) if member) for row in rows]
    return pa.array(texts, pa.string()).take(pa.array(place.reshape(-1)))


def _first_sets(sets: SmallestSets, names: Sequence[str]) -> pa.Array:
    texts = ["", *("+".join(names[at] for at in members) for members in sets.sets)]
    return pa.array(texts, pa.string()).take(pa.array(sets.first + 1))


def _keyed(settings: ExplanationSettings, files: AttackFiles, pairs: Pairs) -> dict[str, Any]:
    """Return the keys and the stratum of each pair."""
    columns: dict[str, Any] = {}
    for side, names in settings.keys.items():
        records = files.prepared[side].select(list(names)).take(pa.array(getattr(pairs, side)))
        columns |= {name: records[name] for name in records.column_names}
    stratum = pa.array(files.manifest["stratum"].astype(object), pa.string())
    return columns | {"stratum": stratum.take(pa.array(stratum_of_records(files.strata["puf"])[pairs.puf]))}


def _variables(
    names: Sequence[str], left_out: pd.DataFrame, pairs: Pairs, agree: np.ndarray, sets: SmallestSets
) -> pd.DataFrame:
    """Return one line per linking variable: the claims that it carries, and its share of the smallest unique sets."""
    unique = sets.size > 0
    shares = sets.containing[unique] / sets.n_sets[unique, np.newaxis]
    return pd.DataFrame(
        {
            "variable": list(names),
            "n_confirmed": left_out["n_confirmed"].to_numpy(),
            "n_carried": left_out["n_prevented"].to_numpy(),
            "carried_rate": left_out["prevented_rate"].to_numpy(),
            "n_pairs": len(pairs.puf),
            "n_agree": agree.sum(axis=0),
            "n_unique": int(unique.sum()),
            "unique_share": [share(math.fsum(column), int(unique.sum())) for column in shares.T.tolist()],
        }
    ).astype({"unique_share": float})
