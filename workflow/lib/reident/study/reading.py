"""Read YAML study files safely, and say where in the file a mistake is.

Every scalar is text until the study model gives it a type: ``NO``, ``012`` and ``22:30`` stay what the
analyst wrote, and what is in quotation marks is never a boolean. A key that is given twice is an error. Each value
keeps its line, for messages.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from reident.errors import InputError
from reident.sections.base import Quoted, Section, SectionT
from reident.sections.variants import split
from reident.study import syntax

MAX_FILE = 20_000_000
MAX_LINE = 1_000_000
MAX_SCALAR = 100_000
"""Characters of a study file, of one of its lines, and of one value: the time to read YAML grows with them."""

MAX_VALUES = 2_000_000
"""Values of a study file, aliases written out: a few lines of nested aliases can stand for billions."""

MAX_DEPTH = 50
"""How deeply lists and sections may be nested; a study needs fewer than ten levels."""

TODO = "TODO"
"""How a key or a value begins that is still to be decided."""

_INNER_KEY = re.compile(r"`\.([^`]+)` ")
_NULLS = {"", "~", "null", "Null", "NULL"}
_SEE = "See config/README.md for this key."

_SECTION = ("must be a section", "Write its keys below it, or as `{key: value}`.")
_LIST = ("must be a list", "Write its items in brackets, as in `[a, b]`.")
_TEXT = ("must be a single value, not a list or a section", "Write one value.")
_INTEGER = ("must be an integer", _SEE)
_NUMBER = ("must be a number", "Write decimals with a point, such as 0.5.")
_BOOLEAN = ("must be `true` or `false`", _SEE)
_DATE = ("is not a valid date (YYYY-MM-DD)", "Correct the date.")
_PROBLEMS = {
    "none": ("must not be absent or null", "Write a value, in quotation marks if it is the word null."),
    "model_type": _SECTION,
    "model_attributes_type": _SECTION,
    "dict_type": _SECTION,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "too_short": ("must have at least {n} item{s}, but has {actual_length}", "Add what is missing."),
    "too_long": ("must have at most {n} item{s}", "Remove some items."),
    "string_type": _TEXT,
    "string_too_short": ("must have at least {n} character{s}", _SEE),
    "string_too_long": ("must have at most {n} character{s}", "Shorten the text."),
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_from_float": _INTEGER,
    "int_parsing_size": _INTEGER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "decimal_max_places": ("must have at most {decimal_places} decimal places", "Round the number."),
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "greater_than": ("must be greater than {gt}", _SEE),
    "greater_than_equal": ("must be at least {ge}", _SEE),
    "less_than": ("must be less than {lt}", _SEE),
    "less_than_equal": ("must be at most {le}", _SEE),
    "literal_error": ("must be {choices}", _SEE),
}
"""What is wrong and what to do, for each kind of error of pydantic."""


class Mistake(NamedTuple):
    """A mistake in a study file."""

    line: int  # from 1
    location: tuple[str | int, ...]  # keys, and positions in lists from 0
    message: str  # what is wrong, beginning with the key, and what to do


def read(path: Path, *keys: str, decide: bool = True, content: bytes | None = None) -> tuple[Any, yaml.Node]:
    """Return the plain content of a YAML file (dict, list, str, None) and its node tree.

    Parameters
    ----------
    path : pathlib.Path
    keys : str
        What a message gives as examples of keys, by default those of a study.
    decide : bool
        Whether to refuse a file with something that is still to be decided, see :func:`todos`.
    content : bytes, optional
        That of the file, where it is known; the path is for messages then.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, is not YAML, is empty or too large, gives a key twice, or has a
        value that is still to be decided.
    """
    text = _text(path, content)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if isinstance(node, yaml.MappingNode):
            data = _plain(node, path, (), itertools.count(1))
            if decide and (undecided := todos(data, node)):
                raise _first(path, undecided)
            return data, node
    except yaml.YAMLError as error:
        line, problem, remedy = syntax.locate(text, error)
        raise _error(path, line, f"the file is not valid YAML ({problem}). {remedy}") from None
    except RecursionError:
        raise _error(path, None, _TOO_DEEP) from None
    examples = " and ".join(f"`{key}:`" for key in keys or ("id", "files"))
    raise _error(path, None, f"the file must consist of keys such as {examples}. See config/README.md.")


_TOO_DEEP = f"lists or sections are nested too deeply (limit {MAX_DEPTH}). Remove the inner ones."


def _error(path: Path, line: int | None, message: str) -> InputError:
    return InputError(f"{path}{f', line {line}' if line else ''}: {message}")


def _text(path: Path, content: bytes | None = None) -> str:
    """Return the text of a file, unless it is too large to be a study file."""
    try:
        if content is None and path.exists() and not (path.is_file() or path.is_dir()):
            # To read a pipe may last for ever.
            raise _error(path, None, "the file is a pipe or a device. Write its content to a file.")
        size = path.stat().st_size if content is None and path.is_file() else len(content or b"")
        if size > MAX_FILE:
            raise _error(path, None, f"the file must have at most {MAX_FILE:,} bytes. Shorten it.")
        text = (path.read_bytes() if content is None else content).decode("utf-8-sig")
    except OSError as error:
        what = f"the study file cannot be read ({error.strerror}). Check the path."
        if isinstance(error, FileNotFoundError) and not path.is_absolute():
            what = (
                f"the study file does not exist. The path is relative to the working directory {Path.cwd()}, and means "
                f"{path.absolute()}. Correct it, or give an absolute path."
            )
        raise _error(path, None, what) from None
    except UnicodeDecodeError:
        raise _error(path, None, "the file is not UTF-8 text. Save it as UTF-8.") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE:
            raise _error(path, number, f"the line must have at most {MAX_LINE:,} characters. Shorten it.")
    return text


def _plain(node: yaml.Node, path: Path, above: tuple[int, ...], number: Iterator[int]) -> Any:
    """Return the content of a node below others, which are given by their identities; `number` counts the values."""
    line = node.start_mark.line + 1
    if next(number) > MAX_VALUES:
        raise _error(path, line, f"the file must have at most {MAX_VALUES:,} values. Write fewer aliases.")
    if id(node) in above:
        raise _error(path, line, "an alias must not contain itself. Write out its content.")
    if len(above) > MAX_DEPTH:
        raise _error(path, line, _TOO_DEEP)
    above = (*above, id(node))
    if isinstance(node, yaml.ScalarNode):
        if len(node.value) > MAX_SCALAR:
            raise _error(path, line, f"a value must have at most {MAX_SCALAR:,} characters. Shorten it.")
        if node.style is not None:
            return Quoted(node.value)
        return None if node.value in _NULLS else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, path, above, number) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _error(path, line, "a key must be plain text, not a list or a section. Correct the key.")
        if key.value in mapping:
            raise _error(path, line, f"`{key.value}` is given twice. Remove one of the two.")
        mapping[key.value] = _plain(value, path, above, number)
    return mapping


def todos(data: Any, node: yaml.Node) -> list[Mistake]:
    """Return the open decisions of a file, by line: each key, and each value, that begins with TODO.

    Content and tree of the file are as :func:`read` returns them.
    """
    problem = "is still to be decided. Replace the TODO with a value, or remove the key."
    locations = sorted(_undecided(data, ()), key=lambda location: line_of(node, location))
    return [Mistake(line_of(node, location), location, f"`{dotted_key(location)}` {problem}") for location in locations]


def _undecided(data: Any, above: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(data, str) and data.startswith(TODO):
        yield above
    if isinstance(data, dict):
        for key, value in data.items():
            if key.startswith(TODO):
                yield (*above, key)
            else:
                yield from _undecided(value, (*above, key))
    if isinstance(data, list):
        for at, value in enumerate(data):
            yield from _undecided(value, (*above, at))


def line_of(node: yaml.Node, location: Sequence[str | int]) -> int:
    """Return the line (from 1) of the value at a location, or of the deepest value on the way that exists."""
    line = node.start_mark.line + 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def dotted_key(location: Sequence[str | int]) -> str:
    """Return a location as it is written: `linking_variables[1].name`."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def location_in(data: Any, location: Sequence[str | int]) -> list[str | int]:
    """Return the part of a location that the file has; pydantic adds further parts for unions."""
    parts: list[str | int] = []
    for position, part in enumerate(location):
        if isinstance(part, int):
            parts.append(part)
            data = data[part] if isinstance(data, list) and part < len(data) else None
        elif isinstance(data, dict) and (part in data or position == len(location) - 1):
            parts.append(part)
            data = data.get(part)
    return parts


def _comma_number(location: Sequence[str | int], data: Any, error: Any) -> tuple[str, str] | None:
    """Return the key that precedes the digits after a decimal comma, and the number with a point.

    In braces, YAML reads ``{rate: 0,3}`` as the key `rate` and the key `3` without a value.
    """
    digits = str(location[-1]) if location else ""
    if error["type"] != "extra_forbidden" or error["input"] is not None or not re.fullmatch(r"[0-9]+", digits):
        return None
    for part in location_in(data, location)[:-1]:
        data = data[part]
    keys = list(data)
    before = keys[keys.index(digits) - 1] if digits in keys[1:] else None
    whole = data.get(before)
    if before is None or not isinstance(whole, str) or not re.fullmatch(r"[-+]?[0-9]+", whole):
        return None
    return before, f"{whole}.{digits}"


def _instead(key: str, keys: Mapping[str, Sequence[str]]) -> str:
    """Return the section in which an unknown key is known, or a similar key."""
    if key in keys:
        places = [f"`{section}.{key}`" if section else f"`{key}` of the file itself" for section in keys[key]]
        return f" here. Write {' or '.join(places[:3])}, or remove it."
    return f".{near(key, keys) or ' Remove it, or see config/README.md for all keys.'}"


def near(name: str, names: Iterable[str]) -> str:
    """Return a question with the one of some names that is most like another one; empty if none is."""
    close = difflib.get_close_matches(name, names, n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


_OF_LINKING_VARIABLES = ("type", "order", "coarsen")
"""Keys that are left when a linking variable is moved to `strata`."""


def _reason(error: Any, keys: Mapping[str, Sequence[str]]) -> str:
    """Return the problem, without its key, and a remedy."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        if error["loc"][0] == "strata" and error["loc"][-1] in _OF_LINKING_VARIABLES:
            why = "A stratum has no type: only records with equal codes are compared"
            return f"is not a key of a stratum. {why}. Remove it."
        return f"is not a known key{_instead(str(error['loc'][-1]), keys)}"
    if kind == "missing":
        return "is missing. Add it; config/README.md describes every key."
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    if kind == "literal_error":
        choices = context["expected"].replace("'", "`")
        if error["loc"][-1] == "[key]":
            return f"is not a known key. Write {choices}."
        context = {"choices": choices}
    if kind.startswith("string_") and error["input"] is None:
        kind = "none"
    if kind not in _PROBLEMS:  # the kinds of discriminators have a message and a remedy of their own
        return error["msg"] if error["msg"].endswith(".") else f"is not valid. {_SEE}"
    problem, remedy = _PROBLEMS[kind]
    n = context.get("min_length", context.get("max_length"))
    context = {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}
    return f"{problem.format(n=n, s='' if n == 1 else 's', **context)}. {remedy}"


@cache  # a schema takes longer than all else of reading a study
def known_keys(model: type[Section]) -> dict[str, tuple[str, ...]]:
    """Return every key that a file of a model may have, with the sections that have it.

    For suggestions in messages: sections as paths, the shortest first; empty for the file itself.
    """
    schema = model.model_json_schema()
    places: dict[str, list[str]] = {}
    todo, seen = [("", schema)], set()
    while todo:
        path, part = todo.pop(0)
        for key, value in part.get("properties", {}).items():
            places.setdefault(key, []).append(path)
            for name in re.findall(r"'#/\$defs/(\w+)'", str(value)):
                if name not in seen:
                    seen.add(name)
                    todo.append((f"{path}.{key}".removeprefix("."), schema["$defs"][name]))
    return {key: tuple(places[key]) for key in sorted(places)}


def load(path: Path, model: type[SectionT], *keys: str) -> SectionT:
    """Read and check a YAML file as a section.

    Parameters
    ----------
    path : pathlib.Path
    model : type of Section
    keys : str
        As for :func:`read`.

    Raises
    ------
    InputError
        With the file, line and key of the first mistake, what is wrong, and what to do.
    """
    return validated(path, model, *read(path, *keys))


def validated(path: Path, model: type[SectionT], data: Any, node: yaml.Node) -> SectionT:
    """Check the content that :func:`read` returned as a section; raises as :func:`load`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _first(path, mistakes(error, data, node, known_keys(model))) from None


def first_problem(error: ValidationError, data: Any, model: type[Section]) -> str:
    """Return the first mistake of a study that is not in a file: its key, the problem, and a remedy."""
    start = yaml.Mark("", 0, 0, 0, "", 0)
    nowhere = yaml.MappingNode("", [], start, start)
    return mistakes(error, data, nowhere, known_keys(model))[0].message


def _first(path: Path, every: Sequence[Mistake]) -> InputError:
    """Return the first mistake of a study file, by line, with the number of further lines that have mistakes."""
    first, *others = every
    further = len({mistake.line for mistake in others} - {first.line})
    more = f" ({further} more line{'s have mistakes' if further > 1 else ' has a mistake'}.)" if further else ""
    return _error(path, first.line, f"{first.message}{more}")


def mistakes(error: ValidationError, data: Any, node: yaml.Node, keys: Mapping[str, Sequence[str]]) -> list[Mistake]:
    """Return every mistake of a study file, by line.

    Content and tree of the file are as :func:`read` returns them; `keys` are all keys, for suggestions.
    """
    errors = error.errors(include_url=False)
    result = []
    for item in errors:
        location, reason = item["loc"], _reason(item, keys)
        # A list that is too short only because its element is wrong is not a mistake of its own.
        if any(other["loc"][: len(location)] == location != other["loc"] for other in errors):
            continue
        parts = location_in(data, location)
        if inner := _INNER_KEY.match(reason):
            location, parts = (*location, *split(inner[1])), [*parts, *split(inner[1])]
            reason = reason[inner.end() :]
        if number := _comma_number(location, data, item):
            parts, reason = [*parts[:-1], number[0]], f"must be a number. Write {number[1]}, with a point."
        separator = ": " if reason.startswith("`") else " "
        message = f"`{dotted_key(parts)}`{separator}{reason}" if parts else reason
        result.append(Mistake(line_of(node, location), location, message))
    return sorted(result, key=lambda mistake: mistake.line)
