"""Assemble the pages of the site in a folder, from which `make docs-site` builds it.

The pages are those of docs/, which can also be read in the repository. Here generated pages get their place, a page is
made of each chapter of the methods, links to files of the repository lead to copies, formulas become MathML, llms.txt
lists the pages, and the page with the methods in brief becomes a PDF too.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pypandoc
import typst
import yaml
from latex2mathml.converter import convert
from markdown.extensions.toc import slugify
from reident.page.fonts import DEJAVU

ROOT = Path(__file__).resolve().parents[1]
MOVED = {
    "CONTRIBUTING.md": "reference/contributing.md",
    "config/README.md": "reference/study-file.md",
    "docs/CLUSTER.md": "how-to/cluster.md",
    "docs/DATA.md": "reference/tables.md",
    "docs/METHODS.md": "reference/methods.md",
}
"""Pages that have another path in the site than in the repository."""
METHODS = "docs/METHODS.md"
"""The page of which each chapter is a page of the site, so that a search finds the chapter."""
SUMMARY, SUMMARY_PDF = "reference/summary.md", "reference/methods.pdf"
"""The page that is made as a PDF of one A4 page too, and its PDF."""
PAGES = ("*.md",)
ASSETS = ("*.css", "*.csv", "*.js", "*.png", "*.svg")
FENCE = re.compile(r"^( *)(```+)(\w*)[^\n]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
COMMENT = re.compile(r"^ *<!--.*?-->\n+", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))|(?<=src=\")([^\"]+)|(?<=href=\")([^\"]+)")


@cache
def sources() -> dict[str, str]:
    """Return the path in the site of each page, by its path in the repository."""
    pages = [path for pattern in PAGES for path in sorted((ROOT / "docs").rglob(pattern))]
    paths = [path.relative_to(ROOT).as_posix() for path in pages]
    return {path: path.removeprefix("docs/") for path in paths} | MOVED


@cache
def methods() -> dict[str, str]:
    """Return the chapters of the methods by their path in the site, after what precedes them and a list of them."""
    before, *chapters = re.split(r"^(?=## )", (ROOT / METHODS).read_text(encoding="utf-8"), flags=re.MULTILINE)
    pages, lines = {}, []
    for chapter in chapters:
        heading = chapter.removeprefix("## ").partition("\n")[0]
        number, name = heading.split(" ", 1)
        pages[f"reference/methods/{slugify(name, '-')}.md"] = re.sub(r"^##", "#", chapter, flags=re.MULTILINE)
        lines.append(f"| {number.rstrip('.')} | [{name}](METHODS.md#{slugify(heading, '-')}) |")
    contents = "\n".join(["", "| § | chapter |", "|---|---|", *lines, ""])
    return {MOVED[METHODS]: before + contents, **pages}


@cache
def headings() -> dict[str, str]:
    """Return the path in the site of each heading of the methods, by its anchor."""
    return {slugify(name, "-"): place for place, text in methods().items() for name in HEADING.findall(text)}


def place_of(path: str, anchor: str) -> str | None:
    """Return where the site has a heading of a file of the repository, or None."""
    if path != METHODS or not anchor:
        return sources().get(path)
    if anchor not in headings():
        raise ValueError(f"{path}: there is no heading `{anchor}`. Correct the link.")
    return headings()[anchor]


def parts(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the text between blocks of code, each with the block that follows it."""
    start = 0
    for block in FENCE.finditer(text):
        yield text[start : block.start()], block
        start = block.end()
    yield text[start:], None


def page(path: str, text: str, files: dict[str, str], place: str) -> str:
    """Return a page as the site has it at `place`; `files` takes the files of the repository to which it leads."""

    def link(match: re.Match[str]) -> str:
        target, hash_, anchor = match[0].partition("#")
        if not target or "://" in target:
            return match[0]
        resolved = os.path.normpath(PurePosixPath(path).parent / target)
        if not (ROOT / resolved).exists():
            raise ValueError(f"{path}: `{target}` is not a file of the repository. Correct the link.")
        found = place_of(resolved, anchor)
        if found is None and resolved.startswith("docs/"):
            found = resolved.removeprefix("docs/")
        elif found is None:
            found = files[resolved] = f"files/{resolved}.txt"
        return os.path.relpath(found, PurePosixPath(place).parent) + hash_ + anchor

    made = []
    for prose, block in parts(text):
        made.append(LINK.sub(link, COMMENT.sub("", prose)))
        if block and block[3] == "math":
            made.append(f'{block[1]}<span class="formula">{convert(block[4].strip(), display="block")}</span>')
        elif block:
            made.append(block[0])
    return nested("".join(made))


def nested(text: str) -> str:
    """Return Markdown with what is nested in lists by four blanks for each level, as this site's parser wants it."""
    lines: list[str] = []
    listed, loose, fence = False, False, None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if fence is not None:
            lines.append(" " * fence + line if line else line)
            if set(line.strip()) == {"`"}:
                fence = None
            continue
        item = bool(re.match(r" *(?:- |\d+\. )", line))
        if line and not indent:
            listed = item
        if item and loose and lines[-1]:
            lines.append("")
        loose = listed and not item and (loose or not line)
        wide = {0: 0, 3: 4, 6: 8}.get(indent, 2 * indent) if listed else indent
        lines.append(" " * (wide - indent) + line if line else line)
        if line.lstrip().startswith("```"):
            fence = wide - indent
    return "\n".join(lines)


def summary(text: str) -> str:
    """Return the first paragraph of a page."""
    plain = COMMENT.sub("", text)
    paragraphs = [part for part in plain.split("\n\n") if part.strip() and not re.match(r"#|<|!|```|\|", part)]
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", " ".join(paragraphs[0].split()))


def listed(entries: list) -> Iterator[tuple[str, str]]:
    """Yield the pages of a part of the navigation with their names; the first page of a group has the group's."""
    for entry in entries:
        ((name, place),) = entry.items()
        if isinstance(place, str):
            yield name, place
        else:
            yield name, place[0]
            yield from listed(place[1:])


def listing(nav: list, texts: dict[str, str]) -> str:
    """Return llms.txt: every page of the site by its part, with its first paragraph."""
    lines = ["# reident", "", f"> {summary(texts['index.md'])}", ""]
    for item in nav:
        ((title, entries),) = item.items()
        if isinstance(entries, str):
            continue
        lines += [f"## {title}", ""]
        for name, place in listed(entries):
            lines.append(f"- [{name}]({place.removesuffix('.md')}.html): {summary(texts[place])}")
        lines.append("")
    return "\n".join(lines)


def pdf(text: str) -> bytes:
    """Return a page without pictures as a tagged PDF, in the design of docs/summary.typ; its links become text."""
    markdown = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
    body = pypandoc.convert_text(markdown, "typst", "gfm", extra_args=["--wrap=none"])
    design = (ROOT / "docs" / "summary.typ").read_text(encoding="utf-8")
    return typst.compile(
        f"{design}\n{body}".encode(),
        font_paths=[str(DEJAVU.parent)],
        ignore_system_fonts=True,
        pdf_standards=["ua-1"],
        timestamp=0,
    )


def assemble(folder: Path) -> None:
    """Write the pages and what they need into an empty folder."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    files: dict[str, str] = {}
    texts = {}
    for path, first in sources().items():
        pages = methods() if path == METHODS else {first: (ROOT / path).read_text(encoding="utf-8")}
        for place, text in pages.items():
            texts[place] = text
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(page(path, text, files, place), encoding="utf-8")
    with (folder / SUMMARY).open("a", encoding="utf-8") as summarised:
        summarised.write(f"\n[This page as a PDF]({PurePosixPath(SUMMARY_PDF).name}), one A4 page to print.\n")
    (folder / SUMMARY_PDF).write_bytes(pdf(texts[SUMMARY]))
    named = re.findall(r"[\w/-]+\.md", str(nav))
    if sorted(named) != sorted(texts):
        raise ValueError(f"mkdocs.yml must list every page once: {sorted(set(named) ^ set(texts))}.")
    for pattern in ASSETS:
        for file in (ROOT / "docs").rglob(pattern):
            files[file.relative_to(ROOT).as_posix()] = file.relative_to(ROOT / "docs").as_posix()
    for path, place in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            contents = [f"# {file.name}\n\n{file.read_text('utf-8')}" for file in sorted((ROOT / path).iterdir())]
            (folder / place).write_text("\n".join(contents), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / path, folder / place)
    (folder / "llms.txt").write_text(listing(nav, texts), encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    assemble(target)
