"""The tables of the verdict: warnings, limits, and what they come to (METHODS §1, §6)."""

from __future__ import annotations

from reident.pipeline.tables.columns import WARNING, WHOLE, Lines, declare, integer, number, text

ABOUT = text(
    "about",
    "what it is about: `attack`, `together`, `file_risk`, `matching`, `closest` or `attribute_disclosure`",
    kind="parameter",
)
JUDGE = (
    declare(
        "verdict/warnings.csv",
        "Every warning of the study, those of its steps and those that only its results show, the gravest first.",
        ABOUT,
        *WARNING[:-1],
        section="1",
    ),
    declare(
        "verdict/limits.csv",
        "Every limit of the section `decision`, one line for each metric, scenario or target.",
        ABOUT,
        text("limit", "the key of the limit", kind="parameter"),
        text(
            "metric",
            "the metric, the scenario of matching or `file_risk`, or the target; empty for the whole key and for "
            "`closest`",
            kind="parameter",
        ),
        number(
            "value",
            "what is compared with the limit; empty where it is undefined",
            "as of the limit",
            kind="withheld",
        ),
        number("bound", "the limit", "as of the limit", kind="parameter"),
        text(
            "outcome",
            "`breaks`, `passes`, `unsure` (passes, but the interval reaches above the limit), `nothing` (nothing "
            "to judge, which passes) or `none` (no verdict)",
            kind="outcome",
        ),
        section="6",
        released=True,
    ),
    declare(
        "verdict/summary.csv",
        f"The verdict on the whole study (`{WHOLE}`), then on each thing that a limit is about.",
        text("scope", f"`{WHOLE}`, or what the line is about, as in `verdict/limits.csv`"),
        text(
            "verdict",
            "`above`, `within`, `reservations` (within, with reservations), `none` or `open` (no limit)",
        ),
        integer("n_limits", "limits, one for each metric or scenario", "limits"),
        integer("n_broken", "of these, limits that are broken", "limits"),
        text("broken", "the broken limits with their metrics; empty without one"),
        integer("invalidates", "warnings that may invalidate the results", "warnings"),
        integer("understates", "warnings that may understate the risk", "warnings"),
        integer("notable", "other warnings", "warnings"),
        output="verdict",
        compared=Lines("verdict", "scope", WHOLE),
        section="6",
    ),
)
