"""`reident.attack`: the suspected and confirmed pairs of a study, and its rates (METHODS §1 to §6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, overload

import pandas as pd
import pyarrow as pa

from reident.api import checking
from reident.api.frames import (
    Frame,
    Metrics,
    Names,
    Variables,
    as_text,
    by_name,
    data_frame,
    items,
    with_codes,
    with_keys,
)
from reident.api.study import StudyFiles, file_section, of_frames, sole_study
from reident.api.tables import declared, threads_or_all, told
from reident.challenge import attacks as at_hand
from reident.challenge import step as challenge_step
from reident.errors import InputError
from reident.intake import step as intake_step
from reident.intake.prepare import PreparedFiles, prepare_files
from reident.intake.records import in_memory
from reident.linkage import attack as stages
from reident.linkage import step as linkage_step
from reident.linkage import strata
from reident.linkage.attack import AttackFiles
from reident.linkage.members import MemberTables
from reident.linkage.metrics import standard
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.settings import AGREEMENT
from reident.linkage.strata import Strata
from reident.pipeline.editions import public_metrics
from reident.study.model import Study
from reident.verdict.terminal import SEVERITY


@dataclass(frozen=True, repr=False)
class AttackTables:
    """The tables of an attack, with the columns of docs/DATA.md.

    Attributes
    ----------
    rates : pandas.DataFrame
        As `rates.csv`: one line for each metric and stratum; ``ALL`` is the whole study.
    confirmed : dict of pandas.DataFrame
        As `confirmed/{metric}.parquet`, by metric: the suspected pairs by their keys, and which are true links. Keys
        from data frames have the types that they have there. It is as confidential as the links.
    rank_curves : dict of pandas.DataFrame
        As `confirmed/{metric}.limits.csv`, by metric: the counts at every rank limit; empty for unicity.
    surest : dict of pandas.DataFrame
        As `surest/{metric}.csv`, by metric, and of several metrics their ``agreement``: the right claims, the surest
        first. It is as confidential as the links.
    surest_summary : pandas.DataFrame
        As `surest/summary.csv`.
    agreement : pandas.DataFrame
        As `agreement/rates.csv`: the rates of pairs that at least k metrics suspect.
    warnings : pandas.DataFrame
        The warnings on the files, on their description and on the results, the gravest first, in the columns of
        `prepared/warnings.csv`: as `verdict/warnings.csv` without limits. A rate with a warning that it may understate
        the risk, or be invalid, is none to rely on.
    plausibility : pandas.DataFrame
        As `plausibility.csv`: what the checks of the description measured.
    members, sizes : pandas.DataFrame or None
        As `units/members.csv` and `units/sizes.csv`: members of suspected and confirmed units, and units by size; None
        without units.
    keys : dict of tuple
        The key columns of the PUF (``puf``) and the EIF (``eif``) in `confirmed`.
    public_metrics : tuple of str
        The metrics whose suspected pairs follow from the files alone, not from links.
    """

    rates: pd.DataFrame
    confirmed: dict[str, pd.DataFrame]
    rank_curves: dict[str, pd.DataFrame]
    surest: dict[str, pd.DataFrame]
    surest_summary: pd.DataFrame
    agreement: pd.DataFrame
    warnings: pd.DataFrame
    plausibility: pd.DataFrame
    members: pd.DataFrame | None = None
    sizes: pd.DataFrame | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    public_metrics: tuple[str, ...] = ()
    _challenge: Callable[[], pd.DataFrame] = field(default=pd.DataFrame, kw_only=True)

    @cached_property
    def attacks(self) -> pd.DataFrame:
        """As `attacks.csv`: what an intruder finds who is not bound to these metrics, one line for each attack at hand.

        The attacks are tried when they are first asked for, as far as the section `challenge` of the study says: by
        default within about a minute of one processor.
        """
        return declared("attacks.csv", self._challenge())

    def __repr__(self) -> str:
        counts = self.warnings["severity"].value_counts()
        of_each = [f"{counts[severity]:,} {words}" for severity, words in SEVERITY.items() if severity in counts]
        return f"<attack with {', '.join(self.confirmed)}; warnings: {', '.join(of_each) or 'none'}>"


@overload
def attack(study: StudyFiles, /, *, threads: int | None = None) -> AttackTables: ...
@overload
def attack(
    puf: Frame,
    eif: Frame,
    links: Frame,
    /,
    *,
    variables: Variables,
    strata: Variables = (),
    metrics: Metrics | None = None,
    puf_id: Names | None = None,
    eif_id: Names | None = None,
    unknown_links_at_most: int = 0,
    units: Mapping[str, Any] | None = None,
    binning: Mapping[str, Any] | None = None,
    rank_filter: Mapping[str, Any] | None = None,
    rates: Mapping[str, Any] | None = None,
    challenge: Mapping[str, Any] | str | None = None,
    threads: int | None = None,
) -> AttackTables: ...
def attack(
    puf: StudyFiles | Frame,
    eif: Frame | None = None,
    links: Frame | None = None,
    /,
    *,
    variables: Variables = (),
    strata: Variables = (),
    metrics: Metrics | None = None,
    threads: int | None = None,
    puf_id: Names | None = None,
    eif_id: Names | None = None,
    unknown_links_at_most: int = 0,
    units: Mapping[str, Any] | None = None,
    binning: Mapping[str, Any] | None = None,
    rank_filter: Mapping[str, Any] | None = None,
    rates: Mapping[str, Any] | None = None,
    challenge: Mapping[str, Any] | str | None = None,
) -> AttackTables:
    """Attack a public use file with an external file, and confirm by the true links.

    All pairs of records are compared exactly, in memory. No file is written.

    Parameters
    ----------
    puf, eif, links : data frame
        The public use file, the external intruder file, and the true links between their records: of pandas, Polars,
        Arrow, or another library with its interface. NaN and null are missing; a named index is a column, too. Instead
        of the three, a study of :func:`reident.read_study`, which takes none of the sections below.
    variables : mapping, or sequence of mapping
        The linking variables: by name their type, ``{"age": "numeric", "sex": "categorical"}``, or the section of
        `linking_variables` in a study file.
    strata : str, sequence of str or mapping
        The strata variables: records are compared only if these are equal.
    metrics : str, iterable of str, or mapping, optional
        The names of the metrics, or the section `metrics`, ``{"taxicab": {"alpha": 0.4}}``. By default unicity,
        taxicab, euclidean, adhoc and Fellegi–Sunter.
    puf_id, eif_id : str or sequence of str, optional
        The key columns of the two files; `links` has those of the PUF first, then those of the EIF. By default, the
        two columns of `links` have the names of the keys.
    unknown_links_at_most : int
        How many links to records that are in neither file are left out; more are an error.
    units : mapping, optional
        The columns that identify a unit, such as a household, in both files: ``{"puf": "hh", "eif": "household"}``.
        Rows with equal values are compared as one, and `links` may have the keys of rows or of units.
    binning, rank_filter, rates : mapping, optional
        These sections of a study file.
    challenge : mapping or str, optional
        The same: how far the attribute `attacks` of the result goes when it is asked for.
    threads : int, optional
        By default one for each processor. No number depends on it.

    Returns
    -------
    AttackTables

    Warns
    -----
    reident.RiskWarning
        For each warning that the rates may be invalid or understate the risk, with what to do.

    Raises
    ------
    reident.InputError
        With the file, the column and the row (from 1), what is wrong, and what to do; never with a value.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> puf = pd.DataFrame({"id": [1, 2, 3], "age": [34, 61, 47], "sex": ["f", "m", "f"]})
    >>> eif = pd.DataFrame({"name": ["a", "b", "c"], "age": [34, 60, 20], "sex": ["f", "m", "m"]})
    >>> links = pd.DataFrame({"id": [1, 2], "name": ["a", "b"]})
    >>> variables = {"age": "numeric", "sex": "categorical"}
    >>> result = reident.attack(puf, eif, links, variables=variables, metrics=["taxicab"])
    >>> result.rates[["metric", "n_suspected", "n_confirmed", "conditional_rate"]]
        metric  n_suspected  n_confirmed  conditional_rate
    0  taxicab            2            2               1.0
    1  taxicab            2            2               1.0
    >>> result.confirmed["taxicab"][["id", "name", "confirmed"]]
       id name  confirmed
    0   1    a       True
    1   2    b       True
    """
    study = sole_study(attack, locals(), "metrics")
    threads = threads_or_all(threads)
    if study is not None:
        return _attacked(study, threads)
    if eif is None or links is None:
        raise TypeError("`attack` takes a study, or three data frames: puf, eif and links")
    frames = {"puf": data_frame("puf", puf), "eif": data_frame("eif", eif)}
    frames["iuf"], *keys = _keys(data_frame("links", links, index=False), links, puf_id, eif_id)
    linked = {side: frames[side] for side in ("puf", "eif")}
    tolerance = {"unknown_links_at_most": unknown_links_at_most}
    sections: dict[str, Any] = {
        "files": {
            "puf": file_section("puf", id=keys[0]),
            "eif": file_section("eif", id=keys[1]),
            "iuf": file_section("links", puf_id=keys[2], eif_id=keys[3]) | tolerance,
        },
        "linking_variables": with_codes(variables, linked, by_side=True),
        "strata": with_codes(strata, linked, by_side=True),
        "metrics": by_name(standard() if metrics is None else metrics),
    }
    others = {"units": units, "binning": binning, "rank_filter": rank_filter, "rates": rates, "challenge": challenge}
    sections |= {name: section for name, section in others.items() if section is not None}
    return _attacked(of_frames(sections, frames), threads)


def _keys(
    frame: pd.DataFrame, links: Any, puf_id: Any, eif_id: Any
) -> tuple[pd.DataFrame, list[str], list[str], list[str], list[str]]:
    """Return the links, with the key columns of the PUF and of the EIF, there and in the links."""
    puf, eif = ([as_text(name) for name in items(names)] for names in (puf_id, eif_id))
    needed = (len(puf) + len(eif)) if puf and eif else 2
    if len(frame.columns) < needed:
        frame = data_frame("links", links)
    names = list(frame.columns)
    if not puf and not eif and len(names) == 2:
        puf, eif = names[:1], names[1:]
    if not puf or not eif:
        raise InputError("links: the data frame must have two columns. Select them, or give `puf_id` and `eif_id`.")
    if len(names) != needed:
        raise InputError(
            f"links: the data frame must have the columns of `puf_id` and of `eif_id` ({needed}), but has "
            f"{len(names)}. Select them."
        )
    return frame, puf, eif, names[: len(puf)], names[len(puf) :]


def _attacked(study: StudyFiles, threads: int) -> AttackTables:
    """Return the tables of a study."""
    if study.model.confirm is not None:
        raise InputError(f"{study.path}: the study has `confirm`, and no true links. Call `confirm_values`.")
    extracts = intake_step.preparing(study.model).extracts
    drawn = study.made()
    typed, stratified, files = prepared(study.model, study.texts(extracts, made=drawn), threads)
    checks = checking.check_description(study, drawn, typed, stratified)
    context = ScoringContext(threads=threads, functions=study.functions)
    settings = linkage_step.attacking(study.model)
    made = stages.attack(settings, files, context)
    claims, compared = stages.claim(settings, files, made, linkage_step.comparing_metrics(study.model).right)
    pairs = {name: tables.positions for name, tables in made.metrics.items()}
    results = made.rates, compared.agreement_rates, compared.agreement_claims, compared.surest, pairs
    own = at_hand.Made(*results, *(made.weights or ()))
    if len(claims) > 1:
        claims[AGREEMENT] = compared.agreement_claims
    keys = _key_columns(study)
    return AttackTables(
        declared("rates.csv", made.rates),
        {
            name: with_keys(declared(f"confirmed/{name}.parquet", tables.confirmed), keys)
            for name, tables in made.metrics.items()
        },
        {name: declared(f"confirmed/{name}.limits.csv", tables.rank_curve) for name, tables in made.metrics.items()},
        {name: declared(f"surest/{name}.csv", lines) for name, lines in claims.items()},
        declared("surest/summary.csv", compared.surest),
        declared("agreement/rates.csv", compared.agreement_rates),
        told("prepared/warnings.csv", checking.warnings_of(study, typed, stratified, checks, made)),
        declared("plausibility.csv", checks),
        **({} if made.members is None else _of_units(made.members)),
        keys=study.model.keys,
        public_metrics=public_metrics(study.model),
        _challenge=partial(at_hand.challenge, challenge_step.challenging(study.model), files, own, context),
    )


def _key_columns(study: StudyFiles) -> dict[str, pd.Series]:
    """Return the key columns of data frames, by the columns of the tables with their text."""
    files, units = study.model.linked_files, study.model.units
    columns = {side: getattr(files, side).id if units is None else getattr(units, side) for side in study.model.keys}
    return {
        key: study.frames[side][name]
        for side, keys in study.model.keys.items()
        for key, name in zip(keys, columns[side], strict=True)
        if side in study.frames
    }


def _of_units(made: MemberTables) -> dict[str, Any]:
    """Return the counts of members, and of units by size."""
    return {"members": declared("units/members.csv", made.members), "sizes": declared("units/sizes.csv", made.sizes)}


def prepared(
    study: Study, texts: Mapping[str, Iterable[pa.Table]], threads: int = 1
) -> tuple[PreparedFiles, Strata, AttackFiles]:
    """Return the typed tables of a study, its strata, and the files of the attack."""
    settings = intake_step.preparing(study)
    names = ("puf", "eif", "iuf", "clusters")
    typed = PreparedFiles(**in_memory(names, lambda sinks: prepare_files(settings, texts, sinks, threads=threads)))
    made = strata.stratify(linkage_step.stratifying(study), typed.puf, typed.eif, typed.iuf)
    records, of_records = ({"puf": tables.puf, "eif": tables.eif} for tables in (typed, made))
    return typed, made, AttackFiles(records, typed.iuf, of_records, made.manifest, typed.clusters)
