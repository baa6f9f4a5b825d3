"""Make the attacks at hand of a study, and put them into one table: the step `challenge` (METHODS §6.10)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.challenge import order
from reident.challenge.joins import Joins, sets
from reident.challenge.settings import (
    DECLARED,
    EXACT,
    INFORMED,
    JOIN,
    KINDS,
    ORDER,
    STANDARD,
    WEIGHED,
    WITHOUT,
    ChallengeSettings,
)
from reident.challenge.work import of_attack, of_join
from reident.intake.grouping import MEMBER_LINKS
from reident.kernels.toplist import run_all
from reident.linkage import batches, surest, weights
from reident.linkage.agreement_of_metrics import OF_ONE_METRIC
from reident.linkage.attack import AttackFiles, attack, order_claims
from reident.linkage.attack_settings import AttackSettings
from reident.linkage.claims import of_pairs
from reident.linkage.counterfactual import recode
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Estimates, ScoringContext
from reident.linkage.rates import rate, rates_of
from reident.linkage.settings import AGREEMENT, ANY, WHOLE, ClaimSettings
from reident.linkage.strata import links_inside, stratum_of_records

if TYPE_CHECKING:
    from reident.linkage.batches import Source

OF_CLAIMS = ["n_claims", "n_right", "right_rate", "low", "high", "n_at_95_percent", "n_at_limit"]
OF_CLAIMS += [f"right_of_{n}" for n in surest.NUMBERS]
"""The columns of `surest/summary.csv` that an attack has."""

OF_FILES = ["n_puf", "n_eif", "n_links", "n_compared", "n_findable"]
"""The columns of the rates that all attacks on the same files have alike."""

MAX_SIDE_BY_SIDE = 6 * 10**7
"""The most pairs of all attacks that are made side by side, and share the threads: their odds take 480 MB."""

TABLES = ("rates", "agreement", "agreeing", "summary", "levels", "model")
"""What of the study is read as a table; the last two where a metric weighs."""


class Made(NamedTuple):
    """What the study itself has: `rates.csv`, `agreement/rates.csv`, `surest/agreement.csv`, `surest/summary.csv`.

    `pairs` has by metric the suspected pairs by row number, as confirmation leaves them; `levels` and `model` are the
    weights of a metric that weighs.
    """

    rates: pd.DataFrame
    agreement: pd.DataFrame
    agreeing: pd.DataFrame
    summary: pd.DataFrame
    pairs: Mapping[str, Source]
    levels: pd.DataFrame | None = None
    model: pd.DataFrame | None = None

    def weights(self, name: str) -> Estimates:
        """Return the weights of a metric without a variable: m, u and λ are those that the study has with it."""
        if self.levels is None or self.model is None:
            raise ValueError("the study has no weights")
        return weights.without(Estimates(self.levels, self.model), name)


class _Attack(NamedTuple):
    """An attack that may be tried: its kind, metric and detail, and its work; what it attacks, or what it joins on.

    `by_metric` has what it attacks by the kind and metric of the attacks before it, of which the strongest decides.
    """

    kind: str
    metric: str
    detail: str
    work: float
    attack: tuple[AttackSettings, AttackFiles] | None = None
    names: tuple[str, ...] = ()
    by_metric: Mapping[tuple[str, str], tuple[AttackSettings, AttackFiles]] = MappingProxyType({})

    def after(self, lines: list[dict[str, Any]]) -> _Attack:
        """Return the attack with the metric that the attacks before it decide."""
        if not self.by_metric:
            return self
        strongest = order.strongest(lines, self.by_metric)
        return self._replace(metric=strongest[1], attack=self.by_metric[strongest])

    @property
    def name(self) -> tuple[str, str, str]:
        """What tells the attack from the others."""
        return self.kind, self.metric, self.detail

    @property
    def is_weighed(self) -> bool:
        """Whether the weights of the study are those of the attack, less those of the variable that is left out."""
        return self.kind == WITHOUT and REGISTRY[self.metric].weighs


def challenge(settings: ChallengeSettings, files: AttackFiles, made: Made, context: ScoringContext) -> pd.DataFrame:
    """Return the attacks at hand of a study, one line each.

    Standard attacks are tried first, then the strongest metric with the order of the files, joins, and those without a
    variable, each if its estimated work is within what is left; the line of one that is not tried has no count.

    Parameters
    ----------
    made : Made
        The results of the attack that the study declares.
    context : ScoringContext
        Its threads, functions and progress count.

    Returns
    -------
    pandas.DataFrame
        The columns of `attacks.csv`.
    """
    chosen = list(_within(_at_hand(settings, files), settings.budget))
    lines, records = list(_declared(settings, made)), _Records(files.prepared["puf"].num_rows)
    for source in made.pairs.values():
        records.add(source)
    found = _tried([one for one, tried in chosen if tried and not one.by_metric], settings, files, made, context)
    for at_hand, tried in chosen:
        one = at_hand.after(lines)
        if at_hand.by_metric and tried:
            found[one.name] = _attacked(one, settings, made, context._replace(progress=None))
        line, pairs = found.get(one.name, ({}, None))
        if one.kind == STANDARD and pairs is not None:
            records.add(pairs)
        lines.append({**line, "kind": one.kind, "metric": one.metric, "detail": one.detail})
    lines.append(records.line(lines[0]))
    n_linked = len(np.unique(files.iuf["puf"].to_numpy()))
    table = pd.DataFrame(lines).drop(columns="stratum").assign(n_linked=n_linked)
    if n_linked:
        table.loc[table["kind"] == ANY, "reach"] = table["n_confirmed"] / n_linked
    return _ordered(table)


class _Records:
    """The records that any of several metrics suspects, and that any confirms."""

    def __init__(self, n: int) -> None:
        self._suspected, self._confirmed = np.zeros(n, bool), np.zeros(n, bool)

    def add(self, pairs: Source) -> None:
        """Add the suspected pairs of a metric."""
        for batch in batches.merge([pairs], columns=["puf", "confirmed"]):
            puf = batch["puf"].to_numpy()
            self._suspected[puf] = True
            self._confirmed[puf[batch["confirmed"].to_numpy()]] = True

    def line(self, of_files: Mapping[str, Any]) -> dict[str, Any]:
        """Return the line of the declared and the standard metrics together, whose files have these numbers."""
        suspected, confirmed = int(self._suspected.sum()), int(self._confirmed.sum())
        n = np.array([of_files["n_puf"]])
        found = rates_of(n, np.array([suspected]), np.array([confirmed]))
        return {
            "kind": ANY,
            "metric": ANY,
            "detail": "",
            **{name: of_files[name] for name in OF_FILES},
            **{name: values[0] for name, values in found.items()},
            "conditional_rate": confirmed / suspected if suspected else np.nan,
        }


def _at_hand(settings: ChallengeSettings, files: AttackFiles) -> Iterator[_Attack]:
    """Yield the attacks that the study does not declare, in the order in which they are tried."""
    declared, standard = settings.declared, settings.standard
    if standard is not None:
        cut_so = files if standard.binning == declared.binning else files._replace(binned=None)
        for name in standard.metrics:
            yield _of_metric(STANDARD, name, "", standard, cut_so)
    yield from _informed(settings, files)
    yield from _by_order(settings, files)
    for names in sets([variable.name for variable in declared.variables]):
        yield _Attack(JOIN, EXACT, "+".join(names), of_join(files, len(names)), names=names)
    for name in declared.metrics:
        alone = dataclasses.replace(declared, metrics={name: declared.metrics[name]})
        for variable in declared.variables:
            if (changed := recode(alone, files, {variable.name: None})) is not None:
                yield _of_metric(WITHOUT, name, variable.name, *changed)


def _informed(settings: ChallengeSettings, files: AttackFiles) -> Iterator[_Attack]:
    """Yield the blind attack by Fellegi–Sunter of somebody who knows true links, where there are any."""
    for attacked in (settings.declared, settings.standard):
        options: Any = None if attacked is None else attacked.metrics.get(WEIGHED)
        if attacked is None or options is None or options.m == "informed":
            continue
        inside = links_inside(files.iuf, *(stratum_of_records(files.strata[side]) for side in ("puf", "eif")))
        if inside.any() and (attacked.members is None or set(MEMBER_LINKS) <= set(files.iuf.column_names)):
            known = dataclasses.replace(attacked, metrics={WEIGHED: options.model_copy(update={"m": "informed"})})
            cut_so = files if attacked.binning == settings.declared.binning else files._replace(binned=None)
            yield _of_metric(INFORMED, WEIGHED, "", known, cut_so)
        return


def _by_order(settings: ChallengeSettings, files: AttackFiles) -> Iterator[_Attack]:
    """Yield the attack with the position in the files, where that tells something beside the values.

    Its work is that of the metric that takes most, whichever is the strongest.
    """
    if not settings.budget or (found := order.of_files(settings.declared, files)) is None:
        return
    by_metric = {}
    for kind, attacked in ((DECLARED, settings.declared), (STANDARD, settings.standard)):
        if attacked is None:
            continue
        for name in attacked.metrics:
            if (changed := order.with_position(name, attacked, files, found)) is not None:
                by_metric[kind, name] = changed
    if by_metric:
        work = max(of_attack(*changed) for changed in by_metric.values())
        yield _Attack(ORDER, "", found.puf_order, work, by_metric=by_metric)


def _of_metric(kind: str, name: str, detail: str, settings: AttackSettings, files: AttackFiles) -> _Attack:
    alone = dataclasses.replace(settings, metrics={name: settings.metrics[name]})
    return _Attack(kind, name, detail, of_attack(alone, files, learns=kind != WITHOUT), (alone, files))


def _within(attacks: Iterator[_Attack], budget: float) -> Iterator[tuple[_Attack, bool]]:
    """Yield each attack, and whether its work is within what is left of a budget."""
    for one in attacks:
        tried = one.work <= budget
        budget -= one.work if tried else 0
        yield one, tried


def _declared(settings: ChallengeSettings, made: Made) -> Iterator[dict[str, Any]]:
    """Yield the attacks of the study, then the agreement of at least two, three … of its metrics."""
    summary = made.summary.set_index("metric")
    for line in made.rates[made.rates["stratum"] == WHOLE].to_dict("records"):
        yield {**line, **summary.loc[line["metric"], OF_CLAIMS].to_dict(), "kind": DECLARED, "detail": ""}
    if made.agreement.empty:
        return
    lines = made.agreement[(made.agreement["stratum"] == WHOLE) & (made.agreement["metrics"] > 1)]
    for line in lines.to_dict("records"):
        k = int(line.pop("metrics"))
        claims = made.agreeing[made.agreeing["score"] >= k]  # the claims that most metrics suspect come first
        yield {**line, **_summary(claims, settings), "kind": AGREEMENT, "metric": AGREEMENT, "detail": str(k)}


def _tried(
    chosen: Sequence[_Attack], settings: ChallengeSettings, files: AttackFiles, made: Made, context: ScoringContext
) -> dict[tuple[str, str, str], tuple[dict[str, Any], pa.Table | None]]:
    """Return by name the lines of attacks, and the pairs of those with a metric."""
    found: dict[tuple[str, str, str], tuple[dict[str, Any], pa.Table | None]] = {}
    together = max(min(context.threads, MAX_SIDE_BY_SIDE // max(int(files.manifest["pairs"].sum()), 1)), 1)
    job = context._replace(threads=context.threads // together, progress=None)

    def attack_by(one: _Attack) -> None:
        line, pairs = _attacked(one, settings, made, job)
        found[one.name] = line, pairs if one.kind == STANDARD else None

    def join(joins: Sequence[_Attack]) -> None:
        joined = _Joined(settings, files, job.threads)
        found.update({one.name: (joined.line(one.names), None) for one in joins})

    joins = [one for one in chosen if one.attack is None]
    tasks = [(partial(attack_by, one), one.work) for one in chosen if one.attack is not None]
    tasks.append((partial(join, joins), sum(one.work for one in joins)))
    run_all(tasks, together, context.progress)
    return found


def _attacked(
    one: _Attack, settings: ChallengeSettings, made: Made, context: ScoringContext
) -> tuple[dict[str, Any], pa.Table]:
    """Return the line of an attack with one metric, and its pairs by row number."""
    if one.attack is None:
        raise ValueError("a join has no metric")
    attacked = attack(*one.attack, context._replace(weights=made.weights(one.detail) if one.is_weighed else None))
    (claims,), (tables,) = order_claims(*one.attack, attacked).values(), attacked.metrics.values()
    return {**_whole(attacked.rates), **_summary(claims, settings)}, tables.positions


class _Joined:
    """The lines of joins; those without claims are alike."""

    def __init__(self, settings: ChallengeSettings, files: AttackFiles, threads: int) -> None:
        self._settings, self._files = settings, files
        self._joins = Joins(files, [variable.name for variable in settings.declared.variables], threads)
        self._no_claims: dict[str, Any] = {}

    def line(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the line of the join on some variables."""
        pairs = self._joins.claims(names)
        if pairs.num_rows:
            return self._rated(pairs)
        self._no_claims = self._no_claims or self._rated(pairs)
        return self._no_claims

    def _rated(self, pairs: pa.Table) -> dict[str, Any]:
        declared, files = self._settings.declared, self._files
        rating = dataclasses.replace(declared.rating, metrics=(EXACT,), tolerances={EXACT: (0, 0)})
        truth = files.iuf, files.strata, files.manifest
        rates = rate(rating, {}, *truth, {EXACT: pairs}, {EXACT: pd.DataFrame()}, files.clusters)
        claims = surest.order(ClaimSettings(False, declared.rates), [of_pairs(pairs)], files.iuf)
        return {**_whole(rates.drop(columns=OF_ONE_METRIC)), **_summary(claims, self._settings)}


def _whole(rates: pd.DataFrame) -> dict[str, Any]:
    return rates.iloc[0].to_dict()  # that of the whole study comes first


def _summary(claims: pd.DataFrame, settings: ChallengeSettings) -> dict[str, Any]:
    line = surest.summary("", claims, settings.right)
    return {name: line[name] for name in OF_CLAIMS}


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Return the attacks by kind; joins, and those without a variable, by the records that they confirm."""
    chosen = table["kind"].isin([JOIN, WITHOUT])
    most = (-table["n_confirmed"].where(chosen, 0)).fillna(np.inf)
    order = np.lexsort((np.arange(len(table)), most, table["kind"].map(KINDS.index)))
    return table.iloc[order].reset_index(drop=True)
