"""The text of a draft: YAML with a comment for each guess, aligned within a block."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from reident.study.reading import TODO

_WIDTH = 118
_MAX_INDENT = 46
"""The furthest column at which comments of a block are aligned."""

_PLAIN = re.compile(r"[^\W\d_][\w ./()-]*(?<! )")
_TAKEN = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""Words that YAML readers take for something else; the study reader does not, but the eye may."""


def scalar(text: str) -> str:
    """Return a text as YAML, in double quotes unless it is a plain word."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _TAKEN and not text.startswith(TODO)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else f"\\U{ord(character):08X}" for character in escaped)


def flow(items: Iterable[str]) -> str:
    """Return texts as a list in brackets."""
    return f"[{', '.join(map(scalar, items))}]"


def key(columns: Sequence[str]) -> str:
    """Return a column, or a list of columns, as a value."""
    return scalar(columns[0]) if len(columns) == 1 else flow(columns)


def code(text: str) -> str:
    """Return a code as YAML; codes are always in quotation marks, but those that are words."""
    return text if re.fullmatch(r"[^\W\d_]{2,}", text) and scalar(text) == text else _quoted(text)


def code_list(items: Iterable[str]) -> str:
    """Return codes as a list in brackets."""
    return f"[{', '.join(map(_quoted, items))}]"


def table(recode: Mapping[str, str]) -> str:
    """Return a recode table as a mapping in braces."""
    return f"{{{', '.join(f'{code(old)}: {_quoted(new)}' for old, new in recode.items())}}}"


def one_line(text: str) -> str:
    """Return a text for a comment: without line ends and other control characters."""
    return "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))


def percent(share: float) -> str:
    """Return a share in whole per cent, never as 0 or 100 where it is not."""
    whole = f"{share:.0%}"
    if (whole == "0%" and share > 0) or (whole == "100%" and share < 1):
        whole = "less than 1%" if share < 0.5 else "more than 99%"
    return whole.replace("%", " %")


def number(n: int, noun: str) -> str:
    """Return a number with its noun, as in 1 record and 2 records."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Return names of columns for a sentence, at most so many of them and the number of the others."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    more = len(names) - len(names[:most])
    return f"{shown} and {more:,} more" if more else shown


class Sheet:
    """Lines of YAML, in blocks within which comments are aligned."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._block: list[tuple[str, str]] = []

    def add(self, text: str, comment: str = "") -> None:
        """Add a line, with a comment behind it; a long comment takes lines of its own below."""
        self._block.append((text, one_line(comment)))

    def remark(self, comment: str, indent: int = 0) -> None:
        """Add a comment on lines of its own."""
        self.end_block()
        self._add_comment(one_line(comment), indent)

    def gap(self) -> None:
        """End a block with an empty line."""
        self.end_block()
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def end_block(self) -> None:
        """End a block without an empty line."""
        lengths = [len(text) for text, comment in self._block if comment and len(text) <= _MAX_INDENT]
        column = max(lengths, default=0) + 2
        for text, comment in self._block:
            at = max(column, len(text) + 2)
            if not comment:
                self._lines.append(text)
            elif at + 2 + len(comment) > _WIDTH and at > _MAX_INDENT + 2:
                # No room behind a long line: above it.
                self._add_comment(comment, len(text) - len(text.lstrip()))
                self._lines.append(text)
            else:
                first, *rest = textwrap.wrap(comment, max(30, _WIDTH - at - 2))
                self._lines.append(f"{text:<{at}}# {first}")
                self._lines += [f"{'':<{at}}# {line}" for line in rest]
        self._block = []

    def _add_comment(self, comment: str, indent: int) -> None:
        lines = textwrap.wrap(comment, _WIDTH - indent - 2) or [""]
        self._lines += [f"{' ' * indent}# {line}".rstrip() for line in lines]

    def text(self) -> str:
        """Return the whole draft."""
        self.gap()
        return "\n".join(self._lines).rstrip("\n") + "\n"
