"""A study and its variants: each a study of its own, with its own folder of results.

The study itself, as its file says without `variants`, is the reference and always computed; its results lie
in ``results/{id}``. A variant's lie in ``results/{id}/variants/{variant}``, except where a combination is the
study itself: those are the study's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from reident import study as studies
from reident import studyfile, variants
from reident.errors import InputError
from reident.parts import plain
from reident.study import Study

REFERENCE = "study"
"""What stands for a variant's name in the line of a study that is none of its variants."""


class Member(NamedTuple):
    """The study as it stands, or a variant.

    Attributes
    ----------
    variant : str
        The variant's id, or :data:`REFERENCE`.
    labels : dict
        The label of each thing that varies, by its name.
    place : str
        Where its results lie in the study's folder: empty for the study itself.
    study : Study
        Complete; a variant's has no variants.
    """

    variant: str
    labels: dict[str, str]
    place: str
    study: Study


def load(path: Path) -> list[Member]:
    """Read a study file with all its variants, the study itself first unless one of them is equal to it.

    Raises
    ------
    InputError
        As :func:`reident.study.load`; for a variant that is no valid study, naming it and its value's line.
    """
    data, node = studyfile.read(path)
    study = studies.load(path)
    if not study.variants:
        return [Member(REFERENCE, {}, "", study)]
    whole = plain(study)
    own, found = _content(study), []
    seen: dict[str, str] = {}
    for variant in variants.expand(study.variants):
        made = _variant(path, data, node, study, whole, variant)
        content = _content(made)
        if content in seen:
            raise _wrong(
                path,
                node,
                variant,
                f"is the same study as the variant {seen[content]}; remove one of the two.",
            )
        seen[content] = variant.id
        found.append(
            Member(variant.id, variant.labels, "", study)
            if content == own
            else Member(variant.id, variant.labels, f"variants/{variant.id}", made)
        )
    if not any(member.place == "" for member in found):
        found.insert(0, Member(REFERENCE, _labels(study, whole), "", study))
    return found


def one(path: Path, place: str) -> Study:
    """The study of a file, or that of its variant at a place.

    Raises
    ------
    InputError
        If the file has no such variant, or as :func:`load`.
    """
    study = studies.load(path)
    if not place:
        return study
    data, node = studyfile.read(path)
    for variant in variants.expand(study.variants):
        if place == f"variants/{variant.id}":
            return _variant(path, data, node, study, plain(study), variant)
    raise InputError(f"{path} has no variant {place.removeprefix('variants/')}; run the same command again.")


def check_files(members: list[Member], path: Path) -> None:
    """See that every file that a study or one of its variants names is there.

    Raises
    ------
    InputError
        Naming the first that is not, with the variant that names it.
    """
    for member in members:
        try:
            studies.check_files(member.study, path)
        except InputError as error:
            raise InputError(f"{error} (variant {member.variant})" if member.place else str(error)) from None


def sources(study: Study, path: Path) -> dict[str, Path]:
    """The declared source files of a study, by side; those that it makes are results like others."""
    return {side: path.parent / file.path for side, file in study.sources.items() if side not in study.made}


def _content(study: Study) -> str:
    """What makes two studies the same: everything but the list of variants."""
    return studies.digest({**plain(study), "variants": []})


def _labels(study: Study, whole: dict[str, Any]) -> dict[str, str]:
    """What the study itself says of each thing that varies; empty where that is more than one word."""
    found = {}
    for name, varied in zip(variants.names(study.variants), study.variants, strict=True):
        values = {str(variants.value_at(whole, key)) for key in varied.keys}
        value = variants.value_at(whole, varied.keys[0])
        single = varied.set is not None and len(values) == 1 and not isinstance(value, dict | list)
        found[name] = variants.label_of(value) if single else ""
    return found


def _variant(
    path: Path,
    data: dict[str, Any],
    node: yaml.Node,
    study: Study,
    whole: dict[str, Any],
    variant: variants.Variant,
) -> Study:
    try:
        content = variants.with_settings(data, whole, variant.settings)
    except ValueError as error:
        raise _wrong(path, node, variant, f"cannot be made: {error}") from None
    try:
        made = Study.model_validate(content)
    except ValidationError as error:
        location, reason = studyfile.first_mistake(error, content, node, studies.known_keys())
        raise _wrong(path, node, variant, f"is no valid study: {reason}", location) from None
    for section in ("metrics", "matching"):
        if (getattr(made, section) is None) != (getattr(study, section) is None):
            raise _wrong(
                path,
                node,
                variant,
                f"adds or removes `{section}`, so that there is nothing to compare; keep it.",
            )
    return made


def _wrong(
    path: Path, node: yaml.Node, variant: variants.Variant, what: str, location: tuple[str | int, ...] = ()
) -> InputError:
    """A mistake of a variant, at the line of the value that has to do with it."""
    place: tuple[str | int, ...] = ("variants",)
    for key, own in variant.places.items():
        way = variants.split(key)
        touches = location and (location[: len(way)] == way or way[: len(location)] == location)
        if touches or len(variant.places) == 1:
            place = own
    return InputError(f"{path}, line {studyfile.line_of(node, place)}: the variant {variant.id} {what}")
