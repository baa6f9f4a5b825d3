"""The published file and table of an edition, made from statements and public counts alone (METHODS §11.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from reident.edition.statement import Statement
from reident.edition.study import Secret
from reident.edition.texts import Texts
from reident.pipeline.editions import Bound, EditionSettings
from reident.sections.edition import Edition
from reident.sections.release import Policy


def part(secret: Secret, statement: Statement, bounds: Sequence[Bound], policy: Policy, seed: str) -> dict[str, Any]:
    """Return what is published of a statement."""

    def rounded(name: str, n: int) -> str:
        return Texts(policy, f"{secret.about} {name}", seed).at(n).label

    suspected = secret.space.suspected.tolist()
    counts = [
        {
            "kind": quantity.kind,
            "metrics": quantity.metrics,
            "stratum": quantity.stratum,
            "suspected": rounded(" ".join(("suspected", quantity.kind, *quantity.metrics, quantity.stratum)), n),
            "first": told.first,
            "last": told.last,
            "at_least": told.at_least,
            "at_most": told.at_most,
            "digest": "" if told.at_least is told.at_most is None else digest,
        }
        for quantity, digest, n, told in zip(
            secret.quantities, secret.digests, suspected, statement.counts, strict=True
        )
    ]
    judged = [bound for bound in bounds if secret.largest(bound) is not None]
    limits = []
    for bound, limit in zip(judged, statement.limits, strict=True):
        at = secret.quantities.index(limit.quantity)
        method, level = bound.interval or (None, None)
        limits.append(
            {
                "limit": bound.limit,
                "count": at,
                "bound": bound.bound,
                "interval": method,
                "level": level,
                "outcome": "cannot be broken" if limit.largest >= suspected[at] else limit.outcome,
            }
        )
    return {
        "about": secret.about,
        "records": rounded("records", secret.records),
        "others": "" if secret.others is None else rounded("others", secret.others),
        "told": statement.is_safe,
        "counts": counts[: secret.published],
        "limits": limits,
    }


def edition(
    settings: EditionSettings,
    policy: Policy,
    parts: Sequence[Mapping[str, Any]],
    alone: Mapping[str, int] | None,
    free: int,
    earlier: Sequence[Edition],
    software: str,
) -> Edition:
    """Return the published file of an edition.

    Parameters
    ----------
    settings : EditionSettings
    policy : Policy
    parts : sequence
        As :func:`part`.
    alone : mapping, optional
        The counts that follow from the released file alone, exact, by the names of
        :class:`reident.sections.edition.FileAlone`.
    free : int
        M.
    earlier : sequence of Edition
        The earlier editions that the statements took into account.
    software : str
        The version of reident.
    """
    file = {name: Texts(policy, f"file {name}", settings.seed).at(n).label for name, n in (alone or {}).items()}
    return Edition.model_validate(
        {
            "format": "reident edition 2",
            "study": settings.study,
            "title": settings.heading.title,
            "agency": settings.heading.agency,
            "date": settings.heading.date,
            "language": settings.heading.language,
            "software": software,
            "counted": settings.counted,
            "policy": policy,
            "free": free,
            "one_to_one": settings.one_to_one,
            "released_means": settings.released_means,
            "variables": settings.variables,
            "strata": tuple(settings.strata),
            "metrics": settings.metrics,
            "file": file or None,
            "more_limits": settings.more_limits,
            "parts": tuple(parts),
            "after": tuple({"title": other.title, "date": other.date} for other in earlier),
        }
    )


def text(published: Edition) -> str:
    """Return the published file as JSON."""
    return json.dumps(published.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def table(published: Edition) -> pd.DataFrame:
    """Return the counts of an edition as a table, one line for each."""
    lines = [
        {
            "about": part.about,
            "count": count.kind,
            "metrics": " + ".join(count.metrics),
            "stratum": count.stratum,
            "suspected": count.suspected,
            "found_from": count.first or WITHHELD,
            "found_to": count.last or WITHHELD,
        }
        for part in published.parts
        for count in part.counts
    ]
    columns = ("about", "count", "metrics", "stratum", "suspected", "found_from", "found_to")
    return pd.DataFrame(lines, columns=list(columns))


WITHHELD = "not told"
"""What the table has where nothing is told: the count may be anything, none included."""
