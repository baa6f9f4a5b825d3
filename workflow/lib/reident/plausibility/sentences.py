"""The warnings of the checks: a sentence for each code, filled with the fields of a finding (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from reident.intake.severity import Line, percentage

_CONVERSION = (
    "Linking variable {variable}: over {n} true links the numbers of both files are much nearer to each other after a "
    "conversion of those of the external file ({proposal}). Check the units of both files, and declare the conversion."
)

SENTENCES = {
    "scale": _CONVERSION,
    "offset": _CONVERSION,
    "reversed": _CONVERSION,
    "linear": _CONVERSION,
    "monotone": (
        "Linking variable {variable}: over {n} true links the numbers of both files have the same order, but not the "
        "same size. Cut into fifths by file, {share} more of the links agree. Check the units of both files."
    ),
    "no_better_than_chance": (
        "Linking variable {variable}: {n} true links agree no better than strangers do. Check that both columns mean "
        "the same; an intruder who leaves the variable out may find more."
    ),
    "recode": (
        "Linking variable {variable}: a recode raises the agreement of {n} true links from {chance} to {share}. Check "
        "how each file writes them, and declare them with `recode`."
    ),
    "one_sided": (
        "Linking variable {variable}: where the numbers of {n} true links differ, that of the external file is the "
        "larger one in {share}. Check that both files measure the same, at the same time."
    ),
    "second_scale": (
        "Linking variable {variable}: {share} of {n} true links have another scale than the others ({proposal}). Check "
        "the units within each file."
    ),
    "spread_code_puf": (
        "Linking variable {variable}: {share} of {n} true links have a code in the public use file that tells nothing "
        "about the value in the other file. If it means missing, add it to `missing`."
    ),
    "spread_code_eif": (
        "Linking variable {variable}: {share} of {n} true links have a code in the external file that tells nothing "
        "about the value in the other file. If it means missing, add it to `missing`."
    ),
    "distance": (
        "Linking variable {variable}: the numbers of the two files hardly overlap (distance {share}), and there are "
        "too few true links to compare them. Check the units of both files."
    ),
    "partners_by_chance": (
        "True links: the records of {n} links agree no better than strangers of the same stratum do. Check that each "
        "link names the right records, and that the keys are those of these files."
    ),
    "wrong_links": (
        "True links: in about {share} of {n} links the two records agree no better than strangers do. Check the links."
    ),
    "links_missing": (
        "True links: about {share} of {n} records without a link have a record in the other file that agrees as a true "
        "partner does. Links seem to be missing. Complete them."
    ),
    "links_dropped": (
        "True links: {share} of {n} links name a record that is not in one of the files and are left out, as "
        "`unknown_links_at_most` allows. No metric can find them. Check the keys."
    ),
    "repeats": (
        "Records of the file ({variable}) repeat: {share} have a record that is equal on all linking variables, of the "
        "other file {chance}. Nobody among equal records can be told apart. Keep one record of each person or unit, or "
        "declare `units`."
    ),
    "few_links": (
        "Only {n} true links lie inside the strata. Units, codes and links are checked with 10 links or more. Compare "
        "some linked records by hand."
    ),
    "exact_values": (
        "Exact values of {variable} alone name {n} people by {claims} claims, which is above the limit "
        "`{limit}`, while every metric is within it."
    ),
    "without": (
        "Without the linking variable {variable}, {metric} confirms {n} records of {claims} suspected, which is above "
        "the limit `{limit}`, while with it the metric is within it."
    ),
}
"""By the code of a check. The report has the same sentences in its languages (`recorded.yaml`)."""

_FILES = {"puf": "PUF", "eif": "EIF"}
_ABOUT_LINKS = frozenset({"wrong_links", "links_dropped"})


def line(
    code: str,
    severity: str,
    fields: Mapping[str, str],
    affected: int | None = None,
    share: float | None = None,
) -> Line:
    """Return the warning of a code."""
    return Line(severity, SENTENCES[code].format_map(fields), affected, share)


def lines(checks: pd.DataFrame) -> Iterator[Line]:
    """Yield the warnings of the table of checks; links outside the strata have their own (METHODS §2)."""
    for row in checks.itertuples():
        if row.severity and row.check in SENTENCES:
            fields = {
                "variable": _FILES.get(row.scope, row.scope),
                "n": f"{row.n:,}",
                "share": percentage(row.statistic),
                "chance": percentage(row.chance),
                "proposal": row.proposal,
            }
            of_links = row.check in _ABOUT_LINKS
            affected = round(row.statistic * row.n) if of_links else None
            yield line(row.check, row.severity, fields, affected, row.statistic if of_links else None)
