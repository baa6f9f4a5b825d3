"""The fonts of labels in scripts that the fonts of the report lack: Chinese, Japanese, Korean, Devanagari, Thai.

They come from packages of the lock file, so a report has the same bytes whatever fonts the machine has. A page contains
the glyphs of its own characters only; one without such characters contains no font.
"""

from __future__ import annotations

import base64
import io
import logging
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

FAMILY = "Labels"
"""The name of the embedded fonts in the style sheet of a page."""

JOINERS = (0x20, 0x200C, 0x200D)
"""Characters that take part in the shaping of the letters around them."""

COMMON_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
"""Scripts for which every reader of a page has fonts."""


class Font(NamedTuple):
    """A font file: its family, its package with its file, and its place in a collection."""

    family: str
    package: str
    file: str
    place: int = 0

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        if not self.package:
            return Path(mpl.get_data_path()) / "fonts" / "ttf" / self.file
        return Path(str(resources.files(self.package) / self.file))


DEJAVU = Font("DejaVu Sans", "", "DejaVuSans.ttf")
"""The font of the figures, with Arabic, Armenian, Georgian, Hebrew and Lao."""

FONTS = (
    Font("Noto Sans CJK SC", "noto_cjk_sans_otc", "NotoSansCJK-Regular.ttc", 2),
    Font("Noto Sans Devanagari", "pylopdf_fonts_hi", "NotoSansDevanagari-Variable.ttf"),
    Font("Noto Sans Thai", "pylopdf_fonts_th", "NotoSansThai-Variable.ttf"),
)
FAMILIES = tuple(font.family for font in FONTS)


@cache
def _glyphs(font: Font) -> frozenset[int]:
    return frozenset(FT2Font(str(font.path), face_index=font.place).get_charmap())


def lacking(text: str) -> frozenset[int]:
    """Return the code points of a text of which the fonts of the report have no glyph."""
    return frozenset(map(ord, text)) - _glyphs(DEJAVU) if not text.isascii() else frozenset()


@cache
def register() -> None:
    """Let matplotlib find the fonts by their families; letters for which there is no bold font are not bold."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    for font in FONTS:
        font_manager.fontManager.addfont(str(font.path))


def folders(text: str) -> list[str]:
    """Return the folders of the fonts that a text needs beside those of the report."""
    lacks = lacking(text)
    return [str(font.path.parent) for font in FONTS if lacks and lacks & _glyphs(font)]


def faces(text: str) -> str:
    """Return the rules of a style sheet that embed the glyphs of a page's characters in less common scripts.

    There is one ``@font-face`` for each font that is needed, with the family :data:`FAMILY`; none for most pages.
    """
    codes = {ord(character) for character in set(text) if not _is_common(character)}
    rules = []
    for font in (DEJAVU, *FONTS) if codes else ():
        if glyphs := codes & _glyphs(font):
            codes -= glyphs
            data = base64.b64encode(_subset(font, glyphs)).decode()
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


def _subset(font: Font, points: Collection[int]) -> bytes:
    """Return the glyphs of code points, with the rules that shape them, as WOFF with the same bytes in every run."""
    from fontTools import subset  # noqa: PLC0415 - drawing a figure must not wait for it
    from fontTools.ttLib import TTFont  # noqa: PLC0415
    from fontTools.varLib import instancer  # noqa: PLC0415

    options = subset.Options(recalc_timestamp=False)
    options.drop_tables += ["FFTM"]  # a table of the editor of the font
    with TTFont(font.path, fontNumber=font.place, recalcTimestamp=False) as full:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[*points, *JOINERS])
        subsetter.subset(full)
        if "fvar" in full:
            usual = {axis.axisTag: axis.defaultValue for axis in full["fvar"].axes}
            instancer.instantiateVariableFont(full, usual, inplace=True)
        full.flavor = "woff"
        stream = io.BytesIO()
        full.save(stream)
    return stream.getvalue()
