"""The section `confirm` of a study file: confirmation by the values of people, without true links (METHODS §14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from reident.linkage.metrics import adhoc, fellegi_sunter, winkler
from reident.sections.base import Section, refuse_repeats
from reident.sections.decision import LIMITS
from reident.sections.exact import parse_rational
from reident.sections.files import Name
from reident.sections.keys import KeyVariable, KeyVariables, of_linking, taken_over

if TYPE_CHECKING:
    from reident.study.model import Study

ROW = "(row)"
"""Stands for the key of a released file whose records are not people: the row is enough."""

LEAST_WEIGHT = -1000
"""A threshold that every pair is above."""

OF_LINKS = ("metrics", "metrics.any", "metrics.surest")
"""The limits that count true links."""

WITHOUT = {
    "simulate": "it takes its files from `files`",
    "microaggregate": "it takes its files from `files`",
    "units": "it compares single records",
    "why": "it explains true links",
    "larger_intruder": "it counts true links",
    "together": "it counts true links",
    "utility": "it compares the same records before and after protection",
    "release": "no rule yet tells how a count of people whose values were learnt can be published",
    "rank_filter": "every record of the best rank counts, however many there are",
    "challenge": "the attacks at hand are confirmed by true links",
    "confirmed_csv": "there are no confirmed pairs",
}
"""The keys that do not go with this section, and why."""


class Confirm(Section):
    """The confirmation of what an intruder learns about a person by the values of that person.

    The released file (`files.puf`) may lack records of people, as synthetic files do; its `id` is not needed.
    `files.iuf` is the confidential file: a record for each person, with the key of the external file (`eif_id`) and the
    columns and codes of the released file.
    """

    by: Literal["values"]
    """What confirms a claim: the values of the person in the confidential file. Source: METHODS §14."""
    learn: KeyVariables = Field(min_length=1)
    """The variables that the intruder learns from a released record, each as a name or as a mapping. A claim is
    confirmed if the person has all of these values. Source: METHODS §14."""
    within: dict[Name, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """By numeric variable, the largest difference between the released value and that of the person, of dates in
    days. Of a variable of `learn`, 0 if absent. A linking variable that is named here must agree too. Source:
    METHODS §14."""

    @model_validator(mode="after")
    def _names_fit(self) -> Confirm:
        refuse_repeats([variable.name for variable in self.learn], "learn")
        return self

    def variables(self, study: Study) -> tuple[tuple[KeyVariable, ...], tuple[KeyVariable, ...]]:
        """Return the variables that are learnt, and the linking variables that must agree too."""
        linking = {variable.name: of_linking(variable, "puf") for variable in study.linking_variables}
        learnt = tuple(taken_over(variable, {}) for variable in self.learn)
        names = {variable.name for variable in learnt}
        return learnt, tuple(linking[name] for name in self.within if name not in names)

    def check(self, study: Study) -> None:
        """Refuse what does not go with confirmation by values."""
        if study.metrics is None:
            raise ValueError(
                "`.confirm` must not be given without `metrics`. Add for example `metrics: {taxicab: {}}`."
            )
        for key, reason in WITHOUT.items():
            default = type(study).model_fields[key].get_default(call_default_factory=True)
            if getattr(study, key) != default:
                raise ValueError(f"`.{key}` must not be given with `confirm`, because {reason}. Remove one of the two.")
        if study.files is not None and study.files.original is not None:
            raise ValueError(
                "`.files.original` must not be given with `confirm`, because it has the same records as `files.puf`. "
                "Remove it."
            )
        if study.files is not None and set(study.files.iuf.puf_id) != {ROW}:
            raise ValueError(
                "`.files.iuf.puf_id` must not be given with `confirm`, which has no true links. Remove it, or remove "
                "`confirm`."
            )
        for limit in (key for section in OF_LINKS for key in LIMITS[section]):
            if study.decision is not None and getattr(study.decision, limit) is not None:
                raise ValueError(
                    f"`.decision.{limit}` must not be given with `confirm`, because it counts true links. Remove it, "
                    "or give `excess_precision_at_most`."
                )
        for name, options in study.chosen.items():
            if reason := _unfit(options):
                raise ValueError(f"`.metrics.{name}` {reason}")
        self._check_variables(study)

    def _check_variables(self, study: Study) -> None:
        linking = {variable.name: variable.type for variable in study.linking_variables}
        for variable in self.learn:
            if variable.name in linking or variable.name in {stratum.name for stratum in study.strata}:
                raise ValueError(
                    f"`{variable.name}` must not be both in `confirm.learn` and a linking or strata variable, which "
                    "the intruder knows already. Remove it from one of the two lists."
                )
        types = linking | {variable.name: variable.type for variable in self.learn}
        for name in self.within:
            if types.get(name, "categorical") == "categorical":
                raise ValueError(
                    f"`.confirm.within.{name}` must be a numeric variable or a date of `learn` or "
                    "`linking_variables`. Correct the name, or give the variable `type: numeric`."
                )
            if any(one.name == name and one.coarsen is not None for one in study.linking_variables):
                raise ValueError(
                    f"`.confirm.within.{name}` must not name a variable with `coarsen`, because the values of people "
                    "are not coarser. Remove one of the two."
                )


def _unfit(options: Any) -> str:
    """Return why a metric with these options does not compare people with records of a file without people."""
    if isinstance(options, winkler.Options):
        return "must not be given with `confirm`, because it compares masked records of people. Remove it."
    if getattr(options, "m", None) == "informed":
        return "must not have `m: informed` with `confirm`, which has no true links. Remove `m`."
    rules = options.scores.values() if isinstance(options, adhoc.Options) else ()
    if any(rule.function is not None for rule in rules):
        return "must not have a `function` with `confirm`, which compares from the side of the people. Use `bands`."
    return ""


def from_people(options: Section) -> Section:
    """Return the options of a metric where the record of a person stands on the side of the released ones.

    The best candidate by Fellegi–Sunter is a claim whatever its weight (METHODS §6.7).
    """
    if isinstance(options, fellegi_sunter.Options):
        return options.model_copy(update={"threshold": fellegi_sunter.Threshold(weight=LEAST_WEIGHT)})
    if not isinstance(options, adhoc.Options):
        return options
    scores = {name: rule.model_copy(update={"table": _mirrored(rule.table)}) for name, rule in options.scores.items()}
    return options.model_copy(update={"scores": scores})


def _mirrored(cells: tuple[adhoc.Cell, ...] | None) -> tuple[adhoc.Cell, ...] | None:
    return cells and tuple(adhoc.Cell(puf=cell.eif, eif=cell.puf, score=cell.score) for cell in cells)


def exact(within: float) -> float:
    """Return a tolerance as the nearest double of its decimal text."""
    return float(parse_rational(str(within)))


def with_rows(content: Any) -> Any:
    """Return the content of a study file in which the row stands for keys that `confirm` does not need."""
    files = content.get("files") if isinstance(content, Mapping) and content.get("confirm") else None
    if not isinstance(files, Mapping) or not all(isinstance(files.get(side), Mapping) for side in ("puf", "iuf")):
        return content
    puf = {"id": ROW, **files["puf"]}
    width = len(puf["id"]) if isinstance(puf["id"], list | tuple) else 1
    return {**content, "files": {**files, "puf": puf, "iuf": {"puf_id": [ROW] * width, **files["iuf"]}}}
