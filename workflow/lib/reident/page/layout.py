"""Contents of notebook cells: Markdown texts, tables, and sections that appear only with their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.page.sentences import Sentences, use

REPORT = "application/vnd.reident.report+markdown"
"""The media type of the output that the report is rendered from: Markdown with classes and captions."""


class Text(str):
    """Markdown of the report; a notebook shows it without the classes of the report's style sheets."""

    __slots__ = ()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/markdown": _without_classes(self), REPORT: str(self)}

    def __repr__(self) -> str:
        return _without_classes(self)


def _without_classes(text: str) -> str:
    for pattern, plainly in _CLASSES:
        text = pattern.sub(plainly, text)
    return text.strip()


_CLASSES = (
    (re.compile(r"^:{3,}.*\n?", re.MULTILINE), ""),  # fences of a box
    (re.compile(r"^: (.*) \{[^}]*\}$", re.MULTILINE), r"*\1*"),  # caption of a table
    (re.compile(r"^(#+ .*) \{[^}]*\}$", re.MULTILINE), r"\1"),  # class of a heading
    *[(re.compile(r"(?<!\\)\[((?:[^\\\[\]]|\\.)*)\]\{[^{}]*\}"), r"\1")] * 2,  # class of a phrase, also in another
    (re.compile(r"(?<!\\)\[((?:[^\\\[\]]|\\.)*)\]\(#[\w-]+\)"), r"\1"),  # link inside the report
)


class Block(NamedTuple):
    """A block of the report: a function of the results of a study or an edition, and the tables that it reads.

    `make` returns Markdown, a figure, or None. The block is left out if the study does not ask for one of the tables,
    or if one does not exist.
    """

    reads: tuple[str, ...]
    make: Callable[[Any], Any]

    def __call__(self, results: Any) -> Any:
        """Show the block for these results in their language, or None without its tables."""
        with use(results):
            return self.make(results) if results.has(*self.reads) else None


def block(*reads: str) -> Callable[[Callable[[Any], Any]], Block]:
    """Declare a function to be a block of the report that reads these tables."""
    return partial(Block, reads)


Piece = Block | tuple[Any, ...]
"""A block, or a subsection: its heading and its pieces."""


def section(results: Any, heading: str, *pieces: Piece, kind: str = "") -> list[Any]:
    """Return a section of the report: its heading and the content of its pieces; nothing if no piece has any.

    Parameters
    ----------
    results : Results or Edition
    heading : str
        The words that have its title and the key of it in their group ``titles``, such as ``utility.pairs``; or a
        :class:`Text`, which is Markdown; empty for a section without a heading.
    pieces : Block or (heading, piece, …)
    kind : {'', 'annex', 'closing'}
        Sections are numbered, annexes lettered; a closing section has neither number nor letter.
    """
    with use(results):
        return list(_section(results, heading, pieces, f" {{.{kind}}}" if kind else "", 1))


def _title(heading: str) -> str:
    """Return the title of a section."""
    words, _, key = heading.partition(".")
    return Sentences(words)(f"titles.{key}")


def _section(results: Any, heading: str, pieces: Iterable[Piece], mark: str, level: int) -> Iterator[Any]:
    contents: list[Any] = []
    for piece in pieces:
        if isinstance(piece, Block):
            content = piece(results)
            if content:
                contents.append(Text(content) if isinstance(content, str) else content)
        else:
            contents += _section(results, piece[0], piece[1:], "", level + 1)
    if contents and heading:
        title = heading if isinstance(heading, Text) else _title(heading)
        yield Text(f"{'#' * level} {title}{mark}")
    yield from contents


def grouped(kind: str, *pieces: Piece) -> Block:
    """Return a block that is a box of pieces, each a block or a heading with blocks; nothing if none has content."""

    def make(results: Any) -> str | None:
        contents: list[Any] = []
        for piece in pieces:
            heading, blocks = ("", (piece,)) if isinstance(piece, Block) else (piece[0], piece[1:])
            contents += _section(results, heading, blocks, " {.brief}", 1)
        return box(kind, *map(str, contents)) if contents else None

    return Block((), make)


class ReportColumn(NamedTuple):
    """A column of a table: its heading and cells in Markdown, their alignment and width.

    ``align`` is ``l`` or ``r``. ``width`` is ``auto`` (as wide as the cells) or a share of the remaining
    width, such as ``1fr``.
    """

    heading: str
    cells: Sequence[str]
    align: str = "r"
    width: str = "auto"


def table(caption: str, *columns: ReportColumn, kind: str = "", name: str = "") -> str:
    """Return a Markdown table of columns of equal length, the first of which names the rows, with a caption.

    Parameters
    ----------
    kind : str
        Classes, separated by spaces. ``compact`` tables are set in smaller type; readers can sort ``sortable`` ones in
        the HTML, and choose the lines of ``strata`` by their names; ``own-limit`` ones hold for the study's own rank
        limit alone.
    name : str
        The identifier to which links in the report lead.
    """
    rule = {"l": ":--", "r": "--:"}
    lines = [
        _row(column.heading for column in columns),
        _row(rule[column.align] for column in columns),
        *(_row(row) for row in zip(*(column.cells for column in columns), strict=True)),
    ]
    marks = " ".join(
        [
            *([f"#{name}"] if name else []),
            *(f".{class_}" for class_ in kind.split()),
            f'widths="{" ".join(c.width for c in columns)}"',
        ]
    )
    return "\n".join(lines) + f"\n\n: {caption} {{{marks}}}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def box(kind: str, *paragraphs: str, name: str = "") -> str:
    """Return paragraphs as a box whose classes, in `kind`, the style sheets define; links lead to its `name`."""
    inner = (len(match[0]) for paragraph in paragraphs for match in re.finditer("^:::+", paragraph, re.MULTILINE))
    fence = ":" * (max(inner, default=2) + 1)  # longer than those inside
    identifier = f"#{name} " if name else ""
    return "\n\n".join([f"{fence} {{{identifier}.{' .'.join(kind.split())}}}", *paragraphs, fence])


def paragraphs(*texts: str | None) -> str:
    """Return texts as paragraphs, without the empty ones."""
    return "\n\n".join(text for text in texts if text)


def items(texts: Iterable[str]) -> str:
    """Return a bulleted list."""
    return "\n".join(f"- {text}" for text in texts)


def locate(folder: str | Path, file: str, advice: str) -> Path:
    """Return a folder that holds a file, searched for from the working folder upwards; without it, say `advice`."""
    here = Path.cwd()
    for start in (here, *here.parents):
        if (start / folder / file).is_file():
            return start / folder
    raise InputError(f"{folder}: {advice}")
