"""The records that make a true link of unicity fail: others in its cell of the file (METHODS §6.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pyarrow as pa

from reident.kernels.keysets import number_cells
from reident.linkage.pairing import Comparison
from reident.linkage.strata import links_inside, stratum_of_records

NEVER = 2**30
"""The rivals of a link that unicity finds in no file: its PUF record is not unique where the two records agree."""


def rivals_of_uniques(
    comparison: Comparison,
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    sets: Literal["all", "full", "jointly_observed"],
) -> np.ndarray:
    """Count the rivals of each PUF record: the fewest over its true links, :data:`NEVER` where none can be found.

    The files of the comparison are binned.

    Returns
    -------
    int64 (n_puf,)

    Notes
    -----
    A record that is unique on some variables is unique on all sets that contain them and that it has. One set
    therefore decides a link, the largest: the variables on which its two records agree. The pair is suspected if the
    PUF record is unique on it and the EIF record has no rival, another record of the EIF in the same cell.
    """
    stratum = stratum_of_records(strata["puf"])
    inside = links_inside(iuf, stratum, stratum_of_records(strata["eif"]))
    puf, eif = (iuf[side].to_numpy()[inside] for side in ("puf", "eif"))
    rivals = np.full(len(stratum), NEVER, np.int64)
    for line in np.unique(stratum[puf]).tolist():
        links = np.flatnonzero(stratum[puf] == line)
        pairing = comparison.pairing(line)
        places = [
            np.searchsorted(comparison.rows(side, line), rows[links]) for side, rows in (("puf", puf), ("eif", eif))
        ]
        link_rivals = _link_rivals(pairing.puf.codes, pairing.eif.codes, places[0], places[1], sets)
        np.minimum.at(rivals, puf[links], link_rivals)
    return rivals


def _link_rivals(p: np.ndarray, e: np.ndarray, at_p: np.ndarray, at_e: np.ndarray, sets: str) -> np.ndarray:
    """Count the rivals of the links of a stratum; int64 (links,)."""
    jointly = (p[at_p] >= 0) & (e[at_e] >= 0)
    agree = jointly & (p[at_p] == e[at_e])
    possible = agree.any(axis=1)
    if sets == "full":
        possible &= agree.all(axis=1)
    elif sets == "jointly_observed":
        possible &= (agree == jointly).all(axis=1)
    rivals = np.full(len(at_p), NEVER, np.int64)
    patterns, group = np.unique(agree[possible], axis=0, return_inverse=True)
    chosen = np.flatnonzero(possible)
    for number, pattern in enumerate(patterns):
        members = chosen[group.reshape(-1) == number]
        columns = list(np.concatenate([p[:, pattern], e[:, pattern]]).T)
        cell, n_cells = number_cells(columns, [int(column.max()) + 1 for column in columns])
        size = [np.bincount(side[side >= 0], minlength=n_cells) for side in np.split(cell, [len(p)])]
        at = cell[at_p[members]]
        rivals[members] = np.where(size[0][at] == 1, size[1][at] - 1, NEVER)
    return rivals
