"""The warnings of the checks, made from the table of findings (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from reident.intake.severity import StudyWarning
from reident.language.messages import Fields, words
from reident.linkage.metrics import REGISTRY

CONVERSION = "conversion"
"""The warning of numbers that are nearer to each other after a conversion, whatever its kind."""

KINDS = {
    **dict.fromkeys(("scale", "offset", "reversed", "linear"), (CONVERSION, "variable n proposal")),
    "coarser": ("coarser", "variable n share chance proposal"),
    "monotone": ("monotone", "variable n share"),
    "no_better_than_chance": ("no_better_than_chance", "variable n"),
    "recode": ("recode", "variable n chance share"),
    "trend": ("trend", "variable n share"),
    "part_offset": ("part_offset", "variable n share proposal"),
    "exchanged": ("exchanged", "variable n share"),
    "coarse_dates": ("coarse_dates", "variable n share"),
    "second_scale": ("second_scale", "variable share n proposal"),
    "spread_code_puf": ("spread_code_puf", "variable share n"),
    "spread_code_eif": ("spread_code_eif", "variable share n"),
    "ranges": ("ranges", "variable share"),
    "part": ("part", "variable n share chance part"),
    "values_without_link": ("values_without_link", "variable n share"),
    "join": ("join", "variable n"),
    "unique_join": ("join", "variable n"),
    "first_join": ("join", "variable n"),
    "distance": ("distance", "variable share"),
    "partners_by_chance": ("partners_by_chance", "n"),
    "wrong_links": ("wrong_links", "share n"),
    "units_split": ("units_split", "share n"),
    "links_missing": ("links_missing", "share n"),
    "links_dropped": ("links_dropped", "share n"),
    "repeats": ("repeats", "variable share chance"),
    "near_repeats": ("near_repeats", "variable share chance"),
    "few_links": ("few_links", "n"),
    "few_linked_units": ("few_linked_units", "n"),
    "groups": ("groups", "variable n share proposal"),
    "order": ("order", "order n share"),
    "order_of_values": ("order_of_values", "order variable n share"),
}
"""The code of the warning of a check, and its fields; links outside the strata have their own (METHODS §2)."""

_FILES = {"puf": "PUF", "eif": "EIF"}
_ABOUT_LINKS = frozenset({"wrong_links", "links_dropped"})


def in_words(metric: str) -> str:
    """Return the value of a field of a warning for a metric: its code, or the title of one that a user made."""
    return metric if metric in words("metric") else REGISTRY[metric].title


def warned(checks: pd.DataFrame) -> Iterator[StudyWarning]:
    """Yield the warnings of the table of checks."""
    for row in checks.itertuples():
        if row.severity and row.check in KINDS:
            code, names = KINDS[row.check]
            values: Fields = {
                "variable": _FILES.get(row.scope, row.scope),
                "n": int(row.n),
                "share": float(row.statistic),
                "chance": float(row.chance),
                "proposal": row.proposal,
                "order": row.proposal,
                "part": row.proposal,
            }
            of_links = row.check in _ABOUT_LINKS
            affected = (round(row.statistic * row.n), float(row.statistic)) if of_links else (None, None)
            yield StudyWarning(row.severity, code, {name: values[name] for name in names.split()}, *affected)
