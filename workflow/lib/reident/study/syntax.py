"""The place of a mistake in the syntax of a YAML file, and a remedy: the parser notices many only lines later."""

from __future__ import annotations

import re

import yaml

_GLUED = re.compile(r"^\s*(?:- )?(?P<key>[A-Za-z_][\w-]*):[^\s/:]")
_TWO_COLONS = re.compile(r"^\s*(?:- )?[A-Za-z_][\w-]*:\s+[^\"'{\[#].*:\s")
_CLOSING = {"flow sequence": ("[", "]"), "flow mapping": ("{", "}")}
_STARTS = "@%`*&!|>,?"
_START, _HERE = "where it begins", "where it is noticed"
_NAMED = (
    ("quoted scalar found unexpected end", _START, "a quotation mark is not closed", "Add the second one."),
    ("escape character", _HERE, "a backslash in double quotation marks", "Use single quotation marks."),
    ("\\t", _HERE, "a tab in the indentation", "Use blanks."),
    ("could not find expected ':'", _START, "a colon is missing after a key", "Write `key: value`."),
    ("expected <block end>", _HERE, "the indentation differs from that of the keys above", "Indent them alike."),
)
"""Words of the parser, whether the line is that where the value begins, what is wrong, and what to do."""

_USUAL = "Check the indentation and the quotation marks."


def locate(text: str, error: yaml.YAMLError) -> tuple[int | None, str, str]:
    """Return the line of a mistake, from 1 (None if it is not known), the problem, and a remedy."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return None, getattr(error, "reason", None) or "syntax error", _USUAL
    lines, at = text.split("\n"), error.problem_mark.line
    line = lines[at] if at < len(lines) else ""
    context, problem = error.context or "", error.problem or "syntax error"
    start = error.context_mark.line if error.context_mark else at
    if (opened := _open_quote(text, at)) is not None:
        return opened + 1, "a quotation mark is not closed", "Add the second one."
    for words, where, what, remedy in _NAMED:
        if words in f"{context} {problem}":
            return (start if where == _START else at) + 1, what, remedy
    for kind, (opening, closing) in _CLOSING.items():
        if kind in context:
            return start + 1, f"`{opening}` is not closed by `{closing}`", f"Add `{closing}`, or a comma."
    if "mapping values are not allowed" in problem:
        return _unexpected_colon(lines, at)
    first = "*" if "an alias" in context else line[error.problem_mark.column :][:1]
    if first and first in _STARTS:
        return at + 1, f"a value must not begin with `{first}`", "Put the value in quotation marks."
    if problem.startswith("but "):
        problem = f"{context} {problem}"
    return at + 1, problem, _USUAL


def _open_quote(text: str, until: int) -> int | None:
    """Return the line (from 0) of a quoted text that ends on a later line, that of a mistake; None without one."""
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            start, end = token.start_mark.line, token.end_mark.line
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and start < end == until:
                return int(start)
    except yaml.YAMLError:
        pass
    return None


def _unexpected_colon(lines: list[str], at: int) -> tuple[int | None, str, str]:
    """Return the line, problem and remedy where a key follows a value instead of a section."""
    line = lines[at]
    if re.match(r"\s*-\S", line):
        return at + 1, "a blank is missing after `-`", "Write `- item`."
    if _TWO_COLONS.match(line):
        remedy = "Put the value in quotation marks."
        return at + 1, "a value has a colon and a blank", remedy
    before = next((number for number in range(at - 1, -1, -1) if lines[number].strip()), None)
    if before is not None and (glued := _GLUED.match(lines[before])):
        key = glued["key"]
        return before + 1, f"a blank is missing after `{key}:`", f"Write `{key}: value`."
    return at + 1, "a key is indented that belongs to no section", _USUAL
