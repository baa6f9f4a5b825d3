"""The tables that the steps make: where they are, their columns and types, and what of the sources they hold.

What reads or describes a table takes it from here: the ledger reads its columns by their types, the report and the
comparison read the tables that are marked for them, docs/DATA.md and docs/explanation/confidentiality.md list them.
"""

from reident.pipeline.tables.attribution import ASSESS_ATTRIBUTION, PREPARE_ATTRIBUTION
from reident.pipeline.tables.columns import WHOLE, Column, Count, Dimension, Kind, Lines, Rate, Table
from reident.pipeline.tables.larger import EXTRAPOLATE, THIN
from reident.pipeline.tables.linkage import (
    BIN,
    CONFIRM,
    EXPORT_CONFIRMED,
    PREPARE,
    RANK,
    SCORE,
    STRATIFY,
)
from reident.pipeline.tables.matching import MATCH, MEASURE_DISTANCES, PREPARE_MATCHING
from reident.pipeline.tables.population import MODEL_POPULATION
from reident.pipeline.tables.rates import AGREEMENTS, COMPARE_PROTECTION, RATE
from reident.pipeline.tables.release import EDITION, RELEASE
from reident.pipeline.tables.risk import (
    ASSESS_FILE,
    COMPARE_VARIANTS,
    COMPARED_COLUMNS,
    PREPARE_FILERISK,
    REPORT,
    SAMPLE_POPULATION,
)
from reident.pipeline.tables.scenarios import ASSESS_SCENARIOS
from reident.pipeline.tables.sources import (
    CHECKLIST,
    MICROAGGREGATE,
    POPULATE,
    RESOLVE,
    SIMULATE,
    SIMULATE_AMOUNTS,
    SYNTHESIZE,
)
from reident.pipeline.tables.together import JOIN_FILES
from reident.pipeline.tables.utility import MEASURE_UTILITY
from reident.pipeline.tables.verdict import JUDGE
from reident.pipeline.tables.weights import CALIBRATE, WEIGH
from reident.pipeline.tables.why import EXPLAIN, EXPORT_WHY, TRY_RECODINGS

__all__ = [
    "AGREEMENTS", "ASSESS_ATTRIBUTION", "ASSESS_FILE", "ASSESS_SCENARIOS", "BIN", "CALIBRATE", "CHECKLIST",
    "COMPARED_COLUMNS", "COMPARE_PROTECTION", "COMPARE_VARIANTS", "CONFIRM", "EDITION", "EXPLAIN", "EXPORT_CONFIRMED",
    "EXPORT_WHY", "EXTRAPOLATE", "JOIN_FILES", "JUDGE", "MATCH", "MEASURE_DISTANCES", "MEASURE_UTILITY",
    "MICROAGGREGATE", "MODEL_POPULATION", "POPULATE", "PREPARE", "PREPARE_ATTRIBUTION", "PREPARE_FILERISK",
    "PREPARE_MATCHING", "RANK", "RATE", "RELEASE", "REPORT", "RESOLVE", "SAMPLE_POPULATION", "SCORE", "SIMULATE",
    "SIMULATE_AMOUNTS", "STRATIFY", "SYNTHESIZE", "THIN", "TRY_RECODINGS", "WEIGH", "WHOLE", "Column", "Count",
    "Dimension", "Kind", "Lines", "Rate", "Table",
]  # fmt: skip
