"""The canonical form of settings, and its digests, which tell the steps that run again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import BaseModel

from reident.sections.exact import rational_text


def plain(value: Any) -> Any:
    """Return a frozen value in JSON's types, every field of it by its runtime type.

    Raises
    ------
    TypeError
        For a type of which it is not known how to tell two values apart.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, BaseModel):
        # A key that a study does not give, and earlier releases did not know, changes no digest.
        return {
            name: plain(getattr(value, name))
            for name, field in type(value).model_fields.items()
            if not (field.exclude_if and field.exclude_if(getattr(value, name)))
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return rational_text(value)
    if isinstance(value, Decimal | date):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


def setting_digests(settings: Any) -> str:
    """Return the names of settings, each with a short digest of its value, in JSON.

    They tell which settings changed, without a value or the key of a mapping: codes in a study file are data.
    """
    return json.dumps({name: digest(value)[:8] for name, value in _by_name(settings, "")}, sort_keys=True)


def _by_name(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every setting by its name; sections in a list are counted from 1."""
    items: list[tuple[str, Any]] = []
    if isinstance(value, BaseModel):
        items = [(field, getattr(value, field)) for field in type(value).model_fields]
    elif dataclasses.is_dataclass(value):
        items = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif isinstance(value, tuple) and all(isinstance(one, BaseModel) for one in value):
        items = [(str(number), one) for number, one in enumerate(value, start=1)]
    if not items:
        yield name, value
    for key, item in items:
        yield from _by_name(item, f"{name}.{key}".lstrip("."))


def digest(value: Any) -> str:
    """Return the SHA-256 of a frozen value, or of any JSON-like value."""
    text = json.dumps(plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
