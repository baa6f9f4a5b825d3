"""A published number: its identity, and the text that is published (METHODS §11)."""

from __future__ import annotations

from typing import NamedTuple

from reident.linkage.settings import WHOLE

SUPPRESSED = "x"
"""What stands where a count is suppressed to protect another one."""

FILES = ("n_puf", "n_eif", "n_links")
"""Counts that do not depend on the metric."""

ATTACK = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
"""Counts of PUF records that are in a stratum."""

CLUSTERS = ("n_clusters", "clusters_suspected", "clusters_confirmed")


class Cell(NamedTuple):
    """The identity of a published count. Equal cells of several tables are one number."""

    quantity: str  # what is counted, as the columns of the tables are called: ``n_suspected``
    # The file that is attacked: ``released``, or ``before`` protection.
    file: str = "released"
    variant: str = ""  # the id of the variant; empty for the study itself
    metric: str = ""  # empty where the count is not about a metric
    stratum: str = WHOLE  # the label of the stratum; by default the whole study
    rank_limit: int = 0  # 0 where no rank limit applies
    other: str = ""  # what else tells two counts of the quantity apart


class Published(NamedTuple):
    """A published count: its text, and the counts with this text."""

    text: str  # as it is printed: ``1200``, ``<15``, or :data:`SUPPRESSED`
    value: int | None  # the rounded count; None where no number is published
    # The smallest and the largest count that the policy publishes as this text.
    low: int
    high: int
