"""Tell whether sets of coarser values meet the limits, and what each loses (METHODS §6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.outcomes import EXCEEDS, LIMITS
from reident.page.columns import columns
from reident.page.layout import block, table
from reident.page.sentences import Sentences
from reident.page.terms import some
from reident.page.wording import escape, percent
from reident.suggestion.outcome import NONE, WITHIN
from reident.why.report import recoding_name

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("suggestion")

SUGGESTIONS = "suggest/suggestions.csv"


MAX_SETS = 10
"""The largest number of sets of coarser values that the report shows."""


@block(SUGGESTIONS, LIMITS)
def suggested(results: Results) -> str:
    """Say whether sets of coarser values meet the limits, and which of them loses least."""
    lines = results.table(SUGGESTIONS)
    tried, meeting = lines[lines["recodings"] != NONE], lines[lines["verdict"] == WITHIN]
    sets, n = some(len(tried), "set"), len(meeting)
    if NONE in set(meeting["recodings"]):
        text = TEXT("suggested.unneeded")
    elif meeting.empty:
        text = TEXT("suggested.none", sets=sets)
    else:
        best = meeting.iloc[0]
        name, share = _set_name(str(best["recodings"])), percent(best["values_changed"])
        text = TEXT("suggested.text", n=n, sets=sets, best=name, share=share)
    limits = results.table(LIMITS)
    is_above = (limits["outcome"] == EXCEEDS).any()
    return f"{text} {TEXT('suggested.others')}" if is_above else text


@block(SUGGESTIONS)
def suggestions(results: Results) -> str:
    """Show the sets of coarser values that no other dominates, the best first."""
    lines = results.table(SUGGESTIONS)
    sets = lines[lines["dominated"] == "no"].head(MAX_SETS)
    sets = sets.assign(
        set=[_set_name(str(text)) for text in sets["recodings"]],
        limits=[TEXT(f"suggestions.{verdict}") for verdict in sets["verdict"]],
    )
    return table(
        TEXT("suggestions.caption", shown=MAX_SETS, file=SUGGESTIONS),
        *columns(sets, TEXT, "set:text@1fr limits:text", group="suggestions"),
        *columns(sets, TEXT, "changed=values_changed loss:decimals", group="suggestions"),
        kind="compact",
    )


def _set_name(text: str) -> str:
    if text == NONE:
        return TEXT("suggestions.study")
    changes = (piece.partition(": ") for piece in text.split("; "))
    return "; ".join(f"{escape(variable)}: {recoding_name(recoding)}" for variable, _, recoding in changes)
