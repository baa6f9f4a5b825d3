"""The names of columns of the study's own tables, which several modules must agree on."""

COUNTS = frozenset(
    {
        "n_puf", "n_eif", "n_links", "pairs", "start", "stop", "rows", "max_pairs", "n_pairs", "n_pufids",
        "n_suspected", "n_confirmed", "n_ambiguous", "n_confirmed_pairs",
    }
)  # fmt: skip
"""Columns of CSV tables that hold counts; all other columns are read as text."""

RESERVED = COUNTS | {"stratum", "shard", "score", "rank", "order", "confirmed", "variables"}
"""Names that keys and variables of a study must not have."""
