"""Render an executed notebook as HTML with pandoc and as PDF with Typst.

What a cell displays becomes part of the report: Markdown unchanged, SVG as a figure with its caption and
alternative text. Code is left out. Raw HTML and TeX are not read as Markdown.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import re
import string
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pypandoc
import typst

from reident import language as languages
from reident.page import fonts
from reident.page.layout import REPORT
from reident.page.sentences import Sentences
from reident.page.style import NARROW
from reident.page.wording import day, plain
from reident.sections.language import DEFAULT_LANGUAGE

MAX_TITLE_LENGTH = 300
TEXT = Sentences("page")
HERE = Path(__file__).parent
MARKDOWN = (
    "markdown_strict-raw_html+all_symbols_escapable+bracketed_spans+fenced_divs+header_attributes+implicit_figures"
    "+intraword_underscores+link_attributes+pipe_tables+table_attributes+table_captions+tex_math_dollars+auto_identifiers"
)
"""The Markdown of the report: only what the library writes, and no extension that could carry foreign code."""


class Rendered(NamedTuple):
    """The report as one HTML page and as one PDF document."""

    html: str
    pdf: bytes


class Drawn(NamedTuple):
    """The drawings of a figure for pages and for phones, as SVG."""

    wide: str
    narrow: str


class Content(NamedTuple):
    """The content of a notebook: the front page and the rest as Markdown, and the figures by file name."""

    front: str
    body: str
    figures: dict[str, Drawn]


class About(NamedTuple):
    """The facts about the report for the front page and the metadata of the files; all texts are plain.

    Attributes
    ----------
    subtitle, footer, front : str
        The subtitle, the line at the foot of the first page and the name of the front page; empty for the usual ones.
    date : datetime.date or None
        Without it the PDF does not conform to PDF/A, which requires one.
    banner : str
        A line at the top of every page; empty for none.
    style : str
        CSS that follows the style sheet of the page.
    internal : bool
        Whether it is the report itself, which must not be published: it has a banner, and a date or the word "undated".
    live : bool
        Whether the HTML has the script that sorts tables and explains terms. It is the only one that the page's policy
        allows, by its hash.
    """

    title: str
    subtitle: str = ""
    agency: str = ""
    study: str = ""
    date: datetime.date | None = None
    footer: str = ""
    front: str = ""
    banner: str = ""
    style: str = ""
    language: str = DEFAULT_LANGUAGE
    internal: bool = False
    live: bool = False

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return the agency, the study and the date where they are given, by name."""
        date = day(self.date) if self.date else TEXT("undated") if self.internal else ""
        facts = {"agency": self.agency, "study": self.study, "date": date}
        return [(TEXT(f"facts.{name}"), value) for name, value in facts.items() if value]


PLAIN = ("title", "subtitle", "agency", "study", "footer", "front", "banner")
"""The texts about a report that may have any character."""


def render(
    content: Content, about: About, font: Path | None = None, say: Callable[[str], object] = lambda _: None
) -> Rendered:
    """Render the content of a notebook: the same bytes for the same content, texts and font of the study.

    ``say(warning)`` takes a sentence on letters that no font has.
    """
    with languages.use(about.language):
        usual = {"subtitle": TEXT("subtitle"), "footer": TEXT("footer"), "front": TEXT("front")}
        usual |= {"banner": TEXT("banner")} if about.internal else {}
        fields = {name: getattr(about, name) or usual.get(name) for name in PLAIN}
        texts: dict[str, Any] = {name: plain(text, MAX_TITLE_LENGTH) if text else "" for name, text in fields.items()}
        about = about._replace(**texts)
        for warning in fonts.warnings("".join((content.front, content.body, *texts.values())), font):
            say(warning)
        # Mostly programs of others, which work side by side.
        with ThreadPoolExecutor(1) as executor:
            document = executor.submit(copy_context().run, to_pdf, content, about, font)
            return Rendered(to_html(content, about, font), document.result())


def read(notebook: nbformat.NotebookNode) -> Content:
    """Return the content of an executed notebook; the cell tagged ``front`` fills the front page."""
    return gather(
        ("front" in cell.metadata.get("tags", []), output.get("data", {}), output.get("metadata", {}))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )


def gather(bundles: Iterable[tuple[bool, Mapping[str, Any], Mapping[str, Any]]]) -> Content:
    """Return the content of outputs, each given as whether it is on the front page, data by media type, metadata."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    figures: dict[str, Drawn] = {}
    for front, data, metadata in bundles:
        if svg := data.get("image/svg+xml"):
            name, about = f"figure-{len(figures) + 1:02d}.svg", metadata["image/svg+xml"]
            figures[name] = Drawn(svg, data.get(NARROW, svg))
            alt = html.escape(" ".join(about["alt"].split())).replace("\\", "&#92;")
            texts[front].append(f'![{about["caption"]}]({name}){{alt="{alt}"}}')
        elif text := data.get(REPORT, data.get("text/markdown")):
            texts[front].append(text)
    return Content("\n\n".join(texts[True]), "\n\n".join(texts[False]), figures)


def _pandoc(markdown: str, to: str, *options: str) -> str:
    # In a line longer than `columns`, pandoc would read the dashes below the header of a table as widths.
    return pypandoc.convert_text(
        markdown, to, MARKDOWN, extra_args=["--quiet", "--wrap=none", "--columns=99999", "--sandbox", *options]
    )


def to_html(content: Content, about: About, font: Path | None = None) -> str:
    """Return one page that makes no request: it contains the style sheet, the figures and at most its own script."""
    page = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
    options = ["--mathml", f"--lua-filter={HERE / 'wrap.lua'}", "--shift-heading-level-by=1"]
    options.append(f"--metadata=annex:{TEXT('annex')}")
    options.append(f"--metadata=terms:{' '.join(TERM.findall(content.body))}")
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "parts.html"
        template.write_text("$toc$\f$body$", encoding="utf-8")
        both = _pandoc(
            content.body, "html5", *options, "--toc", "--toc-depth=3", "--standalone", f"--template={template}"
        )
    contents, body = both.split("\f")
    script = _script() if about.live else dict.fromkeys(("policy", "numbers", "controls"), "")
    policy = script.pop("policy")
    fields = {
        "language": about.language,
        "title": html.escape(about.title),
        "subtitle": html.escape(about.subtitle),
        "facts": "\n".join(
            f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in about.facts
        ),
        "banner": f'\n<aside class="banner">{html.escape(about.banner)}</aside>' if about.banner else "",
        "skip": html.escape(TEXT("skip")),
        "front_title": html.escape(about.front),
        "contents_title": html.escape(TEXT("contents")),
        "footer": html.escape(about.footer),
        **script,
        "contents": contents,
        "front": _pandoc(content.front, "html5", *options, "--metadata=prefix:front-"),
        "body": body,
    }
    faces = fonts.faces(html.unescape("".join(fields.values())), font)
    css = (HERE / "page.css").read_text(encoding="utf-8")
    if faces:  # they have the letters for which a reader may lack a font
        for family in ("--sans: ", "--serif: "):
            css = css.replace(family, f'{family}"{fonts.FAMILY}", ', 1)
        css = css.replace(", monospace", f', "{fonts.FAMILY}", monospace')
    words = f':root {{ --table: "{TEXT("table")} "; --figure: "{TEXT("figure")} "; }}\n'
    text = page.substitute(
        fields, css=words + faces + css + about.style, policy=("; font-src data:" if faces else "") + policy
    )
    return re.sub(r'<img\ssrc="([^"]+)"[^>]*>', lambda image: _picture(image, content.figures), text)


TERM = re.compile(r"\{#term-([\w-]+) ")
"""An entry of the glossary."""


def _script() -> dict[str, str]:
    """Return the parts of the page that belong to its script."""
    script = (HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    language = languages.current()
    texts = {key: html.escape(text) for key, text in TEXT.group("controls").items()}
    controls = string.Template((HERE / "controls.html").read_text(encoding="utf-8")).substitute(texts)
    return {
        "policy": f"; script-src 'sha256-{digest}'",
        "numbers": f' data-decimal="{html.escape(language.decimal)}" data-group="{html.escape(language.thousands)}"',
        "controls": f"{controls}<script>{script}</script>\n",
    }


def _picture(match: re.Match[str], figures: dict[str, Drawn]) -> str:
    wide, narrow = (f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" for svg in figures[match[1]])
    image = match[0].replace(match[1], wide, 1)
    return f'<picture><source media="screen and (max-width: 36rem)" srcset="{narrow}">{image}</picture>'


def to_pdf(content: Content, about: About, font: Path | None = None) -> bytes:
    """Return a tagged PDF/UA-1 document, with a date also PDF/A-2a, in fonts of packages and that of the study."""
    options = [f"--lua-filter={HERE / 'filter.lua'}"]
    front, body = (_pandoc(text, "typst", *options) for text in (content.front, content.body))
    values = {
        "title": about.title,
        "subtitle": about.subtitle,
        "agency": about.agency,
        "study": about.study,
        "contents-title": TEXT("contents") if content.body else "",
        "annex-title": TEXT("annex"),
        "footer": about.footer,
        "page-word-is": TEXT("page", n="{n}"),
    }
    values |= {"banner": about.banner} if about.banner else {}
    facts = "".join(f"({_literal(name)}, {_literal(value)}), " for name, value in about.facts)
    named = ", ".join(f"{name}: {_literal(value)}" for name, value in values.items())
    date = about.date
    stamp = f"datetime(year: {date.year}, month: {date.month}, day: {date.day})" if date else "none"
    source = "\n".join(
        [
            (HERE / "page.typ").read_text(encoding="utf-8"),
            f"#show: report.with({named}, facts: ({facts}), lang: {_literal(about.language)}, date: {stamp},",
            f"front: [\n{front}\n])",
            body,
        ]
    )
    # Compiled from memory: temporary files with the content of the report would outlive a killed process.
    files = {"main.typ": source} | {name: drawn.wide for name, drawn in content.figures.items()}
    with fonts.folders(source, font) as folders:
        return typst.compile(  # type: ignore[call-overload] # its stubs do not allow files by name
            {name: text.encode() for name, text in files.items()},
            font_paths=folders,
            ignore_system_fonts=True,
            pdf_standards=["ua-1", "a-2a"] if date else ["ua-1"],
            timestamp=0,
        )


def _literal(text: str) -> str:
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
