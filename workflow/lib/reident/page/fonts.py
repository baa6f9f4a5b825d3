"""The fonts of a report: DejaVu Sans, and the font that a study names for labels in scripts that DejaVu lacks.

A report has the same bytes whatever fonts the machine has. A page contains the glyphs of its own characters only; one
without letters for which its reader may lack a font contains no font.
"""

from __future__ import annotations

import base64
import io
import logging
import os
import tempfile
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

FAMILY = "Labels"
"""The name of embedded fonts in the style sheet of a page, and of the study's font in the PDF."""

VARIABLE = "REIDENT_FONT"
"""The environment variable that tells the kernel of a notebook where the study's font is."""

JOINERS = (0x20, 0x200C, 0x200D)
"""Characters that take part in the shaping of the letters around them."""

COMMON_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
"""Scripts for which every reader of a page has fonts."""

DEJAVU = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
"""The font of the figures, with Arabic, Armenian, Georgian, Hebrew and Lao."""


@cache
def _glyphs(font: Path) -> frozenset[int]:
    return frozenset(FT2Font(str(font)).get_charmap())


def lacking(text: str, font: Path | None = None) -> frozenset[int]:
    """Return the code points of a text without a glyph in DejaVu and the study's font."""
    if text.isascii():
        return frozenset()
    return frozenset(map(ord, text)) - _glyphs(DEJAVU) - (_glyphs(font) if font else frozenset())


def warnings(text: str, font: Path | None) -> list[str]:
    """Return a sentence on the letters of a text that are in no font of the report; none without such letters."""
    n = sum(unicodedata.category(chr(code))[0] not in "CZ" for code in lacking(text, font))
    subject = "1 letter of the labels is" if n == 1 else f"{n:,} letters of the labels are"
    what = f"{subject} in no font of the report: figures and PDF show boxes instead"
    return [f"Warning: {what}. Name a font that has them, by `font` in the study file."] if n else []


def of_kernel() -> Path | None:
    """Return the study's font, in the kernel of a notebook."""
    return Path(path) if (path := os.environ.get(VARIABLE)) else None


@cache
def registered(font: Path) -> str:
    """Let matplotlib find a font, and return the name for it; letters without a bold font are not bold."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    # The path as its name: a font of the machine may have the same family.
    entry = font_manager.FontEntry(fname=str(font), name=str(font), weight=400, size="scalable")
    font_manager.fontManager.ttflist.append(entry)
    return entry.name


@contextmanager
def folders(text: str, font: Path | None) -> Iterator[list[str]]:
    """Yield the folders of the fonts that the PDF of a text needs; that of the study is there as :data:`FAMILY`."""
    with tempfile.TemporaryDirectory(prefix="reident-") as place:
        if font and (points := lacking(text) & _glyphs(font)):
            (Path(place) / "labels.ttf").write_bytes(_subset(font, points, FAMILY))
        yield [str(DEJAVU.parent), place]


def faces(text: str, font: Path | None = None) -> str:
    """Return the rules of a style sheet that embed the glyphs of a page's characters in less common scripts.

    There is one ``@font-face`` for each font that is needed, with the family :data:`FAMILY`; none for most pages.
    """
    codes = {ord(character) for character in set(text) if not _is_common(character)}
    rules = []
    for file in (DEJAVU, *([font] if font else [])) if codes else ():
        if glyphs := codes & _glyphs(file):
            codes -= glyphs
            data = base64.b64encode(_subset(file, glyphs)).decode()
            rules.append(
                f'@font-face {{ font-family: "{FAMILY}"; src: url(data:font/woff;base64,{data}) format("woff"); '
                f"unicode-range: {', '.join(_ranges(glyphs))}; }}\n"
            )
    return "".join(rules)


def _is_common(character: str) -> bool:
    if character.isascii() or unicodedata.category(character)[0] not in "LM":
        return True
    return unicodedata.name(character, "LATIN").startswith((*COMMON_SCRIPTS, "COMBINING", "MODIFIER"))


def _ranges(points: Iterable[int]) -> Iterator[str]:
    """Yield code points as ranges of a style sheet, the lowest first."""
    runs: list[list[int]] = []
    for point in sorted(points):
        if runs and point == runs[-1][1] + 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    for low, high in runs:
        yield f"U+{low:X}" if low == high else f"U+{low:X}-{high:X}"


def _subset(font: Path, points: Collection[int], family: str = "") -> bytes:
    """Return the glyphs of code points, with the rules that shape them, with the same bytes in every run.

    They are WOFF, or a font with the name of its family.
    """
    from fontTools import subset  # noqa: PLC0415 - drawing a figure must not wait for it
    from fontTools.ttLib import TTFont  # noqa: PLC0415
    from fontTools.varLib import instancer  # noqa: PLC0415

    options = subset.Options(recalc_timestamp=False)
    options.drop_tables += ["FFTM"]  # a table of the editor of the font
    with TTFont(font, fontNumber=0, recalcTimestamp=False) as full:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[*points, *JOINERS])
        subsetter.subset(full)
        if "fvar" in full:
            usual = {axis.axisTag: axis.defaultValue for axis in full["fvar"].axes}
            instancer.instantiateVariableFont(full, usual, inplace=True)
        if family:
            full["name"].setName(family, 1, 3, 1, 0x409)
        else:
            full.flavor = "woff"
        stream = io.BytesIO()
        full.save(stream)
    return stream.getvalue()
