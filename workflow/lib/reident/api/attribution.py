"""`reident.attribute_disclosure`: what could be learnt about a person from a released file (METHODS §12)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reident.api.frames import Frame, Names, Variables, data_frame, items, with_codes, with_keys
from reident.api.study import StudyFiles, file_section, of_frames, sole_study
from reident.api.tables import Tables, made_by, threads_or_all, told
from reident.attribution import assessment, prepare, step
from reident.attribution.section import HOLDOUT, TRUTH, released_side
from reident.errors import InputError
from reident.intake.records import in_memory
from reident.intake.sources import opened


def attribute_disclosure(
    original: StudyFiles | Frame,
    released: Frame | Iterable[Frame] = (),
    holdout: Frame | None = None,
    /,
    *,
    keys: Variables = (),
    targets: Variables = (),
    id: Names | None = None,  # noqa: A002 - the key of a study file
    threads: int | None = None,
    **options: Any,
) -> Tables:
    """Measure what an intruder who knows the keys of a person could learn from a released file: CAP, DiSCO and others.

    Parameters
    ----------
    original : data frame
        The file with the true values; NaN is missing. Or a study of :func:`reident.read_study` with the section
        `attribute_disclosure`, which takes none of the keys below.
    released : data frame, or iterable of data frames
        The released files, such as synthetic ones.
    holdout : data frame, optional
        Persons who are not in the original file, for a baseline.
    keys : str, sequence of str or mapping
        The variables that an intruder may know.
    targets : str, sequence of str or mapping
        The variables that an intruder wants to know. A numeric one says when an inference is correct:
        ``{"income": {"type": "numeric", "within": {"relative": 0.1}}}``.
    id : str or sequence of str, optional
        The columns that identify a person in the original and the released files. Without them, nobody's own released
        record is known.
    threads : int, optional
        By default one for each processor. No number depends on it.
    **options
        Further keys of the section `attribute_disclosure` of a study file, such as ``max_keys=2``.

    Returns
    -------
    Tables
        The tables of `attribution/` in docs/DATA.md: ``summary``, ``targets``, ``records``; and ``warnings``.

    Raises
    ------
    reident.InputError
        As :func:`reident.attack` does.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> original = pd.DataFrame({"age": [30, 30, 40, 50], "sex": ["f", "m", "f", "m"], "ill": ["y", "n", "n", "n"]})
    >>> released = original.iloc[:3]
    >>> told = reident.attribute_disclosure(original, released, keys=["age", "sex"], targets="ill")
    >>> told.targets[["target", "guess", "keys"]]
      target  guess       keys
    0    ill   0.75  age + sex
    """
    study = sole_study(attribute_disclosure, locals(), "attribute_disclosure")
    threads = threads_or_all(threads)
    if study is None:
        if "original" in options or "released" in options or "holdout" in options:
            raise InputError("`original`, `released` and `holdout` must be data frames. Give them first.")
        id = items(id)  # noqa: A001 - the same
        copies = {released_side(at): copy for at, copy in enumerate(items(released), start=1)}
        frames = {TRUTH: data_frame("original", original)}
        names = {side: side.removeprefix("attribution_") for side in copies}
        frames |= {side: data_frame(names[side], copy) for side, copy in copies.items()}
        section = {
            "original": file_section("original", id=id),
            "released": [file_section(names[side], id=id) for side in copies],
            **options,
        }
        if holdout is not None:
            frames[HOLDOUT], section["holdout"] = data_frame("holdout", holdout), file_section("holdout")
        section |= {"keys": with_codes(keys, frames), "targets": with_codes(targets, frames)}
        study = of_frames({"attribute_disclosure": section}, frames)
    settings = step.attribution_files(study.model)
    with opened(settings.extracts, study.texts(settings.extracts)) as texts:
        sides = ("original", "released", "holdout")
        typed = in_memory(sides, lambda sinks: prepare.prepare_files(settings, texts, sinks))
    files = {name: typed[name] for name in (*sides, "categories")}
    found = assessment.assess(step.attribution_rules(study.model), **files, threads=threads)
    made = made_by("assess_attribution", found)
    if TRUTH in study.frames:
        columns = {name: study.frames[TRUTH][name] for name in settings.ids.get(TRUTH, ())}
        made["records"] = with_keys(made["records"], columns)
    return Tables({**made, "warnings": told("attribution/warnings.csv", typed["warnings"])})
