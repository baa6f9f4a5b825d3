"""`reident.statement`: what may be told of an attack in public (METHODS §11)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Hashable, Mapping, Set
from pathlib import Path

from reident.api.linked import AttackTables
from reident.edition import Statement, state
from reident.errors import InputError
from reident.sections.release import Policy
from reident.study import rounding


def statement(
    result: AttackTables,
    *,
    policy: str | os.PathLike[str] | Policy,
    limits: Mapping[str, int] | None = None,
    seed: str | None = None,
    one_to_one: bool = True,
) -> Statement:
    """Return what may be told of an attack to a public that has both files.

    Its counts are of the PUF records found by ``any`` metric, by each metric, by ``all`` of them, and with a single
    candidate (``single taxicab``).

    Parameters
    ----------
    result : AttackTables
        As :func:`reident.attack` returns it.
    policy : str, path-like or Policy
        The name of a bundled rounding policy, the path of a file with one, which ends in `.yaml`, or a policy.
    limits : mapping, optional
        By count, the largest one with which the study is within the limit.
    seed : str, optional
        The secret of a policy with random rounding.
    one_to_one : bool
        Whether readers may take it that no two PUF records are of one person.

    Returns
    -------
    Statement
        Everything that is published, what is withheld included; equal statements are published alike.

    Raises
    ------
    reident.InputError
        If a limit is on something that is not counted, or the policy needs a seed.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> puf = pd.DataFrame({"id": range(400), "place": range(400)})
    >>> eif = puf.rename(columns={"id": "name"})
    >>> links = pd.DataFrame({"id": range(130), "name": range(130)})
    >>> result = reident.attack(puf, eif, links, variables={"place": "categorical"}, metrics=["taxicab"])
    >>> found = reident.statement(result, policy="census-drb", limits={"taxicab": 200})
    >>> found.counts[0].quantity, found.counts[0].first, found.counts[0].last, found.limits[0].outcome
    ('taxicab', '150', '150', 'within')
    """
    if not isinstance(result, AttackTables):
        raise TypeError(f"`result` must be what `reident.attack` returns, not {type(result).__name__}")
    metrics = result.public_metrics
    pairs: dict[tuple[Hashable, Hashable], set[str]] = defaultdict(set)
    links = set()
    for name in metrics:
        lines = result.confirmed[name]
        puf, eif = (list(lines[list(result.keys[side])].itertuples(index=False, name=None)) for side in ("puf", "eif"))
        sizes: dict[Hashable, int] = defaultdict(int)
        for record in puf:
            sizes[record] += 1
        for record, other, confirmed in zip(puf, eif, lines["confirmed"], strict=True):
            pairs[record, other] |= {name, *(["any"] if len(metrics) > 1 else [])}
            if sizes[record] == 1:
                pairs[record, other].add(f"single {name}")
            if confirmed:
                links.add((record, other))
    for names in pairs.values():
        if len(metrics) > 1 and names >= set(metrics):
            names.add("all")
    counted = {*metrics, *(f"single {name}" for name in metrics), *(("any", "all") if len(metrics) > 1 else ())}
    _check_limits(limits or {}, counted)
    try:
        return state(pairs, links, _policy(policy), list((limits or {}).items()), seed, one_to_one=one_to_one)
    except ValueError as error:
        raise InputError(f"`policy` {error}") from None


def _check_limits(limits: Mapping[str, int], counted: Set[str]) -> None:
    if not isinstance(limits, Mapping):
        raise TypeError(f"`limits` must be a mapping of counts to integers, not {type(limits).__name__}")
    for name, largest in limits.items():
        if name not in counted:
            raise InputError(f"`limits`: `{name}` must be one of {', '.join(f'`{one}`' for one in sorted(counted))}.")
        if isinstance(largest, bool) or not hasattr(largest, "__index__") or largest < 0:
            raise InputError(f"`limits`: the limit of `{name}` must be an integer of at least 0. Correct it.")


def _policy(policy: str | os.PathLike[str] | Policy) -> Policy:
    """Return a policy: a bundled one by its name, or that of a file."""
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, str | os.PathLike):
        raise TypeError(f"`policy` must be the name of a policy, a path or a policy, not {type(policy).__name__}")
    if isinstance(policy, os.PathLike) or policy.endswith(".yaml"):
        return rounding.load(Path(policy))
    bundled = {path.stem: path for path in sorted(rounding.FOLDER.glob("*.yaml"))}
    if policy not in bundled:
        choices = [*(f"`{name}`" for name in bundled), "the path of a file that ends in `.yaml`"]
        raise InputError(f"`policy` must be {' or '.join(choices)}. Correct it.")
    return rounding.load(bundled[policy])
