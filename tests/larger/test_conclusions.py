"""The conclusions about a larger intruder, and when each is printed."""

import pytest
from larger.cases import RIVALS, write_larger
from making.conclusions import EVERY, front_page, printed
from making.report import Shape, write_results
from reident.larger import report as larger
from reident.report.results import Results

LARGER = {
    "larger file": r"With \S+× this file \([\d,]+ records\), .+ would confirm an estimated .+ of the .+ \(95 % int",
    "larger guess": r"One best guess would then be right for [\d.]+ – [\d.]+ % of them \(95 % interval\)",
}


@pytest.mark.parametrize(
    ("options", "expected", "words"),
    [
        (None, set(), ""),
        ({"population": 26_000}, {"larger file", "larger guess"}, "With 10× this file (20,000 records)"),
        ({"population": 8_000}, {"larger file", "larger guess"}, "With 4× this file (8,000 records)"),
        ({"fixed": EVERY}, set(), ""),
        ({"rivals": (19,)}, set(), ""),
    ],
    ids=["not asked for", "tenfold", "fewer people", "no curve", "few"],
)
def test_the_front_page_says_what_a_larger_file_would_find(tmp_path, options, expected, words):
    folder = write_results(tmp_path / "results", Shape())
    study = Results(folder if options is None else write_larger(folder, **options))
    shown = front_page(study)
    assert printed(shown, LARGER) == expected
    assert words in shown


ENLARGED = {
    "now": r"With the intruder’s file, the true person is among the candidates of",
    "then": r"With \S+× this file \(\S+ records\) the estimate is .+ \(.+\)",
    "guess": r"An intruder who names one best candidate of each record is right for",
    "guessed": r"For the one named candidate, the 95 % interval is \S+ – \S+ %",
    "size": r"The rule by which this metric compares two records changes with the size of the file",
    "few": r"Fewer than 20 records are confirmed",
    "whole": r"holds the whole population already",
    "beyond": r"Larger files than the population have no estimate",
    "assumes": r"random samples of the same population",
    "declared": r"The population has [\d,]+ people, as the study declares",
    "estimated": r"The size of the population is not declared; it is estimated",
}
THEN = {"now", "guess", "then", "guessed", "assumes"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, THEN | {"estimated"}),
        ({"population": 26_000}, THEN | {"declared"}),
        ({"population": 8_000}, THEN | {"beyond", "declared"}),
        ({"population": 1_500}, {"now", "guess", "whole"}),
        ({"fixed": EVERY}, {"now", "guess", "size"}),
        ({"fixed": EVERY[:2]}, THEN | {"size", "estimated"}),
        ({"fixed": EVERY[1:]}, {"now", "guess", "size", "then", "assumes", "estimated"}),
        ({"rivals": (19,)}, {"now", "guess", "few"}),
        ({"rivals": (*RIVALS, *RIVALS)}, THEN | {"beyond", "estimated"}),
    ],
    ids=[
        "estimated", "declared", "beyond", "whole", "no curve", "two curves", "unicity alone", "few", "many rivals",
    ],
)  # fmt: skip
def test_a_conclusion_about_a_larger_intruder(tmp_path, options, expected):
    study = Results(write_larger(write_results(tmp_path / "results", Shape()), **options))
    assert printed(str(larger.larger_findings(study)), ENLARGED) == expected
