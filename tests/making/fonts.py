"""Fonts for labels: small ones, made of DejaVu's Latin letters."""

from __future__ import annotations

from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from reident.page.fonts import DEJAVU

FAMILY = "Made Letters"
POSTSCRIPT = "MadeLetters"


def write(file: Path, letters: str, first: str = "A") -> Path:
    """Write a font in which these letters look like `first` and the Latin letters that follow it."""
    points = sorted(set(map(ord, letters)))
    latin = range(ord(first), ord(first) + len(points))
    options = subset.Options(drop_tables=["GSUB", "GPOS", "GDEF", "FFTM"], recalc_timestamp=False)
    with TTFont(DEJAVU, recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[0x20, *latin])
        subsetter.subset(font)
        for table in font["cmap"].tables:
            table.cmap = {0x20: "space"} | {
                point: table.cmap[letter] for point, letter in zip(points, latin, strict=True)
            }
        for number, name in ((1, FAMILY), (4, FAMILY), (6, POSTSCRIPT)):
            font["name"].setName(name, number, 3, 1, 0x409)
        font.save(file)
    return file
