"""A published number: which one it is, and what is published of it (METHODS §11)."""

from __future__ import annotations

from typing import NamedTuple

SUPPRESSED = "x"
"""What stands where a count is suppressed to protect another one."""

FILES = ("n_puf", "n_eif", "n_links")
"""Counts that do not depend on the metric."""

ATTACK = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
"""Counts of PUF records that are in a stratum."""

CLUSTERS = ("n_clusters", "clusters_suspected", "clusters_confirmed")


class Cell(NamedTuple):
    """Which count a published number is. Equal cells of several tables are one number.

    Attributes
    ----------
    quantity : str
        What is counted, as the columns of the tables are called: ``n_suspected``.
    file : {'released', 'before'}
        The file that is attacked: as it is released, or before protection.
    variant : str
        The id of the variant; empty for the study itself.
    metric : str
        Empty where the count is not about a metric.
    stratum : str
        The label of the stratum; ``ALL`` for the whole study.
    rank_limit : int
        0 where no rank limit applies.
    other : str
        What else tells two counts of the quantity apart.
    """

    quantity: str
    file: str = "released"
    variant: str = ""
    metric: str = ""
    stratum: str = "ALL"
    rank_limit: int = 0
    other: str = ""


class Published(NamedTuple):
    """What is published of a count.

    Attributes
    ----------
    text : str
        As it is printed: ``1200``, ``<15``, or :data:`SUPPRESSED`.
    value : int or None
        The rounded count; None where no number is published.
    low, high : int
        The smallest and the largest count that the policy publishes as this text.
    """

    text: str
    value: int | None
    low: int
    high: int
