"""The tables of a larger intruder (METHODS §6.5). None of them is in the releasable edition."""

from __future__ import annotations

from reident.pipeline.tables.columns import declare, integer, number, text

THIN = (
    declare(
        "larger/{metric}.counts.csv",
        "PUF records by what the attack makes of them, with the whole EIF and with each random part of it: one line "
        "per draw and combination that occurs.",
        number("share", "records of the part / records of the EIF"),
        integer("draw", "number of the draw, from 1; 0 for the whole EIF", "draw"),
        integer("n_eif", "EIF records in the part"),
        integer(
            "held", "1 for PUF records with a true link to an EIF record of their stratum, otherwise 0", ""
        ),
        integer(
            "rivals",
            "EIF records that are at least as good as the best true link and no links themselves; `keep` for these "
            "and more, and where no true link is suspected",
        ),
        integer(
            "better",
            "of these, those that are better; 0 where no true link is kept, and for unicity",
            "rivals",
        ),
        integer(
            "own",
            "true links that are as good as the best one, itself included; 0 if no link is kept, and for unicity",
            "links",
        ),
        integer(
            "first",
            "pairs of the best rank; 0 without a suspected pair, `keep` + 1 for more than scoring keeps; unicity: "
            "1 with any pair",
            "pairs",
        ),
        integer("candidates", "suspected pairs within the rank limit", "pairs"),
        integer("links", "true links among these", "links"),
        integer("n_records", "PUF records"),
        output="counts",
        section="6.5",
        reported=False,
    ),
)

EXTRAPOLATE = (
    declare(
        "larger/rates.csv",
        "Rates by the size of the EIF, in the order of the metrics, quantities and sizes.",
        text("metric", "the metric"),
        text(
            "quantity",
            "`confirmed_rate` and `best_guess_rate` (records for which a random one of the best candidates is the "
            "true person, / n_puf), which are extrapolated, `suspected_rate`, `conditional_rate` or "
            "`expected_correct_rate`",
        ),
        number("times", "size of the file as a multiple of the EIF", "multiple"),
        integer("n_eif", "records of the file"),
        integer("draws", "random parts of the EIF of this size; 1 for the EIF; empty beyond it", "draws"),
        number("observed", "mean of the rate over these; empty beyond the EIF, or where it is undefined"),
        number("estimate", "the fitted curve; empty where no curve is fitted"),
        number("low", "lower end of its interval; empty up to the EIF"),
        number("high", "upper end of its interval; empty up to the EIF"),
        text(
            "status",
            "`ok`; `observed` for a quantity that is not extrapolated; or why an estimate is missing: "
            "`size_dependent`, `too_few` (confirmed), `whole_population`, `beyond_population` or `unranked` "
            "(unicity, whose candidates are all alike)",
        ),
        section="6.5",
    ),
)
