"""The tables that the steps make: where they are, their columns and types, and what of the sources they hold.

What reads or describes a table takes it from here: the ledger reads its columns by their types, the report and the
comparison read the tables that are marked for them, docs/DATA.md and README list them.
"""

from reident.pipeline.tables.columns import WHOLE, Column, Lines, Table
from reident.pipeline.tables.linkage import (
    AGREEMENTS,
    BIN,
    CONFIRM,
    DESCRIBE,
    PREPARE,
    RANK,
    RATE,
    SCORE,
    STRATIFY,
)
from reident.pipeline.tables.risk import (
    ASSESS_FILE,
    COMPARE,
    COMPARED_COLUMNS,
    MATCH,
    PREPARE_FILERISK,
    PREPARE_MATCHING,
    REPORT,
    SAMPLE_POPULATION,
)
from reident.pipeline.tables.sources import (
    MICROAGGREGATE,
    POPULATE,
    RESOLVE,
    SIMULATE,
    SIMULATE_AMOUNTS,
    SYNTHESIZE,
)

__all__ = [
    "AGREEMENTS", "ASSESS_FILE", "BIN", "COMPARE", "COMPARED_COLUMNS", "CONFIRM", "DESCRIBE", "MATCH",
    "MICROAGGREGATE", "POPULATE", "PREPARE", "PREPARE_FILERISK", "PREPARE_MATCHING", "RANK", "RATE", "REPORT",
    "RESOLVE", "SAMPLE_POPULATION", "SCORE", "SIMULATE", "SIMULATE_AMOUNTS", "STRATIFY", "SYNTHESIZE", "WHOLE",
    "Column", "Lines", "Table",
]  # fmt: skip
