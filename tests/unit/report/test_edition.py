"""The pages of a releasable edition: every number is published, every sign is explained (METHODS §11)."""

from __future__ import annotations

import csv
import html
import json
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from making.released import NOTEBOOK, SAMPLES, Sample, executed, write_released
from pypdf import PdfReader
from reident.errors import InputError
from reident.report import sentences
from reident.report.edition import analyses, annex, figures, front, tables
from reident.report.edition.make import make, pages
from reident.report.edition.reading import FORMS, Count, Edition, open_edition
from reident.report.edition.wording import in_words, precise
from reident.report.layout import Block
from reident.report.render import About, read, to_html

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
EVERY = [
    block
    for module in (front, tables, analyses, annex, figures)
    for block in vars(module).values()
    if isinstance(block, Block)
]

QUICK = ("example", "redacted", "matching")
PAGES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SAMPLES]
"""The samples whose pages are made; `make test` makes few of them."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editions")
    return {name: Edition(write_released(folder / name, sample)) for name, sample in SAMPLES.items()}


@pytest.fixture(scope="module")
def notebook_of(samples):
    """Return a function that returns the executed notebook of a sample."""
    return cache(lambda name: executed(samples[name]))


@pytest.fixture(scope="module")
def page_of(samples, notebook_of):
    """Return a function that returns the HTML page of a sample."""

    def page(name: str) -> str:
        record = samples[name].record
        about = About(record["title"], agency=record["agency"], study=record["study"])
        return to_html(read(notebook_of(name)), about)

    return cache(page)


def visible(page: str) -> str:
    """Return what a reader meets of a page: its text, and the alternative texts of its figures."""
    alternatives = " ".join(re.findall(r'alt="([^"]*)"', page))
    page = re.sub(r"<style>.*?</style>|<span class=\"number\">.*?</span>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", page) + alternatives)


def numbers(text: str) -> set[str]:
    return {match.replace(",", "").rstrip(".") for match in NUMBER.findall(text)}


def public_numbers(edition: Edition, folder: Path) -> set[str]:
    """Return the numbers of the public files, of the fixed texts, and of shares said in words."""
    known: set[str] = set()
    for name, form in FORMS.items():
        with (folder / name).open(encoding="utf-8", newline="") as stream:
            for line in csv.DictReader(stream):
                known |= numbers(" ".join(line.values()))
                for column in form.shares:
                    if line[column]:
                        known |= {f"{Decimal(line[column]) * 100:.1f}"} | numbers(in_words(float(line[column])))
    for line in edition.tables["limits.csv"]:
        known |= numbers(f"{Decimal(line['bound']) * 100:.0f}")
    for path in (sentences.FOLDER / "en").glob("edition-*.yaml"):
        known |= numbers(path.read_text(encoding="utf-8"))
    counts = edition.record["counts"]
    totals = {sum(counts.values()), counts["exact"] + counts["rounded"], len(edition.strata), tables.MAX_STRATA}
    widths = {f"{100 * float(share):g}" for share in edition.policy.protect.model_dump().values()}
    known |= numbers(json.dumps(edition.record, ensure_ascii=False)) | {"2", "3", "5"} | {str(n) for n in totals}
    known |= widths | {f"{100 * edition.record['level']:g}"}
    return known


@pytest.mark.parametrize("name", PAGES)
def test_every_number_of_the_pages_is_a_published_one_or_in_a_fixed_text(samples, page_of, name, tmp_path):
    folder = write_released(tmp_path, SAMPLES[name])
    hidden = range(len(samples[name].strata) + 1)  # how many strata have a published rate and how many do not
    assert numbers(visible(page_of(name))) - public_numbers(samples[name], folder) - {str(n) for n in hidden} == set()


def test_a_number_that_is_not_published_would_be_seen(samples, page_of, tmp_path):
    page = page_of("example").replace("about 6,000 records", "about 6,013 records", 1)
    folder = write_released(tmp_path, SAMPLES["example"])
    assert numbers(visible(page)) - public_numbers(samples["example"], folder) >= {"6013"}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_an_undefined_number_or_an_empty_section(page_of, name):
    text = visible(page_of(name))
    assert not re.search(r"\bnan\b|\bNone\b|\{|\}|\binf\b", text)
    headings = re.findall(r"<h[23][^>]*>(.*?)</h[23]>(.*?)(?=<h[23]|</div>\s*</main>)", page_of(name), re.DOTALL)
    assert headings
    for heading, below in headings:
        assert re.sub(r"<span.*?</span>|<[^>]*>", "", heading).strip()
        assert below.strip() or heading.endswith(("The attack", "Settings of the study"))


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_has_an_alternative_text_and_no_path_is_shown(page_of, name):
    pictures = re.findall(r"<img[^>]*>", page_of(name))
    assert len(re.findall(r"<picture>", page_of(name))) == len(pictures)
    assert all(re.search(r'alt="[^"]{30,}"', picture) for picture in pictures)
    assert not re.search(r"results/|/tmp|sha-?256", visible(page_of(name)), re.IGNORECASE)


@pytest.mark.parametrize(
    "block", EVERY, ids=lambda block: f"{block.make.__module__.rpartition('.')[2]}.{block.make.__name__}"
)
def test_every_block_is_shown_for_a_sample_and_left_out_without_its_table(samples, block):
    some = [samples[name] for name in ("variants", "matching", "internal")]
    assert any(block(edition) for edition in some)
    assert all(block(edition) is None for edition in some if not edition.has(*block.reads))


@pytest.mark.parametrize("block", [figures.by_metric, figures.by_stratum, figures.by_rank_limit])
def test_a_figure_is_drawn_from_published_texts_alone(tmp_path, block):
    sample = replace(SAMPLES["example"], keep=6, strata=SAMPLES["example"].strata[:3])
    first, second = (block(Edition(write_released(tmp_path / name, sample))) for name in ("first", "second"))
    assert first == second
    other = write_released(tmp_path / "other", sample)
    table = (other / "attack.csv").read_text(encoding="utf-8")
    (other / "attack.csv").write_text(re.sub(r"0\.\d{3}", "0.100", table), encoding="utf-8")
    assert block(Edition(other)) != first


def test_a_suppressed_rate_is_marked_in_the_figure_and_in_its_text(samples):
    drawn = figures.by_metric(samples["example"])
    hidden = [metric for metric, line in samples["example"].whole.items() if not line.shares["conditional_rate"].text]
    assert drawn.alt.count("not shown") >= len(hidden) > 0


def test_no_figure_is_drawn_where_nothing_is_published(samples):
    assert figures.by_metric(samples["hidden"]) is None
    assert figures.by_rank_limit(samples["hidden"]) is None
    assert figures.by_stratum(samples["many"]) is None


# The sentences ------------------------------------------------------------------------------------


def said(tmp_path, **counts) -> str:
    """Return the finding on a single metric with these published texts."""
    folder = write_released(tmp_path / "edition", Sample(metrics=("unicity",), strata=(), keep=1))
    with (folder / "attack.csv").open(encoding="utf-8", newline="") as stream:
        (line,) = csv.DictReader(stream)
    with (folder / "attack.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, line)
        writer.writeheader()
        writer.writerow(line | counts)
    return front.findings(Edition(folder)).splitlines()[-3]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({"n_suspected": "1200", "suspected_rate": "0.200", "n_confirmed": "200", "conditional_rate": "0.167"},
         "suspects about 1 in 5 of the released records (about 1,200 records). For about 1 in 6 of the records"),
        ({"n_suspected": "<15"}, "suspects fewer than 15 records. Nothing more is said about a number this small."),
        ({"n_suspected": "x", "n_confirmed": "x"}, "suspects a number of records that is not shown, and neither is"),
        (
            {"n_suspected": "x", "suspected_rate": "", "n_confirmed": "100"},
            "suspects a number of records that is not shown, because",
        ),
        (
            {"n_suspected": "1200", "suspected_rate": "0.200", "n_confirmed": "<15", "conditional_rate": ""},
            "The true person is among the candidates for fewer than 15 records.",
        ),
        (
            {"n_confirmed": "x", "conditional_rate": ""},
            "For how many of them the true person is among the candidates",
        ),
        ({"n_suspected": "30", "suspected_rate": "0.005", "n_confirmed": "20", "conditional_rate": "0.667"},
         "for about 20 records; the rounding leaves their share too uncertain to state it in words."),
        (
            {"n_suspected": "1200", "n_confirmed": "1200", "conditional_rate": ""},
            "is not shown: it would be 0 % or 100 %.",
        ),
    ],
)  # fmt: skip
def test_a_finding_says_no_more_than_is_published(tmp_path, counts, sentence):
    assert sentence in said(tmp_path, **counts)


def test_words_are_never_far_from_the_share():
    for thousandth in range(1, 1000):
        share, words = thousandth / 1000, in_words(thousandth / 1000)
        n = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", words)]
        if words.startswith("about"):
            assert abs(n[0] / n[1] - share) <= 0.2 * share
        elif words.startswith("between"):
            assert n[0] / 10 <= share <= n[1] / 10
        else:
            assert share > 0.9


def test_a_rate_of_small_rounded_counts_is_not_precise(samples):
    count = lambda text: Count(text, int(text), "number")  # noqa: E731
    edition = samples["example"]
    assert not precise(edition, count("20"), count("30"))
    assert precise(edition, count("200"), count("1200"))
    assert not precise(edition, Count("<15", None, "small"), count("1200"))


# What is refused ----------------------------------------------------------------------------------


def spoilt(folder: Path, name: str, old: str, new: str) -> Path:
    path = write_released(folder, SAMPLES["example"]) / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("attack.csv", "n_puf,", "n_puf,n_pairs,", "the columns 'n_pairs' must be those of the table"),
        ("attack.csv", ",n_links", "", "the columns 'n_links' must be those of the table"),
        ("attack.csv", "ALL,0,6000", "ALL,0,6013.0", "`6013.0` must be a text that the policy publishes"),
        ("attack.csv", "ALL,0,6000", "ALL,0,<11", "`<11` must be a text that the policy publishes"),
        ("attack.csv", ",0.100", ",1.100", "`1.100` must be a decimal fraction from 0 to 1"),
        ("limits.csv", "0.05,passes", "0.05,passes,1", "must have exactly 5 fields"),
    ],
)
def test_a_text_or_column_that_is_not_declared_stops_the_edition(tmp_path, name, old, new, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Edition(spoilt(tmp_path, name, old, new))


@pytest.mark.parametrize("name", [*FORMS, "release.json"])
def test_a_missing_file_stops_the_edition(tmp_path, name):
    (write_released(tmp_path) / name).unlink()
    with pytest.raises(InputError, match=f"`{name}` is missing"):
        Edition(tmp_path)


DEPENDENT = {
    "en": ("This edition has no confidence intervals.", "depend on each other"),
    "de": ("Diese Fassung enthält keine Konfidenzintervalle.", "voneinander ab"),
}


@pytest.mark.parametrize("spoken", DEPENDENT)
def test_an_edition_of_dependent_records_says_why_it_has_no_intervals(spoken, tmp_path):
    texts = {}
    for name in ("clustered", "example"):
        folder = write_released(tmp_path / name, SAMPLES[name])
        record = json.loads((folder / "release.json").read_text(encoding="utf-8")) | {"language": spoken}
        (folder / "release.json").write_text(json.dumps(record), encoding="utf-8")
        edition = open_edition(folder)
        texts[name] = " ".join(" ".join(str(block(edition)) for block in EVERY).split())
    assert all(words in texts["clustered"] for words in DEPENDENT[spoken])
    assert DEPENDENT[spoken][0] not in texts["example"]
    headings = [bool(re.search(r"95\s% interval|Intervall, 95", text)) for text in texts.values()]
    assert headings == [False, True]


# The pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["example", "internal"])
def test_every_page_of_an_edition_for_internal_use_says_so(samples, notebook_of, name):
    rendered = pages(notebook_of(name), samples[name])
    internal = samples[name].policy.internal
    leaves = PdfReader(BytesIO(rendered.pdf)).pages
    assert all(("for internal use only" in leaf.extract_text()) == internal for leaf in leaves)
    assert ('<aside class="banner">' in rendered.html) == internal
    assert 4 <= len(leaves) <= 8


def test_an_edition_is_made_with_the_same_bytes(samples, tmp_path):
    folder = write_released(tmp_path / "releasable", SAMPLES["file"])
    (tmp_path / "results").mkdir()
    made = make(folder, NOTEBOOK)
    assert made.pages == pages(executed(samples["file"]), samples["file"])
    assert str(tmp_path) not in json.dumps(made.notebook)


def test_a_policy_of_another_version_is_refused_by_a_sentence(tmp_path):
    folder = write_released(tmp_path / "edition", SAMPLES["example"])
    record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    record["policy"]["later"] = "a value"
    (folder / "release.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=r"`release\.json`: the policy has other keys") as refused:
        Edition(folder)
    assert "a value" not in str(refused.value)
