"""The settings of a run beside its studies, each declared once.

The check, the defaults, workflow/schemas/config.schema.json and the table of config/README.md derive from
:data:`SETTINGS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.study.reading import near

_REMEDY = "Correct it in config/config.yaml or on the command line."


class Kind(NamedTuple):
    """The values that a setting may have; those of the command line may be text.

    ``must`` is what a message says of another value; ``pattern`` is empty where any text is a value.
    """

    name: str
    must: str
    pattern: str
    schema: dict[str, Any]


_WHOLE, _SWITCH = r"0*[1-9](_?[0-9])*", r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"
POSITIVE = Kind(
    "positive integer",
    "must be a positive integer",
    _WHOLE,
    {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^(?:{_WHOLE})$"}]},
)
SWITCH = Kind(
    "`true` or `false`",
    "must be `true` or `false`",
    _SWITCH,
    {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": f"^(?:{_SWITCH})$"}]},
)
PATHS = Kind("list of text", "", "", {"type": "array", "items": {"type": "string"}})
TEXT = Kind("text", "", "", {})


class RunSetting(NamedTuple):
    """A setting: its values, its meaning, and the value that it has where nothing gives it."""

    kind: Kind
    meaning: str
    default: Any = None


SETTINGS = {
    "study": RunSetting(
        TEXT,
        "The study files to run in place of `studies`, for the command line: a path, several with commas between "
        'them, or a list such as `--config \'study=["a.yaml", "b.yaml"]\'`.',
    ),
    "studies": RunSetting(
        PATHS,
        "The study files to run if the command line has no `--config study=…`, relative to the working directory; "
        "those of the config/config.yaml that comes with the workflow are relative to its checkout.",
    ),
    "shards": RunSetting(
        POSITIVE,
        "The number of scoring jobs of a metric, each with its part of the pairs. More of them take less memory each, "
        "and run beside each other on a cluster. Results do not depend on it; `--set-scatter shards=N` does the same.",
        1,
    ),
    "shared_results": RunSetting(
        SWITCH,
        "Whether other users may read `results/` and `reports/`. If `false`, a run refuses folders that others can "
        "read, and gives the command that closes them. If `true`, each run prints a warning. Files that a run creates "
        "are readable by their owner only, in either case.",
        False,
    ),
    "threads_on_a_cluster": RunSetting(
        POSITIVE,
        "The number of processors that a long job requests on a cluster. On a single machine, a job uses all "
        "processors that `--cores` allows.",
        8,
    ),
}
"""The settings of a run, by their keys."""

BUNDLED = {"studies": ["config/studies/example.yaml"]} | {
    key: setting.default for key, setting in SETTINGS.items() if setting.default is not None
}
"""What the config/config.yaml that comes with the workflow says."""


def check(config: Mapping[str, Any]) -> None:
    """Refuse unknown settings, and values that a setting must not have; those of the command line may be text.

    Raises
    ------
    InputError
        For the first unknown key, number that is not a positive integer, or value that is not a boolean.
    """
    for key in config:
        if key not in SETTINGS:
            remedy = near(str(key), SETTINGS) or f" Use one of {', '.join(SETTINGS)}."
            raise InputError(f"config: `{key}` is not a known key.{remedy}")
    for key, setting in SETTINGS.items():
        pattern = setting.kind.pattern
        if pattern and key in config and not re.fullmatch(pattern, str(config[key]), re.ASCII):
            raise InputError(f"config: `{key}` {setting.kind.must}. {_REMEDY}")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of config/config.yaml."""
    properties: dict[str, Any] = {}
    for key, setting in SETTINGS.items():
        properties[key] = {**setting.kind.schema, "description": setting.meaning}
        if setting.default is not None:
            properties[key]["default"] = setting.default
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of a run",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def table(bundled: Mapping[str, Any]) -> str:
    """Return the table of the settings that the bundled config/config.yaml has, whose values are the defaults."""
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for key, value in bundled.items():
        setting = SETTINGS[key]
        lines.append(f"| `{key}` | {setting.kind.name} | `{_shown(value)}` | {setting.meaning} |")
    return "\n".join([*lines, ""])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else f"{value:_}"
