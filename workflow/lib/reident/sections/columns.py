"""The names of columns of the study's own tables, which several modules must agree on."""

RESERVED = frozenset(
    {
        "agreeing", "carried_by", "confirmed", "confirming", "external_person", "max_pairs", "n_ambiguous",
        "n_confirmed", "n_confirmed_pairs", "n_eif", "n_links", "n_members", "n_pairs", "n_puf", "n_pufids",
        "n_suspected", "n_unique_sets", "order", "pairs", "prevented_by", "rank", "rows", "score", "source_row",
        "stratum", "unique_set", "unique_size", "variables",
    }
)  # fmt: skip
"""Names that keys and variables of a study must not have."""

MARK = "'"
"""What stands in CSV files for people before a text that a spreadsheet would take for a formula."""
