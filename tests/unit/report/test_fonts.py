"""Labels in every script are shown with the report's own fonts, in pages, PDF and figures."""

from __future__ import annotations

import base64
import io
import re

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader
from reident.report import fonts, style
from reident.report.layout import Column, Text, table
from reident.report.render import About, gather, render
from reident.report.wording import END_OF_ISOLATE, ISOLATE, escape, whole

LABELS = {
    "Chinese": "北京市",
    "Japanese": "東京かな",
    "Korean": "서울",
    "Devanagari": "उत्तर",
    "Thai": "กรุงเทพ",
    "Arabic": "القاهرة",
    "Hebrew": "תל אביב",
    "Greek": "Αθήνα",
    "Cyrillic": "Москва",
    "accented Latin": "Đặng Łódź",
}
BY_READER = {"Greek", "Cyrillic", "accented Latin"}
"""Scripts for which every reader of a page has fonts."""

FACE = re.compile(r'@font-face \{[^}]*base64,([^)]+)\) format\("woff"\); unicode-range: ([^;]+); \}')


def page(*labels: str):
    upright = [escape(label) for label in labels]
    slanted = [f"*{label}*" for label in upright]
    text = Text(table("Caption.", Column("Label", upright, "l"), Column("Slanted", slanted, "l")))
    data, about = bundle if isinstance(bundle := text._repr_mimebundle_(), tuple) else (bundle, {})
    return render(gather([(False, data, about)]), About("Title"))


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


@pytest.mark.parametrize("script", LABELS)
def test_a_font_has_the_letters_of_every_script(script):
    points = set(map(ord, LABELS[script]))
    assert points <= set().union(*(fonts._glyphs(font) for font in (fonts.DEJAVU, *fonts.FONTS)))
    assert script not in BY_READER or not fonts.faces(LABELS[script])


def test_pages_embed_the_letters_that_a_reader_may_lack_and_no_others():
    shown = page(*LABELS.values())
    assert page(*LABELS.values()) == shown
    letters = {ord(letter) for script in LABELS.keys() - BY_READER for letter in LABELS[script]}
    assert letters - {0x20} <= embedded(shown.html)
    assert ord("京") + 1 not in embedded(shown.html)
    assert "style-src 'unsafe-inline'; font-src data:\"" in shown.html
    assert f'--sans: "{fonts.FAMILY}", ' in shown.html
    sheets = PdfReader(io.BytesIO(shown.pdf)).pages
    text = " ".join(sheet.extract_text() for sheet in sheets)
    assert all(LABELS[script] in text for script in ("Chinese", "Japanese", "Korean", "Greek", "Cyrillic"))
    used = {name for sheet in sheets for name in fonts_of(sheet)}
    assert not any("LastResort" in name for name in used)
    assert {"NotoSansCJKsc", "NotoSansDevanagari", "NotoSansThai", "DejaVuSans"} <= used


def fonts_of(sheet) -> set[str]:
    names = (font.get_object()["/BaseFont"] for font in sheet["/Resources"]["/Font"].values())
    return {name.split("+")[1].split("-")[0] for name in names}


@pytest.mark.parametrize("script", ["Chinese", "Devanagari", "Arabic"])
def test_figures_have_the_letters_of_every_script(script, recwarn):
    """A letter without a glyph is the same box as any other, so two such labels would look the same."""
    label = LABELS[script]
    assert drawn(label) == drawn(label)
    assert "Glyph" not in "".join(str(warning.message) for warning in recwarn)
    assert drawn(label[:2]) != drawn("\U0001bc00\U0001bc00")


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
