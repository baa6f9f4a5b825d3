"""The text of the report, and the sentences that it has."""

import re

from making.warnings import Sentence
from reident.report.blocks import brief, front, squares, warnings
from reident.report.results import Results

EVERY = ("unicity", "taxicab", "euclidean", "adhoc")
"""The metrics of a usual study."""
GRAVE = Sentence("understates", "Codes are missing.", 3, 0.03)
FATAL = Sentence("invalidates", "Rows do not correspond.")


def printed(text: str, sentences: dict[str, str]) -> set[str]:
    """Return the names of the sentences that a text has."""
    plain = " ".join(text.replace("\u00a0", " ").split())
    return {name for name, pattern in sentences.items() if re.search(pattern, plain)}


def front_page(study: Results) -> str:
    """Return the brief as far as it is about an attack."""
    blocks = (front.verdict(front.overall), warnings.grave_warnings, squares.strips, brief.product, brief.unseen)
    return "\n\n".join(str(block(study)) for block in blocks)
