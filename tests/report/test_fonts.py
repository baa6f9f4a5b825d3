"""Labels in every script are shown with the report's own fonts and that of the study, in pages, PDF and figures."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTCollection, TTFont
from making import fonts as made
from pypdf import PdfReader
from reident.page import fonts, sentences, style
from reident.page.layout import ReportColumn, Text, table
from reident.page.wording import END_OF_ISOLATE, ISOLATE, escape, whole
from reident.report.render import About, gather, render

OWN = {"Arabic": "القاهرة", "Hebrew": "תל אביב", "Greek": "Αθήνα", "Cyrillic": "Москва", "accented Latin": "Đặng Łódź"}
"""Labels whose letters are in the report's own fonts."""

OTHERS = {"Chinese": "北京市", "Japanese": "東京かな", "Korean": "서울", "Devanagari": "उत्तर", "Thai": "กรุงเทพ"}
"""Labels whose letters are in the font of the study alone."""

LABELS = {**OWN, **OTHERS}
BY_READER = {"Greek", "Cyrillic", "accented Latin"}
"""Scripts for which every reader of a page has fonts."""

FACE = re.compile(r'@font-face \{[^}]*base64,([^)]+)\) format\("woff"\); unicode-range: ([^;]+); \}')


@pytest.fixture(scope="module")
def font(tmp_path_factory) -> Path:
    """A font with the letters that the report's own fonts lack."""
    return made.write(tmp_path_factory.mktemp("fonts") / "letters.otf", "".join(OTHERS.values()))


@pytest.fixture
def in_kernel(font, monkeypatch) -> None:
    """As in the kernel of a study with a font."""
    monkeypatch.setenv(fonts.VARIABLE, str(font))


def page(*labels: str, font: Path | None = None, title: str = "Title", said: list[str] | None = None):
    upright = [escape(label) for label in labels]
    slanted = [f"*{label}*" for label in upright]
    text = Text(table("Caption.", ReportColumn("Label", upright, "l"), ReportColumn("Slanted", slanted, "l")))
    data, about = bundle if isinstance(bundle := text._repr_mimebundle_(), tuple) else (bundle, {})
    said = [] if said is None else said
    return render(gather([(False, data, about)]), About(title), font, said.append)


def drawn(label: str) -> str:
    def draw(sheet):
        style.rows(sheet.panels[0], [label], 26)

    return style.figure(draw, height=1, alt="", caption="").svg


def embedded(html: str) -> set[int]:
    """Return the code points of the fonts in a page."""
    points: set[int] = set()
    for data, _ in FACE.findall(html):
        points |= TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap().keys()
    return points


def letters(*scripts: str) -> set[int]:
    return {ord(letter) for script in scripts for letter in LABELS[script] if letter != " "}


@pytest.mark.parametrize("script", LABELS)
def test_the_font_of_the_study_is_needed_for_other_scripts_alone(script):
    assert (fonts.lacking(LABELS[script]) == letters(script)) == (script in OTHERS)
    assert bool(fonts.faces(LABELS[script])) == (script in OWN.keys() - BY_READER)


def test_pages_embed_the_letters_that_a_reader_may_lack_and_no_others(font):
    shown = page(*LABELS.values(), font=font)
    assert page(*LABELS.values(), font=font) == shown
    assert letters(*LABELS.keys() - BY_READER) <= embedded(shown.html)
    assert letters("Thai").isdisjoint(embedded(page(LABELS["Chinese"], font=font).html))
    assert "style-src 'unsafe-inline'; font-src data:\"" in shown.html
    assert f'--sans: "{fonts.FAMILY}", ' in shown.html
    without = page(*LABELS.values())
    assert embedded(without.html).isdisjoint(letters(*OTHERS))
    assert "LastResort" in "".join(families(without.pdf)), "a box for each letter"


def test_the_pdf_has_the_letters_in_the_font_of_the_study(font):
    shown = page(*LABELS.values(), font=font)
    sheets = PdfReader(io.BytesIO(shown.pdf)).pages
    text = " ".join(sheet.extract_text() for sheet in sheets)
    assert all(LABELS[script] in text for script in ("Chinese", "Japanese", "Korean", "Greek", "Cyrillic"))
    used = families(shown.pdf)
    assert {made.POSTSCRIPT, "DejaVuSans"} <= used
    assert not any("LastResort" in name for name in used)


def test_of_a_collection_the_first_font_is_taken(font, tmp_path, monkeypatch):
    file, collection = tmp_path / "letters.ttc", TTCollection()
    collection.fonts = [TTFont(font), TTFont(made.write(tmp_path / "other.ttf", "京都", first="K"))]
    collection.save(file)
    assert fonts.lacking("京都", file) == {ord("都")}
    assert ord("北") in embedded(page("北", font=file).html)
    assert made.POSTSCRIPT in families(page("北", font=file).pdf)
    figures = []
    for one in (file, font):
        monkeypatch.setenv(fonts.VARIABLE, str(one))
        figures.append(drawn("北京"))
    assert figures[0] == figures[1]


def families(pdf: bytes) -> set[str]:
    return {name for sheet in PdfReader(io.BytesIO(pdf)).pages for name in fonts_of(sheet)}


def fonts_of(sheet) -> set[str]:
    names = (font.get_object()["/BaseFont"] for font in sheet["/Resources"]["/Font"].values())
    return {name.split("+")[1].split("-")[0] for name in names}


def test_a_font_that_no_label_needs_changes_no_byte(font):
    assert page(*OWN.values(), font=font) == page(*OWN.values())


@pytest.mark.usefixtures("in_kernel")
@pytest.mark.parametrize(
    "script", ["Chinese", *(pytest.param(name, marks=pytest.mark.slow) for name in ("Devanagari", "Arabic"))]
)
def test_figures_have_the_letters_of_every_script(script, recwarn, font):
    """A letter without a glyph is the same box as any other of its script, so two labels would look the same."""
    label = LABELS[script]
    assert drawn(label) == drawn(label)
    assert "Glyph" not in "".join(str(warning.message) for warning in recwarn)
    assert drawn(label[:2]) != drawn(label[1::-1])
    assert (made.POSTSCRIPT in drawn(label)) == (script in OTHERS)
    assert str(font) not in drawn(label)


def test_figures_without_a_font_show_boxes():
    assert drawn("北京") == drawn("京北")


def test_letters_that_no_font_has_are_told_once_with_their_number(font):
    said: list[str] = []
    page(*OWN.values(), said=said)
    page(*LABELS.values(), font=font, said=said)
    assert said == []
    page("北京", "北京市", title="서울", said=said)
    (sentence,) = said
    assert sentence.startswith("Warning: 5 letters of the labels are in no font of the report: ")
    assert "by `font` in the study file" in sentence
    assert sentence.isascii()
    assert fonts.warnings("京都", font)[0].startswith("Warning: 1 letter of the labels is in no font")


def test_the_sentences_of_the_report_need_no_other_font():
    texts = "".join(file.read_text(encoding="utf-8") for file in sentences.files().values())
    assert not texts.isascii()
    assert fonts.warnings(texts, None) == []


def test_a_label_from_right_to_left_does_not_turn_its_neighbours():
    assert escape("القاهرة") == f"{ISOLATE}القاهرة{END_OF_ISOLATE}"
    assert escape("a-ש") == f"{ISOLATE}a\\-ש{END_OF_ISOLATE}"
    assert escape("北京") == "北京"
    assert escape(f"a{ISOLATE}") == "a⟨U\\+2068⟩"


def test_a_name_from_right_to_left_does_not_turn_the_sentence_around_it():
    """Without isolates, the count after the name of the variable would stand before it."""
    name = f"{ISOLATE}منطقة{END_OF_ISOLATE}"
    assert whole("a.csv, variable منطقة: 1 code") == f"a\\.csv\\, variable {name}\\: 1 code"
    assert whole("2026: منطقة (a)") == f"{ISOLATE}2026\\: منطقة \\(a\\){END_OF_ISOLATE}"
    assert whole("a - 北京") == "a \\- 北京"
