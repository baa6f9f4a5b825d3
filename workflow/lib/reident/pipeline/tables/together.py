"""The table of an intruder with several files (METHODS §6.6). It is not in the releasable edition."""

from __future__ import annotations

from reident.pipeline.tables.columns import WHOLE, declare, integer, number, text
from reident.pipeline.tables.rates import RATES

_RATES = {column.name: column._replace(kind=None) for column in RATES}
_GUESS = "the same with the file whose best candidate has the best score, ties at random"
_ALONE = "lines with `any` and `file`"
JOIN_FILES = (
    declare(
        "together/rates.csv",
        f"What an intruder finds who holds several files, by metric, for the whole study (`{WHOLE}`) and each stratum: "
        "one line for each file alone, for any, for all, and for exactly 1, 2 … of the files.",
        _RATES["metric"],
        _RATES["stratum"],
        text("files", "`file` (one file alone), `any`, `all` or `exactly`"),
        text("label", "the label of the file, or the number of files with `exactly`; otherwise empty"),
        _RATES["n_puf"],
        _RATES["n_suspected"]._replace(meaning="PUF records that these files suspect, as `files` says"),
        _RATES["n_confirmed"]._replace(
            meaning="PUF records with a confirmed pair in these files, as `files` says"
        ),
        _RATES["suspected_rate"],
        _RATES["confirmed_rate"],
        *(
            _RATES[name]._replace(meaning=f"{_RATES[name].meaning}; empty with `exactly`")
            for name in ("conditional_rate", "conditional_low", "conditional_high", "conditional_bound")
        ),
        *(
            _RATES[name]._replace(meaning=f"{_RATES[name].meaning}, {_GUESS}; {_ALONE} alone")
            for name in (
                "expected_correct",
                "expected_correct_rate",
                "best_rank_correct",
                "best_rank_correct_rate",
            )
        ),
        integer(
            "n_corroborated",
            "PUF records for which at least two files have the same person among their candidates; lines with "
            "`any` alone, and empty where the files do not name persons",
        ),
        integer("n_corroborated_confirmed", "of these, records for which such a person is the true one"),
        number("corroborated_rate", "n_corroborated / n_puf"),
        number(
            "corroborated_confirmed_rate",
            "n_corroborated_confirmed / n_corroborated; empty where no record is corroborated",
        ),
        section="6.6",
    ),
)
