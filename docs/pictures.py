"""Draw the pictures of pages from results, with the code that draws those of reports.

`.venv/bin/python docs/pictures.py results` writes docs/assets/report-*.svg from the results of bundled studies.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reident.challenge.report import attacks_figure
from reident.distances.report import closest_figure
from reident.filerisk.report_population import risk_calibration_figure
from reident.page.layout import Block
from reident.report.blocks.agreement import agreement_figure
from reident.report.blocks.fellegi_sunter import calibration_figure
from reident.report.blocks.patterns import ranks_figure
from reident.report.blocks.strata import rates_by_stratum_figure
from reident.report.blocks.surest import surest_figure
from reident.report.blocks.units import units_figure
from reident.report.results import Results
from reident.utility.report import utility_frontier_figure

ASSETS = Path(__file__).parent / "assets"
PICTURES: dict[str, tuple[str, Block]] = {
    "agreement": ("example", agreement_figure),
    "attacks": ("example", attacks_figure),
    "calibration": ("example", calibration_figure),
    "ranks": ("example", ranks_figure),
    "regions": ("example", rates_by_stratum_figure),
    "surest": ("example", surest_figure),
    "units": ("example-households", units_figure),
    "frontier": ("example-protection", utility_frontier_figure),
    "closest": ("synthetic-survey", closest_figure),
    "population": ("dis-suda-2003", risk_calibration_figure),
}
"""The study and the figure of its report, by the name of the picture."""


def draw(results: Path) -> None:
    """Write every picture, on white, so that it can be read in both colours of the site."""
    for name, (study, figure) in PICTURES.items():
        drawn = figure(Results(results / study))
        (ASSETS / f"report-{name}.svg").write_text(drawn.svg, encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
