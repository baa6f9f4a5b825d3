"""The page on two releases, which the board reads when a file is released again (METHODS §10)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from reident import language
from reident.archive.comparison import SIDES, Comparison
from reident.archive.differences import Difference, Share
from reident.page import style
from reident.page.common import top_of
from reident.page.layout import Text
from reident.page.sentences import Sentences
from reident.page.style import Figure
from reident.page.terms import title
from reident.page.wording import percent
from reident.report.blocks import release_changes, releases
from reident.report.blocks.releases import level_of
from reident.report.render import About, gather, render

TEXT = Sentences("releases")


def page(comparison: Comparison) -> dict[str, str | bytes]:
    """Return the page on two releases as HTML and PDF, by suffix: the same bytes for the same releases."""
    after = comparison.after.study
    code = language.named(after)
    with language.use(code):
        bundles = [*_bundles(_front(comparison), front=True), *_bundles(_body(comparison), front=False)]
        about = About(
            title=after["title"] or after["id"],
            subtitle=TEXT("subtitle"),
            agency=after["agency"] or "",
            study=TEXT("both", before=comparison.before.name, after=comparison.after.name),
            date=None if after["date"] is None else datetime.date.fromisoformat(after["date"]),
            language=code,
        )
        return render(gather(bundles), about)._asdict()


def _front(comparison: Comparison) -> list[Any]:
    return [releases.conclusion(comparison), releases.findings(comparison), releases.front_rates(comparison)]


def _body(comparison: Comparison) -> list[Any]:
    changes, of = release_changes, comparison
    sections: list[tuple[str, list[Any]]] = [
        (f"# {TEXT('section_rates')}", [rates_figure(of), releases.all_rates(of)]),
        (f"# {TEXT('section_groups')}", [releases.group_rates(of), changes.strata(of)]),
        (f"# {TEXT('section_measures')}", [changes.measures(of)]),
        (f"# {TEXT('section_changes')}", [" "]),
    ]
    lists = (changes.files, changes.variables, changes.codes, changes.options, changes.code, changes.verdicts)
    sections += [(f"## {TEXT(f'{change.__name__}.heading')}", [change(of)]) for change in lists]
    return [piece for heading, pieces in sections if any(pieces) for piece in (heading, *pieces)]


def _bundles(pieces: Iterable[Any], *, front: bool) -> Iterator[tuple[bool, Any, Any]]:
    for piece in filter(None, pieces):
        bundle = (Text(piece) if isinstance(piece, str) else piece)._repr_mimebundle_()
        yield (front, *(bundle if isinstance(bundle, tuple) else (bundle, {})))


OFFSET = 0.16
"""How far the two releases are from the middle of their row."""

LOOKS = {"before": style.hollow(5, clip_on=False), "after": style.full(5, 4, clip_on=False)}
BANDS = {"before": "#c9ced4", "after": style.SUSPECTED}


def rates_figure(comparison: Comparison) -> Figure | None:
    """Draw the rates that show the risk, one row per metric: before above after, with intervals."""
    metrics = list(dict.fromkeys(line.metric for line in comparison.whole))
    lines = {(line.metric, line.rate): line for line in comparison.whole}
    if not any(share.rate is not None for line in comparison.whole for share in (line.before, line.after)):
        return None

    def draw(rate: str, axes: Axes) -> None:
        differences = [lines.get((metric, rate)) for metric in metrics]
        for side in SIDES:
            _side(axes, side, [None if line is None else getattr(line, side) for line in differences])
        ends = [end for line in differences if line is not None for end in _ends(line)]
        style.percent_axis(axes, top_of(ends, None), 4)

    caption = TEXT("figure.caption", level=level_of(comparison))
    return style.row_figure(
        {name: partial(draw, rate) for rate, name in TEXT.group("figure.panels").items()},
        [title(metric) for metric in metrics],
        height=0.75 + 1.35 * style.height_of(len(metrics)),
        alt=_alt(comparison.whole),
        caption=TEXT("figure.caption_exact") if comparison.same_records else caption,
        between=0.06,
    )


def _ends(line: Difference) -> list[float]:
    ends = [share.high if share.high is not None else share.rate for share in (line.before, line.after)]
    return [end for end in ends if end is not None]


def _side(axes: Axes, side: str, shares: list[Share | None]) -> None:
    shift = -OFFSET if side == "before" else OFFSET
    points = [(at + shift, share) for at, share in enumerate(shares) if share is not None]
    for at, share in points:
        if share.low is not None and share.high is not None:
            axes.hlines(at, share.low, share.high, color=BANDS[side], linewidth=3.5, zorder=2)
    values = [float("nan") if share.rate is None else share.rate for _, share in points]
    places = [at for at, _ in points]
    axes.plot(values, places, "o", label=TEXT(f"figure.{side}"), **LOOKS[side])


def _alt(lines: list[Difference]) -> str:
    texts = [TEXT("figure.alt.start")]
    for metric in dict.fromkeys(line.metric for line in lines):
        cells = []
        for line in (line for line in lines if line.metric == metric):
            ends = {"before": percent(line.before.rate), "after": percent(line.after.rate)}
            cells.append(TEXT("figure.alt.cell", rate=TEXT(f"rates.{line.rate}"), **ends))
        texts.append(TEXT("figure.alt.line", metric=title(metric), cells=", ".join(cells)))
    return " ".join(texts)
