"""The formats of the dates of a study, for both files or for each, and their checks (METHODS §1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from reident.sections.base import Section
from reident.sections.days import ISO, UNITS, DateForm

if TYPE_CHECKING:
    from reident.sections.coarsening import Coarsening


def _valid(value: str) -> str:
    if not DateForm(value).is_valid:
        raise ValueError(
            "must be a date format: `YYYY` or `YY`, `MM` or `MMM`, `DD`, `hh`, `mm` and `ss`, each at most once and "
            "none without the larger ones. Write for example `DD.MM.YYYY` or `YYYY-MM-DD hh:mm`."
        )
    return value


DateFormat = Annotated[str, AfterValidator(_valid)]
"""How the dates of one column are written."""

_FINER = {"week": "day", "quarter": "month"}
"""The finest dates of a format for which a period is coarse enough."""

LatestYear = Annotated[int, Field(ge=99, le=9999)]


class DateFormats(Section):
    """The date format of each file."""

    puf: DateFormat = ISO
    """The date format of the public use file."""
    eif: DateFormat = ISO
    """The date format of the external intruder file."""


def _for_both(value: Any) -> Any:
    """Let one format apply to both files."""
    return {"puf": value, "eif": value} if isinstance(value, str) else value


Formats = Annotated[DateFormats, BeforeValidator(_for_both, json_schema_input_type=DateFormat | DateFormats)]


def date_form(kind: str, form: str | None, latest_year: int | None) -> DateForm | None:
    """Return how a column of a type writes dates; None if it has none."""
    return DateForm(form or ISO, latest_year) if kind == "date" else None


def check_date(kind: str, form: object, latest_year: int | None, forms: Sequence[DateForm]) -> None:
    """Refuse date formats of other variables, and two digits of a year that may mean several."""
    if kind != "date" and (form is not None or latest_year is not None):
        raise ValueError("must not have `format` or `latest_year` without `type: date`. Remove them, or set the type.")
    short = any(one.has_short_year for one in forms)
    if short and latest_year is None:
        raise ValueError(
            "`.latest_year` is missing, because `YY` may mean several years. Add the latest one that the dates may "
            "have, or write the dates with four digits."
        )
    if latest_year is not None and kind == "date" and not short:
        raise ValueError("`.latest_year` must not be given without `YY` in `format`. Remove it.")


def check_units(forms: Sequence[DateForm], coarsening: Coarsening | None) -> None:
    """Refuse dates of which one file has times, or only months, unless both are made equally coarse."""
    units = {form.unit for form in forms}
    if len(units) < 2:
        return
    coarsest = max(units, key=UNITS.index)
    period = None if coarsening is None else coarsening.to
    if period is None or _FINER.get(period, period) not in UNITS[UNITS.index(coarsest) :]:
        raise ValueError(
            f"`.format` must have the same parts for both files, or `coarsen` must have `to: {coarsest}`, since one "
            "file has finer dates. Add that."
        )
