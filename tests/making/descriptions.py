"""Right and wrong descriptions of files: drawn people, protected records, and mistakes of many kinds (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pyarrow as pa
from reident.linkage.settings import Variable
from reident.plausibility.check import check
from reident.plausibility.records import Records, read
from reident.plausibility.settings import DescriptionCheckSettings


@dataclass(frozen=True)
class Described:
    """A study as somebody describes it: both files by record, the rows of its links, and the types of its variables."""

    puf: pd.DataFrame
    eif: pd.DataFrame
    links: np.ndarray  # int (n, 2)
    types: dict[str, str]
    extra: dict[str, pd.DataFrame] = field(default_factory=dict)  # columns that are not linking variables, by side

    def select(self, kind: str) -> list[str]:
        """The linking variables of a type."""
        return [name for name, type_ in self.types.items() if type_ == kind]


def draw(rng: np.random.Generator, n_links: int | None = None) -> Described:
    """Draw a study that is described as it is: 4 to 12 variables, 200 to 5,000 records, light to heavy protection."""
    n_puf, n_eif = (int(np.exp(rng.uniform(np.log(200), np.log(5000)))) for _ in range(2))
    most = min(n_puf, n_eif)
    n = n_links or int(np.exp(rng.uniform(np.log(100), np.log(max(101, min(most, 2000))))))
    n = min(n, most)
    people = n_puf + n_eif - n
    ability, age = rng.normal(size=people), rng.integers(16, 90, people)
    truth: dict[str, np.ndarray] = {}
    types: dict[str, str] = {}
    for at in range(int(rng.integers(4, 13))):
        if at < 2 or rng.random() < 0.35:
            truth[f"v{at}"], types[f"v{at}"] = _number(rng, at, age, ability), "numeric"
        else:
            k = int(rng.integers(2, 9))
            latent = rng.uniform(0, 1) * ability + rng.normal(size=people)
            cuts = np.sort(rng.normal(size=k - 1))
            truth[f"v{at}"], types[f"v{at}"] = np.searchsorted(cuts, latent) + 1.0, "categorical"
    regions = rng.integers(0, int(rng.integers(1, 6)), people)
    frame = pd.DataFrame(truth)
    frame["stratum"] = regions
    frame["other_number"], frame["other_code"] = (rng.normal(size=people), rng.integers(1, 6, people).astype(float))
    puf, eif = frame.iloc[:n_puf].copy(), frame.iloc[n_puf - n :].copy()
    heavy = rng.uniform(0, 1)
    puf, eif = (_protected(rng, puf, types, heavy), _protected(rng, eif, types, 0.25 * rng.uniform(0, 1), exact=True))
    rows = [rng.permutation(len(side)) for side in (puf, eif)]
    places = [np.argsort(order) for order in rows]
    links = np.column_stack([places[0][n_puf - n :], places[1][:n]])
    puf, eif = (side.iloc[order].reset_index(drop=True) for side, order in zip((puf, eif), rows, strict=True))
    others = ["other_number", "other_code"]
    extra = {"puf": puf[others], "eif": eif[others]}
    return Described(puf.drop(columns=others), eif.drop(columns=others), links, types, extra)


def _number(rng: np.random.Generator, at: int, age: np.ndarray, ability: np.ndarray) -> np.ndarray:
    n = len(age)
    match 0 if at == 0 else int(rng.integers(1, 5)):
        case 0:
            return age.astype(float)
        case 1:
            return np.round(np.exp(10 + 0.5 * ability + 0.4 * rng.normal(size=n)), -2)
        case 2:
            return np.round(170 + 9 * rng.normal(size=n))
        case 3:
            hours = np.where(rng.random(n) < 0.4, 40, np.round(np.clip(rng.normal(35, 12, n), 1, 80)))
            return hours.astype(float)
        case _:
            return np.where(rng.random(n) < 0.3, 0, np.round(np.exp(8 + rng.normal(size=n)), -1))


def _protected(
    rng: np.random.Generator, frame: pd.DataFrame, types: dict[str, str], heavy: float, exact: bool = False
) -> pd.DataFrame:
    """Perturb, round, swap and suppress values: of each variable in another way, up to two fifths of the records."""
    frame = frame.copy()
    n = len(frame)
    for name, kind in types.items():
        values = frame[name].to_numpy().copy()
        way = rng.integers(0, 4)
        changed = rng.random(n) < 0.4 * heavy
        if kind == "categorical":
            donors = rng.permutation(n)
            values[changed] = values[donors][changed]
        elif way == 0 and not exact:
            spread = np.subtract(*np.quantile(values, [0.75, 0.25])) or values.std() or 1
            values = values + rng.normal(0, 0.4 * heavy * spread, n)
        elif way == 1 and not exact:
            step = max(1.0, np.round(values.std() * 0.3 * heavy, -int(np.floor(np.log10(max(values.std(), 1))))))
            values = np.round(values / step) * step
        elif way == 2 and not exact:
            values = np.minimum(values, np.quantile(values, 1 - 0.1 * heavy))
        else:
            values[changed] = values[rng.permutation(n)][changed]
        values = values.astype(float)
        values[rng.random(n) < 0.08 * heavy * rng.random()] = np.nan
        frame[name] = values
    return frame


def checked(described: Described) -> pd.DataFrame:
    """What the checks of the library say of a study."""
    return check(*_tables(described))


def _tables(
    described: Described,
) -> tuple[DescriptionCheckSettings, dict[str, pa.Table], pa.Table, dict[str, pa.Table], pd.DataFrame]:
    """The settings of the checks, the prepared files, the links, the strata and the row account of a study."""
    strata = pd.factorize(pd.concat([described.puf["stratum"], described.eif["stratum"]]))[0].astype(np.int32)
    n = len(described.puf)
    tables, stratum = {}, {"puf": strata[:n], "eif": strata[n:]}
    for side in ("puf", "eif"):
        frame = getattr(described, side)
        columns = {"key": pa.array([f"{side}{row}" for row in range(len(frame))])}
        for name, kind in described.types.items():
            values = frame[name].to_numpy().astype(float)
            if kind != "categorical":
                column = pa.array(values, from_pandas=True)
            else:
                codes = np.char.mod("%g", np.nan_to_num(values))
                column = pa.array(codes, pa.string(), mask=np.isnan(values))
            columns[name] = pa.chunked_array([column])
        tables[side] = pa.table(columns)
    inside = stratum["puf"][described.links[:, 0]] == stratum["eif"][described.links[:, 1]]
    account = pd.DataFrame(
        [
            ("stratify", "iuf", "in", len(inside)),
            ("stratify", "iuf", "lost to stratification: the records are in different strata", int((~inside).sum())),
        ],
        columns=["step", "file", "cause", "rows"],
    )
    iuf = pa.table({"puf": described.links[:, 0].astype(np.int32), "eif": described.links[:, 1].astype(np.int32)})
    variables = tuple(Variable(name, kind) for name, kind in described.types.items())  # type: ignore[arg-type]
    settings = DescriptionCheckSettings(variables, {"puf": ("key",), "eif": ("key",)})
    return settings, tables, iuf, {side: pa.table({"stratum": codes}) for side, codes in stratum.items()}, account


def records_of(numbers: dict[str, tuple[np.ndarray, np.ndarray]]) -> Records:
    """The records of two files without links, of one stratum, from the numbers of each variable in both files."""
    frames = [pd.DataFrame({name: both[at] for name, both in numbers.items()}).assign(stratum=0) for at in (0, 1)]
    study = Described(*frames, np.empty((0, 2), int), dict.fromkeys(numbers, "numeric"))
    settings, tables, iuf, strata, _ = _tables(study)
    return read(settings, tables, iuf, strata)


def warned(described: Described) -> list[tuple[str, str]]:
    """The checks that put a verdict under reservation, each with its scope."""
    lines = checked(described)
    grave = lines[lines["severity"].isin(["understates", "invalidates"])]
    return list(zip(grave["scope"], grave["check"], strict=True))


def people_found(described: Described, rng: np.random.Generator, most: int = 200) -> float:
    """About how many people the better of two simple attacks finds: fifths and categories, or distances.

    The true partner is among at most five best candidates of its stratum, of which less than a quarter of the
    variables differ (METHODS §4.2), or whose distance is the smallest (§4.3); for a sample of linked records.
    """
    links = described.links
    if not len(links):
        return 0.0
    sample = links[rng.permutation(len(links))[:most]]
    strata = described.puf["stratum"].to_numpy()[sample[:, 0]][:, None] == described.eif["stratum"].to_numpy()
    different, squares = np.zeros(strata.shape), np.zeros(strata.shape)
    for name, kind in described.types.items():
        own, other = described.puf[name].to_numpy(), described.eif[name].to_numpy()
        points = np.nanquantile(own, [0.2, 0.4, 0.6, 0.8]) if kind == "numeric" else None
        mine, theirs = own[sample[:, 0]][:, None], other[None, :]
        missing = np.isnan(mine) | np.isnan(theirs)
        if points is not None:
            unequal = np.searchsorted(points, mine) != np.searchsorted(points, theirs)
            distance = np.tanh(np.minimum(np.abs(mine - theirs) / (np.nanstd(own) or 1), 6) / 2)
        else:
            unequal = mine != theirs
            distance = unequal.astype(float)
        different += np.where(missing, 0.5, unequal)
        squares += np.where(missing, 0.5, distance) ** 2
    counts = []
    for score, limit in ((different, 0.25 * len(described.types)), (np.round(squares, 9), np.inf)):
        inside = np.where(strata, score, np.inf)
        own = inside[np.arange(len(sample)), sample[:, 1]]
        counts.append(((own < limit) & ((inside <= own[:, None]).sum(1) <= 5)).mean())
    return max(counts) * len(links)


Mistake = Callable[[np.random.Generator, Described], Described]
KINDS: dict[str, Mistake] = {}


def _kind(make: Mistake) -> Mistake:
    KINDS[make.__name__.removeprefix("_").removesuffix("_")] = make
    return make


def _other(study: Described, name: str, values: np.ndarray, side: str = "eif") -> Described:
    return replace(study, **{side: getattr(study, side).assign(**{name: values})})


def _numbers(convert: Callable[[np.random.Generator, np.ndarray], np.ndarray], side: str = "eif") -> Mistake:
    """A mistake in a number of one file: the one that tells most people apart."""

    def make(rng: np.random.Generator, study: Described) -> Described:
        names = study.select("numeric")
        name = names[int(rng.integers(len(names)))]
        return _other(study, name, convert(rng, getattr(study, side)[name].to_numpy().copy()), side)

    return make


def _codes(convert: Callable[[np.random.Generator, np.ndarray], np.ndarray], side: str = "eif") -> Mistake:
    def make(rng: np.random.Generator, study: Described) -> Described:
        names = study.select("categorical")
        if not names:
            return study
        name = names[int(rng.integers(len(names)))]
        return _other(study, name, convert(rng, getattr(study, side)[name].to_numpy().copy()), side)

    return make


def _some(rng: np.random.Generator, values: np.ndarray, share: float, new: np.ndarray | float) -> np.ndarray:
    return np.where(rng.random(len(values)) < share, new, values)


def _permuted_codes(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    codes = np.unique(values[~np.isnan(values)])
    to = dict(zip(codes, rng.permutation(codes), strict=True))
    return np.array([to.get(value, value) for value in values])


def _exchanged(values: np.ndarray, first: int, second: int) -> np.ndarray:
    codes = np.unique(values[~np.isnan(values)])
    a, b = codes[first % len(codes)], codes[second % len(codes)]
    return np.where(values == a, b, np.where(values == b, a, values))


def _spread(values: np.ndarray) -> float:
    return float(np.nanstd(values)) or 1.0


def _links(change: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Mistake:
    return lambda rng, study: replace(study, links=change(rng, study.links))


def _wrong_share(rng: np.random.Generator, links: np.ndarray, share: float) -> np.ndarray:
    wrong = rng.random(len(links)) < share
    links = links.copy()
    links[wrong, 1] = rng.permutation(links[wrong, 1])
    return links


def _half_shifted(_: np.random.Generator, links: np.ndarray) -> np.ndarray:
    links, half = links.copy(), len(links) // 2
    links[:half, 1] = np.roll(links[:half, 1], 1)
    return links


def _repeated(side: str, times: int) -> Mistake:
    def make(_: np.random.Generator, study: Described) -> Described:
        frame = getattr(study, side)
        return replace(study, **{side: pd.concat([frame] * times, ignore_index=True)})

    return make


def _strata_exchanged(_: np.random.Generator, study: Described) -> Described:
    values = study.eif["stratum"].to_numpy().astype(float)
    return _other(study, "stratum", _exchanged(values, 0, 1))


def _crossed(rng: np.random.Generator, study: Described) -> Described:
    for kind in ("categorical", "numeric"):
        names = study.select(kind)
        if len(names) > 1:
            a, b = rng.permutation(names)[:2]
            return replace(study, eif=study.eif.assign(**{a: study.eif[b], b: study.eif[a]}))
    return study


def _another_column(kind: str, column: str) -> Mistake:
    def make(rng: np.random.Generator, study: Described) -> Described:
        names = study.select(kind)
        return _other(study, names[-1], study.extra["eif"][column].to_numpy()) if names else study

    return make


KINDS.update(
    {
        "thousands": _numbers(lambda _, x: x / 1000),
        "hundreds": _numbers(lambda _, x: x * 100),
        "months_for_years": _numbers(lambda _, x: x * 12),
        "pounds_for_kilograms": _numbers(lambda _, x: x * 2.2046),
        "a_third_more": _numbers(lambda _, x: x * 1.33),
        "net_for_gross": _numbers(lambda rng, x: x * rng.normal(0.7, 0.05, len(x))),
        "five_years_on": _numbers(lambda _, x: x + 0.35 * _spread(x)),
        "another_origin": _numbers(lambda _, x: x + 3 * _spread(x)),
        "year_of_birth": _numbers(lambda _, x: 2026 - x),
        "fahrenheit": _numbers(lambda _, x: 1.8 * x + 32),
        "logarithm": _numbers(lambda _, x: np.round(np.log1p(np.abs(x)), 3)),
        "lower_bounds": _numbers(lambda _, x: np.floor(x / _spread(x)) * _spread(x)),
        "class_numbers": _numbers(lambda _, x: np.where(np.isnan(x), np.nan, pd.Series(x).rank(pct=True) // 0.1)),
        "part_in_thousands": _numbers(lambda rng, x: _some(rng, x, 0.3, x / 1000)),
        "part_without_point": _numbers(lambda rng, x: _some(rng, x, 0.25, x * 10)),
        "zero_for_not_stated": _numbers(lambda rng, x: _some(rng, x, 0.25, 0.0), "puf"),
        "mean_imputed": _numbers(lambda rng, x: _some(rng, x, 0.35, np.round(np.nanmean(x))), "puf"),
        "code_999_in_numbers": _numbers(lambda rng, x: _some(rng, x, 0.25, 99999.0)),
        "sign_changed": _numbers(lambda _, x: -x),
        "number_permuted": _numbers(lambda rng, x: rng.permutation(x), "puf"),
        "another_number": _another_column("numeric", "other_number"),
        "codes_swapped": _codes(lambda _, x: _exchanged(x, 0, 1)),
        "codes_turned": _codes(lambda _, x: np.where(np.isnan(x), np.nan, x % np.nanmax(x) + 1)),
        "codes_permuted": _codes(_permuted_codes),
        "codes_from_zero": _codes(lambda _, x: x - 1),
        "codes_reversed": _codes(lambda _, x: np.nanmax(x) + 1 - x),
        "codes_merged": _codes(lambda _, x: np.where(x <= 2, 1, x)),
        "code_8_for_refused": _codes(lambda rng, x: _some(rng, x, 0.3, 1.0)),
        "part_recoded": _codes(lambda rng, x: np.where(rng.random(len(x)) < 0.4, _exchanged(x, 0, 1), x)),
        "codes_shuffled": _codes(lambda rng, x: rng.permutation(x), "puf"),
        "another_code": _another_column("categorical", "other_code"),
        "variables_crossed": _crossed,
        "links_shifted": _links(lambda _, links: np.column_stack([links[:, 0], np.roll(links[:, 1], 1)])),
        "links_permuted": _links(lambda rng, links: _wrong_share(rng, links, 1.0)),
        "links_partly_wrong": _links(lambda rng, links: _wrong_share(rng, links, 0.25)),
        "block_shifted": _links(_half_shifted),
        "links_tenth": _links(lambda _, links: links[: max(12, len(links) // 10)]),
        "links_half": _links(lambda _, links: links[: len(links) // 2]),
        "eif_six_times": _repeated("eif", 6),
        "eif_three_times": _repeated("eif", 3),
        "puf_twice": _repeated("puf", 2),
        "strata_exchanged": _strata_exchanged,
    }
)


def halves() -> tuple[list[str], list[str]]:
    """The kinds with which the rules were made, and those that were set aside."""
    names = np.random.default_rng(43).permutation(sorted(KINDS))
    return sorted(names[: len(names) // 2]), sorted(names[len(names) // 2 :])
