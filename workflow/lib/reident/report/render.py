"""An executed notebook as a page and as a document: one Markdown text, HTML by pandoc, PDF by typst.

What a cell displays becomes part of the report: Markdown as it is, SVG as a figure with its caption
and alternative text. Code is left out. Raw HTML and TeX are no part of the Markdown that is read.
"""

from __future__ import annotations

import base64
import datetime
import html
import re
import string
import tempfile
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import nbformat
import pypandoc
import typst

from reident.report.figures.style import NARROW
from reident.report.layout import REPORT
from reident.report.wording import plain

LONGEST_TITLE = 300
HERE = Path(__file__).parent
LANGUAGE = "en"
MARKDOWN = (
    "markdown_strict-raw_html+all_symbols_escapable+bracketed_spans+fenced_divs+header_attributes+implicit_figures"
    "+intraword_underscores+link_attributes+pipe_tables+table_attributes+table_captions+tex_math_dollars+auto_identifiers"
)
"""The Markdown of the report: what the library writes, and nothing that could carry foreign code."""

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
"""In the report's language, whatever the machine's."""


class Rendered(NamedTuple):
    """The report as one HTML page and as one PDF document."""

    html: str
    pdf: bytes


class Drawn(NamedTuple):
    """A figure's drawing for pages, and the one for phones, as SVG."""

    wide: str
    narrow: str


class Content(NamedTuple):
    """What a notebook shows: the front page and the rest as Markdown, and the figures by file name."""

    front: str
    body: str
    figures: dict[str, Drawn]


class About(NamedTuple):
    """What stands above the report and in the metadata of its files."""

    title: str
    subtitle: str
    agency: str
    study: str
    date: datetime.date | None

    @property
    def day(self) -> str:
        """The date in words, empty where the study gives none."""
        return f"{self.date.day} {MONTHS[self.date.month - 1]} {self.date.year}" if self.date else ""


def render(
    notebook: nbformat.NotebookNode,
    *,
    title: str,
    subtitle: str = "Disclosure review report",
    agency: str = "",
    study: str = "",
    date: datetime.date | None = None,
) -> Rendered:
    """Render an executed notebook.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        As :func:`reident.report.execute.execute` gives it. The cell tagged ``front`` fills the front page.
    title, subtitle, agency, study : str
        Plain text.
    date : datetime.date or None
        The date of the report; without one the front page names none, and the PDF, which must have
        one in its metadata, has the first day of 1970.

    Returns
    -------
    Rendered
        The same bytes for the same notebook and texts.
    """
    content = read(notebook)
    title, subtitle, agency, study = (
        plain(text, LONGEST_TITLE) if text else "" for text in (title, subtitle, agency, study)
    )
    about = About(title, subtitle, agency, study, date)
    return Rendered(to_html(content, about), to_pdf(content, about))


def read(notebook: nbformat.NotebookNode) -> Content:
    """What the cells of an executed notebook show, in their order."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    figures: dict[str, Drawn] = {}
    for cell in notebook.cells:
        front = "front" in cell.metadata.get("tags", [])
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name = f"figure-{len(figures) + 1:02d}.svg"
                figures[name] = Drawn(data["image/svg+xml"], data.get(NARROW, data["image/svg+xml"]))
                about = output.metadata["image/svg+xml"]
                texts[front].append(f'![{about["caption"]}]({name}){{alt="{_attribute(about["alt"])}"}}')
            elif REPORT in data:
                texts[front].append(data[REPORT])
            elif "text/markdown" in data:
                texts[front].append(data["text/markdown"])
    return Content("\n\n".join(texts[True]), "\n\n".join(texts[False]), figures)


def _attribute(text: str) -> str:
    """Text as the value of an attribute in Markdown."""
    return html.escape(" ".join(text.split())).replace("\\", "&#92;")


def _pandoc(markdown: str, to: str, *options: str) -> str:
    # Columns: in a longer line the reader would take the dashes under a table's head for widths.
    return pypandoc.convert_text(
        markdown,
        to,
        MARKDOWN,
        extra_args=["--quiet", "--wrap=none", "--columns=99999", "--sandbox", *options],
    )


def to_html(content: Content, about: About) -> str:
    """One page that makes no request: style sheet and figures are in it, and no script."""
    page = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
    options = ["--mathml", f"--lua-filter={HERE / 'wrap.lua'}", "--shift-heading-level-by=1"]
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "parts.html"
        template.write_text("$toc$\f$body$", encoding="utf-8")
        both = _pandoc(
            content.body,
            "html5",
            *options,
            "--toc",
            "--toc-depth=3",
            "--standalone",
            f"--template={template}",
        )
    contents, body = both.split("\f")
    facts = [("Agency", about.agency), ("Study", about.study), ("Date", about.day)]
    text = page.substitute(
        language=LANGUAGE,
        title=html.escape(about.title),
        subtitle=html.escape(about.subtitle),
        facts="\n".join(
            f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in facts if value
        ),
        css=(HERE / "page.css").read_text(encoding="utf-8"),
        contents=contents,
        front=_pandoc(content.front, "html5", *options, "--metadata=prefix:front-"),
        body=body,
    )
    return re.sub(r'<img\ssrc="([^"]+)"[^>]*>', lambda found: _picture(found, content.figures), text)


def _picture(found: re.Match[str], figures: dict[str, Drawn]) -> str:
    """An image of pandoc's as the drawing that fits the screen."""
    wide, narrow = (
        f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" for svg in figures[found[1]]
    )
    image = found[0].replace(found[1], wide, 1)
    return f'<picture><source media="screen and (max-width: 36rem)" srcset="{narrow}">{image}</picture>'


def to_pdf(content: Content, about: About) -> bytes:
    """A tagged PDF/UA-1 and PDF/A-2a document, set in the fonts that typst and matplotlib bring along."""
    options = [f"--lua-filter={HERE / 'filter.lua'}"]
    front, body = (_pandoc(text, "typst", *options) for text in (content.front, content.body))
    date = about.date or datetime.date(1970, 1, 1)
    values = {
        "title": about.title,
        "subtitle": about.subtitle,
        "agency": about.agency,
        "study": about.study,
        "day": about.day,
    }
    named = ", ".join(f"{name}: {_literal(value)}" for name, value in values.items())
    stamp = f"datetime(year: {date.year}, month: {date.month}, day: {date.day})"
    source = "\n".join(
        [
            (HERE / "page.typ").read_text(encoding="utf-8"),
            f"#show: report.with({named}, lang: {_literal(LANGUAGE)}, date: {stamp}, front: [\n{front}\n])",
            body,
        ]
    )
    # From memory: a folder of temporary files would outlive a killed process, with all that the report says.
    files = {"main.typ": source} | {name: drawn.wide for name, drawn in content.figures.items()}
    return typst.compile(  # type: ignore[call-overload] # its stubs know no files by name
        {name: text.encode() for name, text in files.items()},
        font_paths=[str(Path(mpl.get_data_path()) / "fonts" / "ttf")],
        ignore_system_fonts=True,
        pdf_standards=["ua-1", "a-2a"],
        timestamp=0,
    )


def _literal(text: str) -> str:
    r"""Text as a string of Typst.

    Examples
    --------
    >>> print(_literal('a "b" \\'))
    "a \"b\" \\"
    """
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
