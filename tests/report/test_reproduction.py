"""The page about a reproduction says what happened, and nothing that must not be shown."""

import io
import re
from copy import deepcopy

import pypdf
import pytest
from reident.report import reproduction

RELEASE = {"version": "0.1.0", "commit": "a" * 40, "tree": "b" * 64, "versions": {"python": "3.11.7", "numpy": "2.4.6"}}
COST = {"seconds": 20.5, "cpu_seconds": 31.0, "peak_memory_mb": 390.2, "disk_bytes": 2_500_000}
SIGNER = {"principal": None, "fingerprint": "SHA256:abcdefghijklmnopqrstuvwxyz"}
FACTS = {
    "study": "small", "title": "Survey *of* <b>2026</b>", "agency": "Office", "bag": "small-0123456789abcdef",
    "digest": "0123456789abcdef", "signed_by": None, "sign_offs": [], "warnings": [], "on": "2036-02-29",
    "system": "Linux 7.1, x86_64", "code": "installed", "same_code": True, "then": RELEASE, "now": RELEASE, "files": [],
    "packages": [], "inputs": {"needed": 3, "missing": [], "unreadable": 0}, "cost": {"then": COST, "now": COST},
    "results": [], "counts": {"identical": 50}, "errors": [], "renamed": [], "network": False, "outcome": "reproduced",
}  # fmt: skip


def page(**changes) -> str:
    return reproduction.page({**deepcopy(FACTS), **changes})


def pages(facts: dict) -> int:
    return len(pypdf.PdfReader(io.BytesIO(reproduction.render(facts)["pdf"])).pages)


def differing(number: int, kind: str = "different") -> list[dict]:
    difference = {"row": 3, "column": "confirmed_rate", "sealed": "0.25", "computed": "0.5|x"}
    return [
        {"path": f"table-{n}.csv", "outcome": kind, "difference": difference if kind == "different" else None}
        for n in range(number)
    ]


DIFFERS = {"outcome": "not reproduced"}
CASES = [
    ("identical", {}, "Each of the 50 results was computed again and is identical to the sealed one, byte for byte."),
    ("equal", {"counts": {"identical": 46, "explained": 4, "extra": 2}},
     "Each of the 50 results was computed again, and all that must be equal to the sealed ones are."),
    ("one differs", {**DIFFERS, "counts": {"identical": 49, "different": 1}, "results": differing(1)},
     "One of the 50 results is not the sealed one."),
    ("some are missing", {**DIFFERS, "counts": {"identical": 48, "missing": 2}, "results": differing(2, "missing")},
     "2 of the 50 results are not the sealed ones."),
    ("failed", {**DIFFERS, "counts": {}, "errors": ["puf.csv, row 3: *wrong*."]}, "The study could not be computed:"),
    ("not rerun",
     {"outcome": "verified, not rerun", "inputs": {"needed": 3, "missing": ["puf.csv (9 bytes)"], "unreadable": 2}},
     "One of the 3 inputs was not found, so that nothing was computed."),
    ("unsigned", {"warnings": ["nobody signed the bag."]}, "- Nobody signed the bag\\."),
    ("signed by somebody known", {"signed_by": {**SIGNER, "principal": "agency_seal"}},
     "The seal is signed by agency\\_seal (`SHA256:"),
    ("cut off", {}, "computed the results on Linux 7\\.1\\, x86\\_64, without a network."),
    ("code of the bag", {"code": "bag"}, "The code in the sealed study, which the user trusts, computed"),
    ("same", {}, "Code, packages and Python are those of the seal, so that the reports must be identical too."),
    ("other", {"same_code": False}, "Reports name them and may therefore differ."),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_page_says_what_happened(changes, says):
    assert says in page(**changes)


SENTENCES = {
    "Reproduced": ("identical", "equal"),
    "Not reproduced": ("one differs", "some are missing", "failed"),
    "Verified, not rerun": ("not rerun",),
}


@pytest.mark.parametrize(("verdict", "cases"), SENTENCES.items())
def test_each_verdict_is_printed_in_its_cases_and_in_no_other(verdict, cases):
    printed = {name for name, changes, _ in CASES if f"**{verdict}**" in page(**changes)}
    others = {name for group in SENTENCES.values() for name in group} - set(cases)
    assert set(cases) <= printed
    assert not printed & others


def test_differences_show_place_and_both_values_literally_and_a_long_list_is_cut():
    text = page(**DIFFERS, counts={"different": 1}, results=differing(1))
    assert re.search(r"table\\-0\\\.csv\]\{\.file\} \| 3, confirmed\\_rate \| 0\\\.25 \| 0\\\.5\\\|x \|", text)
    text = page(**DIFFERS, counts={"different": 40}, results=differing(40))
    assert "The first difference of 6 of the 40 results that differ; reproduction.json lists all." in text
    assert text.count("table\\-") == 6


@pytest.mark.parametrize("name", ["identical", "not rerun", "failed"])
def test_the_pdf_is_one_page(name):
    (changes,) = (case[1] for case in CASES if case[0] == name)
    assert pages({**deepcopy(FACTS), **changes}) == 1


def test_a_page_with_much_that_differs_is_still_one_page():
    facts = {
        **deepcopy(FACTS), **DIFFERS, "counts": {"identical": 9, "different": 40, "explained": 4},
        "results": differing(40), "same_code": False, "files": [f"workflow/lib/reident/{n}.py" for n in range(90)],
        "packages": [[f"package-{n}", "1.0", "2.0"] for n in range(4)], "warnings": ["nobody signed the bag."],
    }  # fmt: skip
    assert pages(facts) == 1
