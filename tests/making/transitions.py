"""Random pairs of studies: the same folder sees the first and then the second.

Every study is a base of one kind with a few changes; the changes cover every key of config/README.md. The files of all
kinds are in one folder, so that a study may also exchange a file or how it is written.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from making.analyses import gathered
from making.changes import DATE, HEAD, SCORES_SHA256, VARIABLES, Change, changed, forms, labelled, typings, under
from making.studies import keyed_by
from oracles.metrics import ORACLES
from reident.errors import InputError
from reident.pipeline import family


class Transition(NamedTuple):
    """Two studies of one id, and what the second changes."""

    kind: str
    before: dict[str, Any]
    after: dict[str, Any]
    changes: list[Change]


LINKED: list[Change] = [
    *HEAD,
    *forms("files.puf", "puf"),
    *forms("files.eif", "eif"),
    *forms("files.iuf", "iuf"),
    {"files.original": {"path": "puf.csv"}},
    *(
        {
            "files.original": {
                **under(form, "files.original"),
                "path": form.get("files.original.path", "puf.csv"),
            }
        }
        for form in forms("files.original", "puf")
    ),
    {"files.eif.id": ["serial", "broker"], "files.iuf.eif_id": ["serial", "broker"]},
    {"files.puf.id": ["id"], "files.iuf.puf_id": ["id"]},
    {"files.iuf.unknown_links_at_most": "3"},
    {"files.puf.pad": {"school": "2"}, "files.eif.pad": {"school": "2"}},
    {"files.eif.pad": {"weight": "2", "sex": "2"}},
    {"files.iuf.pad": {"id": "2"}},
    {"files.original": {"path": "puf.csv", "pad": {"school": "2"}}},
    {"confirmed_csv": True},
    {"linking_variables.0.coarsen": {"width": "5", "bottom": "20", "top": "70"}},
    {"linking_variables.3.coarsen": {"recode": {"2": "1"}}},
    {"linking_variables.3.recode": {"puf": {"1-2": "1", "otherwise": "3"}, "eif": {"1-2": "1", "3-": "3"}}},
    {"strata": None},
    {"strata.0.name": "area", "strata.0.puf": "region", "strata.0.eif": "region"},
    {"strata.0.missing": {"puf": ["N"], "eif": []}},
    {"strata.0.recode": {"puf": {"N": "E"}, "eif": {"N": "E"}}},
    {"strata.0.recode": {"puf": {}, "eif": {"S": "E"}}},
    {"strata.0.integer_coded": True},
    *typings("linking_variables.3"),
    labelled("linking_variables.3"),
    {"strata.0.labels": {"N": "North"}},
    {"linking_variables.3.missing": {"puf": ["3", "-9"], "eif": ["-9"]}},
    {"linking_variables.3.recode": {"puf": {"3": "2"}, "eif": {"3": "2"}}},
    {"linking_variables.3.recode": {"eif": {"2": "1"}}},
    {"linking_variables.3.order": ["1", "2", "3", "-9"]},
    {"linking_variables.0.missing": ["33", "40"]},
    {
        "linking_variables.0.convert": {
            "puf": {"times": "2", "plus": "1"},
            "eif": {"times": "1/2", "plus": "-1"},
        }
    },
    {"linking_variables.0.type": "categorical"},
    {"linking_variables.0.name": "years", "linking_variables.0.puf": "age", "linking_variables.0.eif": "age"},
    {"linking_variables.1.eif": "weight"},
    {"binning.bins": "3"},
    {"binning.cutpoints": "eif"},
    {"binning.cutpoints": "each"},
    {"binning.scope": "study"},
    {"binning.quantiles": "groups"},
    {"binning.quantiles": "groups", "binning.ties": "high"},
    *({f"metrics.{name}": options} for name, oracle in ORACLES.items() for options in oracle.changes),
    {"metrics.adhoc": {"scores": {"sex": {"exact": True}, "age": {"function": "rules:near", "sha256": SCORES_SHA256}}}},
    {"rank_filter.max_pairs": "2"},
    {"rank_filter.keep": "6"},
    {"rates.interval": "wilson"},
    {"rates.level": "0.9"},
    {"rates.interval": "clustered", "rates.cluster": ["region", "school"]},
    {"rates.cluster": "school"},
    {"files.eif.person": "weight"},
    {"files.eif.named": "false"},
    {"decision.conditional_rate_at_most": "0.1"},
    {"decision": {"conditional_rate_at_most": {"taxicab": "0.1"}, "by": "upper"}},
    {"decision": {"expected_correct_rate_at_most": "0.1"}},
    {"decision": {"reach_at_most": "0.1", "set_by": "The board", "set_on": "2026-01-15"}},
    {"challenge": {"work": "0"}},
    {"challenge": {"work": "all"}},
    {"decision": {"single_rate_at_most": "0.1"}},
    {"decision": {"confirmed_rate_at_most": "0.1"}},
    {"decision": {"reach_at_most": "0.1"}},
    {"decision": {"confirmed_at_most": "3"}},
    {"decision": {"surest": {"right": "0.9", "at_most": "10"}}},
    {"decision": {"confirmed_by_any_at_most": "3"}},
    {"predecessor": "earlier-study"},
    {"intruder": "an employer"},
]  # fmt: skip


DATED: list[Change] = [
    {"linking_variables.0.latest_year": "2050"},
    {"linking_variables.0.format": {"puf": "DD-MM-YY", "eif": "MM-DD-YY"}},
    {"linking_variables.0.format": "MM-DD-YY"},
    {"linking_variables.0.coarsen": {"to": "month"}},
    {"linking_variables.0.coarsen": {"to": "year", "earliest": "1950-01-01", "latest": "2020-12-31"}},
    {"linking_variables.0.missing": ["01-01-00"]},
    {"metrics.adhoc": {"scores": {"since": {"bands": [{"within": "31", "score": "5"}]}}}},
    {"binning.bins": "3"},
]


GROUPED: list[Change] = [
    {"units": {"puf": "house", "eif": ["house"]}},
    {"units": {"puf": "house", "eif": ["house"], "kind": "household"}},
    {"units.puf": ["house", "weight"]},
    {"units.eif": "serial"},
    {"units.members": "some"},
    {"units": None},
    {"linking_variables.0.level": "unit"},
    {"linking_variables.0.coarsen": {"to": "month"}},
    {"linking_variables.1.missing": ["33"]},
    {"metrics.unicity": {}},
    {"metrics.taxicab": {"alpha": "1/3"}},
    {"rank_filter.max_pairs": "2"},
    {"binning.bins": "3"},
]


HOUSEHOLDS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": "70"},
    {"simulate.puf_households": "25"},
    {"simulate.eif_households": "40"},
    {"simulate.known": "0.5"},
    {"simulate.lacking": "0.2"},
    {"simulate.wrong": "0.2"},
    {"simulate.moved": "0.3"},
    {"simulate.errors": "0.4"},
    {"simulate.age_noise": "0.6"},
    {"simulate.top_age": "60"},
    {"simulate.missing": "0.3"},
    {"units.members": "some"},
]


VISITS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.puf_patients": "25"},
    {"simulate.eif_patients": "40"},
    {"simulate.known": "0.7"},
    {"simulate.lacking": "0.1"},
    {"simulate.moved": "9"},
    {"simulate.errors": "0.4"},
    {"linking_variables.0.coarsen": {"to": "month"}},
]


SURVEY: list[Change] = [
    {"simulate.kind": "household-survey"},
    {"simulate.seed": "3"},
    {"simulate.households": "70"},
    {"simulate.puf_records": "30"},
    {"simulate.eif_records": "40"},
    {"simulate.overlap": "0.6"},
    {"simulate.original": "true"},
    {"simulate.treatment.swapping": "0.5"},
    {"simulate.treatment.noise": {"income": "0.5"}},
    {"simulate.treatment.microaggregation": {"income": "3"}},
    {"simulate.treatment.rounding": {"hours": "10"}},
    {"simulate.treatment.top_coding": {"age": "0.5"}},
    {"simulate.treatment.largest_household": "3"},
    {"simulate.treatment.missing": {"income": "0.5"}},
    {"simulate.brokers.sources": ["1", "10"]},
    {"simulate.brokers.person": "true"},
    {"simulate.last_year": {"moved": "0.1", "changed": {"age": "0.2"}}},
    {"simulate.brokers.adults_from": "30"},
    {"simulate.brokers.uncovered_region": "2"},
    {"simulate.brokers.duplicates": "0.2"},
    {"simulate.brokers.outdated": "0.6"},
    {"simulate.brokers.moved": "0.3"},
    {"simulate.brokers.errors": {"age": "0.5"}},
    {"simulate.brokers.noise": {"income": "0.5"}},
    {"simulate.brokers.rounding": {"income": "1000"}},
    {"simulate.brokers.missing": {"income": "0.5"}},
    {"binning.bins": "3"},
]


VARIED: list[Change] = [
    {"variants": [{"set": "metrics.taxicab.alpha", "values": ["0.25", "0.5", "0.75"]}]},
    {"variants": [{"set": "binning.bins", "name": "cut", "values": ["3", "4"]}]},
    {"variants": [{"name": "both", "combinations": {"x": {"binning.bins": "3"}, "y": {"rank_filter.max_pairs": "2"}}}]},
    {"variants": [{"set": "linking_variables.school.missing", "values": {"none": [], "two": ["2"]}}]},
    {"variants": [{"set": "linking_variables.school", "values": {"without": None}}]},
    {"variants": [{"set": "files.puf.path", "values": {"exchanged": "people.csv"}}]},
    {"confirmed_csv": True},
    {"binning.bins": "4"},
    {"rank_filter.max_pairs": "3"},
    {"metrics.taxicab.alpha": "0.75"},
    {"linking_variables.3.missing": ["2"]},
    {"metrics.unicity": {}},
]  # fmt: skip


LINKING = {
    "files": keyed_by("id", ["broker", "serial"]),
    "strata": [{"name": "region"}],
    "linking_variables": VARIABLES,
    "metrics": {"taxicab": {}},
}


_OWN: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "linked": (LINKING, LINKED),
    "varied": ({**LINKING, "variants": [{"set": "binning.bins", "values": ["2", "3"]}]}, VARIED),
    "dated": ({**LINKING, "linking_variables": [{"name": "since", **DATE}, *VARIABLES[2:]]}, DATED),
    "grouped": (
        {
            **LINKING,
            "strata": [],
            "units": {"puf": "house", "eif": "house"},
            "linking_variables": [{"name": "since", **DATE}, VARIABLES[0], VARIABLES[2]],
        },
        GROUPED,
    ),
    "households": (
        {
            "simulate": {"kind": "households", "households": "60", "puf_households": "20", "eif_households": "30"},
            "units": {"puf": "household", "eif": "address"},
            "linking_variables": [{"name": "AGE", "type": "numeric", "eif": "age_years"}],
            "metrics": {"taxicab": {}},
        },
        HOUSEHOLDS,
    ),
    "visits": (
        {
            "simulate": {"kind": "visits", "households": "60", "puf_patients": "20", "eif_patients": "30"},
            "units": {"puf": "patient", "eif": "member", "members": "some"},
            "linking_variables": [{"name": "ADMITTED", "type": "date", "eif": "day", "format": {"eif": "DD.MM.YYYY"}}],
            "metrics": {"taxicab": {}},
        },
        VISITS,
    ),
    "survey": (
        {
            "simulate": {"households": "60", "puf_records": "40", "eif_records": "50"},
            "linking_variables": [
                {"name": "age", "type": "numeric", "puf": "AGE", "eif": "age_years"},
                {
                    "name": "income",
                    "type": "numeric",
                    "puf": "INCOME",
                    "eif": "income_est",
                    "missing": ["-9", "", "-8"],
                },
            ],
            "metrics": {"taxicab": {}},
        },
        SURVEY,
    ),
}
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = _OWN | {
    kind: own for kinds in gathered("KINDS") for kind, own in kinds.items()
}
"""Every kind of study: its base, and the changes that a study of the kind may make."""
for _more in gathered("CHANGES"):
    for _kind, _changes in _more.items():
        KINDS[_kind][1].extend(_changes)


def transitions(seed: int, folder: Path) -> Iterator[Transition]:
    """Draw pairs of valid studies, the kinds in turn; the second has one or two changes more than the first.

    :func:`write_files` has written the files that studies name into the folder.
    """
    draw = Random(seed)  # noqa: S311 - draws test cases
    number = 0
    while True:
        for kind, (base, changes) in KINDS.items():
            study = {"id": f"t{number:03d}", **base}
            before = _valid(study, draw.sample(changes, draw.randint(0, 2)), folder)
            steps = draw.sample(changes, draw.randint(1, 2))
            after = _valid(before, steps, folder) if before else None
            if before is None or after is None or after == before:
                continue
            yield Transition(kind, before, after, steps)
            number += 1


def _valid(study: dict[str, Any], steps: list[Change], folder: Path) -> dict[str, Any] | None:
    """Return the study after the changes, or None if it is not a valid study."""
    for step in steps:
        try:
            study = changed(study, step)
        except (IndexError, KeyError, TypeError, ValueError):
            return None
    file = write_study(folder, study, "check")
    try:
        members = family.Family(file)
        family.check_files(members.members, file)
    except InputError:
        return None
    finally:
        file.unlink()
    return study


def write_study(folder: Path, study: dict[str, Any], name: str = "") -> Path:
    """Write a study file into a folder."""
    file = folder / f"{name or study['id']}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return file
