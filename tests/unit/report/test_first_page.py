"""The first page of the PDF: the contents keep their distance from the last table, wherever they just fit."""

import json
from pathlib import Path

import pytest
import typst
from reident.report import fonts, render

pytestmark = pytest.mark.slow

PAGE = (Path(render.__file__).parent / "page.typ").read_text(encoding="utf-8")
PLACE = "#context [#metadata((what: {what}, page: {at}.page, y: {at}.y / 1pt)) <place>]"
LAST_ROW = PLACE.format(what='"row"', at="here().position()")
CONTENTS = PLACE.format(
    what='"contents"', at="query(heading.where(outlined: false)).first().location().position()"
)
LEAST = 18
"""Points between the top of the last row, which is 9 points high, and the heading of the contents."""


def places(folder, height):
    """Return the place of the last row of the table and that of the contents, below a block of this height in mm."""
    heads = "\n".join(f"#chapter({1 if at % 4 == 0 else 2})[Section {at}]\nText." for at in range(30))
    source = f"""{PAGE}
#show: report.with(title: "A study", subtitle: "Review", contents-title: "Contents", front: [
#block(height: {height}mm)
#data-table(columns: (auto, 1fr), align: (left, right), caption: [Verdict], header: ([A], [B]),
  [Unicity], [1], [Taxicab], [2], [Adhoc {LAST_ROW}], [3])
])
{heads}
{CONTENTS}"""
    path = folder / "page.typ"
    path.write_text(source, encoding="utf-8")
    found = typst.query(path, "<place>", font_paths=[str(fonts.DEJAVU.path.parent)], ignore_system_fonts=True)
    return {line["value"]["what"]: line["value"] for line in json.loads(found)}


def test_the_contents_never_touch_the_table_above_them(tmp_path):
    every = [places(tmp_path, height) for height in range(76, 104)]
    same = [own["contents"]["y"] - own["row"]["y"] for own in every if own["contents"]["page"] == 1]
    assert 0 < len(same) < len(every), "in some cases the contents fit, in others they do not"
    assert min(same) >= LEAST
