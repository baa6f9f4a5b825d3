"""Reading YAML study files safely, and saying where in the file a mistake is.

Every scalar is text until the study model types it, so that ``NO``, ``012`` and
``22:30`` stay what the analyst wrote. A repeated key is an error, not the last one
winning. Each value remembers its line, so that a message of the model can name it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from reident.errors import InputError

_SECTION = "should be a section: write its keys below it, or as `{{key: value}}`"
_WHOLE, _NUMBER = "should be a whole number", "should be a number, with a point before its decimals"
_WORDS = {
    "none": "nothing is written, or null; write a value, in quotes if it is the word null",
    "model_type": _SECTION,
    "model_attributes_type": _SECTION,
    "dict_type": _SECTION,
    "tuple_type": "should be a list: write its items in brackets, as in `[a, b]`",
    "list_type": "should be a list: write its items in brackets, as in `[a, b]`",
    "too_short": "should have at least {n} item{s} and has {actual_length}; add what is missing",
    "too_long": "should have at most {n} item{s}; remove some",
    "string_type": "should be one text, and is a list or a section; write it alone",
    "string_too_short": "should have at least {n} character{s}; write more",
    "string_too_long": "should have at most {n} character{s}; write fewer",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "date_type": "should be a day; write YYYY-MM-DD",
    "date_parsing": "is no day of the calendar; write YYYY-MM-DD",
    "date_from_datetime_parsing": "is no day of the calendar; write YYYY-MM-DD",
}
"""What a mistake is in words that need no knowledge of Python, by its kind."""

_DEEPEST = 50
"""So deep may lists and sections stand in one another; no study needs more than ten levels."""

_NULLS = {"", "~", "null", "Null", "NULL"}


def read(path: Path) -> tuple[Any, yaml.Node]:
    """The plain content of a YAML file (dict, list, str, None) and its node tree.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, is not YAML, is empty, or repeats a key.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path}: the study file cannot be read ({error.strerror}); check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: the study file is not UTF-8 text; save it as UTF-8.") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if isinstance(node, yaml.MappingNode):
            return _plain(node, path, ()), node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "a mistake in the YAML"
        raise InputError(f"{path}{line}: not valid YAML ({problem}); check indentation and quotes.") from None
    except RecursionError:
        raise _deep(path, None) from None
    raise InputError(
        f"{path}: a study file is a mapping of keys such as `id:` and `files:`; this one is not."
    )


def _deep(path: Path, node: yaml.Node | None) -> InputError:
    line = f", line {node.start_mark.line + 1}" if node else ""
    return InputError(
        f"{path}{line}: lists or sections stand too deep in one another; a study needs few, remove them."
    )


def _plain(node: yaml.Node, path: Path, above: tuple[int, ...]) -> Any:
    if id(node) in above:
        raise InputError(f"{path}, line {node.start_mark.line + 1}: an alias refers to itself; write it out.")
    if len(above) > _DEEPEST:
        raise _deep(path, node)
    above = (*above, id(node))
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and node.value in _NULLS else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, path, above) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(f"{path}, line {line}: a key must be plain text.")
        if key.value in mapping:
            raise InputError(f"{path}, line {line}: the key `{key.value}` is repeated; keep one of the two.")
        mapping[key.value] = _plain(value, path, above)
    return mapping


def line_of(node: yaml.Node, location: Sequence[str | int]) -> int:
    """The line (from 1) of the value at `location`, or of the deepest value that exists on the way."""
    line = node.start_mark.line + 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if found:
                line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _key(location: Sequence[str | int], data: Any) -> str:
    """The location as written in the file; parts that pydantic adds for unions are dropped."""
    shown = ""
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if isinstance(part, int):
            shown += f"[{part + 1}]"
            data = data[part] if isinstance(data, list) and part < len(data) else None
        elif isinstance(data, dict) and (part in data or last):
            shown += f".{part}" if shown else part
            data = data.get(part)
    return shown or "the file"


def _reason(error: Any, known: Sequence[str]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return (
            f"unknown key; {f'did you mean `{close[0]}`?' if close else 'remove it or see config/README.md.'}"
        )
    if kind == "missing":
        return "this key is missing; add it (config/README.md lists every key)."
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    said = f"{error['msg'][0].lower()}{error['msg'][1:]}"
    if kind.startswith("string_") and error["input"] is None:
        kind = "none"
    if kind in _WORDS:
        n = context.get("min_length", context.get("max_length"))
        said = _WORDS[kind].format(n=n, s="" if n == 1 else "s", **context)
    return f"{said}; see config/README.md for what this key takes."


def explain(
    error: ValidationError, path: Path, data: Any, node: yaml.Node, known: Sequence[str]
) -> InputError:
    """The first mistake of a study file (by line) in one sentence, with the number of further ones."""
    mistakes = _mistakes(error, data, node, known)
    places = {line for line, _, _ in mistakes}
    more = f" ({len(places) - 1} more after this one.)" if len(places) > 1 else ""
    line, _, reason = mistakes[0]
    return InputError(f"{path}, line {line}: {reason}{more}")


def first_mistake(
    error: ValidationError, data: Any, node: yaml.Node, known: Sequence[str]
) -> tuple[tuple[str | int, ...], str]:
    """The location of the first mistake, and the key and the reason in one sentence."""
    return _mistakes(error, data, node, known)[0][1:]


def _mistakes(
    error: ValidationError, data: Any, node: yaml.Node, known: Sequence[str]
) -> list[tuple[int, tuple[str | int, ...], str]]:
    """Line, location and sentence of every mistake, by line."""
    mistakes = []
    found = error.errors(include_url=False)
    for item in found:
        location = item["loc"]
        # A list that is too short only because its element is wrong is no mistake of its own.
        if any(other["loc"][: len(location)] == location != other["loc"] for other in found):
            continue
        said = f"`{_key(location, data)}`: {_reason(item, known)}"
        mistakes.append((line_of(node, location), location, said))
    return sorted(mistakes, key=lambda mistake: mistake[0])
