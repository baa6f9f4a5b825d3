"""Make the glossary: the terms of the analyses that the study has, by name."""

from __future__ import annotations

from reident.report.layout import block, paragraphs, part
from reident.report.results import RESOLVED, Results
from reident.report.sentences import Sentences

TEXT = Sentences("glossary")
READ = {
    "attack": "rates.csv",
    "matching": "matching/summary.csv",
    "risk": "filerisk/summary.csv",
    "models": "filerisk/population.csv",
    "scenarios": "filerisk/scenarios.csv",
    "attribution": "attribution/summary.csv",
    "utility": "utility/summary.csv",
}
"""The table that a study with this kind of analysis has."""
ASKED = {"why": "why"}
"""The section that a study has for terms of tables by metric."""


@part(RESOLVED)
def glossary(results: Results) -> str | None:
    """Return the definitions of the terms; `{term=…}` of a phrase leads to them."""
    entries = []
    kinds = [kind for kind, table in READ.items() if results.has(table)]
    kinds += [kind for kind, name in ASKED.items() if results.study.get(name)]
    for kind in kinds:
        for term in TEXT.names(kind):
            name, meaning = (TEXT(f"{kind}.{term}.{field}") for field in ("name", "meaning"))
            entry = block("entry", TEXT("entry", name=name, meaning=meaning), name=f"term-{term}")
            entries.append((name.casefold(), entry))
    return paragraphs(*(entry for _, entry in sorted(entries))) or None
