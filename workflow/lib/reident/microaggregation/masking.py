"""The three files of a study of micro-aggregation: masked, original, and the links between them (METHODS §9)."""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident import reading
from reident.errors import Guard, InputError
from reident.intake import keys
from reident.intake.account import Account
from reident.intake.records import require_records
from reident.intake.values import Place, typed
from reident.kernels.groups import microaggregate, sizes
from reident.microaggregation.section import PUFID, Corresponding, Microaggregate
from reident.microaggregation.settings import MaskingSettings
from reident.sections.codes import Coding, clean, normaliser, number
from reident.sections.files import ORIGINAL
from reident.simulation.population import Streams
from reident.simulation.survey import pufids


class Made(NamedTuple):
    """The files of the study, every cell as text, and the account of masking.

    Attributes
    ----------
    puf, eif, iuf : pandas.DataFrame
        The masked records that are released, sorted by a random key; what the intruder holds, sorted by key;
        the true links.
    variables : pandas.DataFrame
        One line per micro-aggregated variable, with the columns that `reident.pipeline.tables` declares.
    account : pandas.DataFrame
    """

    puf: pd.DataFrame
    eif: pd.DataFrame
    iuf: pd.DataFrame
    variables: pd.DataFrame
    account: pd.DataFrame


def columns_of(settings: MaskingSettings) -> list[str]:
    """Return the columns of the original file that the files of the study hold, beside its key."""
    options = settings.options
    names = [getattr(column, side) for column in settings.columns for side in ("puf", "eif")]
    return [name for name in dict.fromkeys([*options.variables, *names]) if name not in options.key]


def read_original(settings: MaskingSettings, path: Path) -> pa.Table:
    """Return the text of the columns of the original file that the study needs."""
    options = settings.options
    key = [] if not options.id and options.path else list(options.key)
    return reading.read(path, options.source, [*key, *columns_of(settings)], key)


def make(settings: MaskingSettings, original: pa.Table, guard: Guard = nullcontext) -> Made:
    """Micro-aggregate a file, sample the masked records, and keep the truth.

    A function of the study and of the file's records, not of their order (except for a file without a key).

    Parameters
    ----------
    settings : MaskingSettings
    original : pyarrow.Table
        As :func:`read_original` gives it.
    guard : Guard
        Encloses checks of values; what has a wrong one is left out of the files.

    Raises
    ------
    InputError
        An empty file, a repeated key, a value that is not a number, fewer than k values; a value, masked or not,
        that a variable of the study would read as missing.
    """
    options, names = settings.options, columns_of(settings)
    original, order = _with_key(options, original)
    n, streams = original.num_rows, Streams(options.seed)
    values = {}
    for name in options.variables:
        with guard():
            values[name] = _numbers(options, original, name)[order]
    names = [name for name in names if name in values or name not in options.variables]
    original = original.take(pa.array(order))
    masked = {name: microaggregate(column, options.k, options.aggregate) for name, column in values.items()}
    text = {name: np.array(original[name].to_pylist(), object) for name in (*options.key, *names)}
    eif_values = dict(values)
    if options.corresponding is not None and values:
        eif_values = _deviating(options.corresponding, values, streams.within("corresponding"))
    _check_codes(settings, values, {"puf": masked, "eif": eif_values}, guard)
    changed = {} if options.corresponding is None else _written(eif_values, text)
    ids = pufids(n, streams("pufid")).astype(object)
    chosen = streams("sample").permutation(n)[: sample_size(n, options.sampling_fraction)]
    chosen = chosen[np.argsort(ids[chosen])]
    released = {**text, **_written(masked, text)}
    account = Account("microaggregate")
    account.add(ORIGINAL, n, {"not_sampled": n - len(chosen)})
    return Made(
        pd.DataFrame({PUFID: ids[chosen], **{name: released[name][chosen] for name in names}}, dtype=object),
        pd.DataFrame({**text, **changed}, dtype=object),
        pd.DataFrame({PUFID: ids[chosen], **{name: text[name][chosen] for name in options.key}}, dtype=object),
        _about(options, values, masked),
        account.table(),
    )


def sample_size(n: int, fraction: Fraction) -> int:
    """Return the records of a sample: the nearest whole number, a half upwards, at least one."""
    return max(1, math.floor(n * fraction + Fraction(1, 2)))


def _with_key(options: Microaggregate, original: pa.Table) -> tuple[pa.Table, np.ndarray]:
    """Return the records with a key, numbered where they have none, and their order by it."""
    require_records(options.source, original.num_rows)
    key = list(options.key)
    if set(key) <= set(original.column_names):
        return original, np.argsort(
            keys.check(original, key, options.source.file_name, options.source.first_row), kind="stable"
        )
    numbers = [str(row) for row in range(1, original.num_rows + 1)]
    return original.append_column(key[0], pa.array(numbers)), np.arange(original.num_rows)


def _numbers(options: Microaggregate, original: pa.Table, name: str) -> np.ndarray:
    file = options.source.file_name
    place = Place(file, name, name, options.source.first_row, takes_decimal=False)
    column = typed(original[name], Coding("numeric", options.missing), place)
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    n_values = int((~np.isnan(values)).sum())
    if n_values < options.k:
        raise InputError(
            f"{file}, column `{name}`: at least k = {options.k} values must not be missing ({n_values} are not). "
            "Lower `k`, or remove the column from `variables`."
        )
    return values


def _check_codes(
    settings: MaskingSettings, values: dict[str, np.ndarray], files: dict[str, dict[str, np.ndarray]], guard: Guard
) -> None:
    """Refuse numbers that are no missing values here and would become such where the files are read."""
    file = settings.options.source.file_name
    for column in settings.columns:
        for side, changed in files.items():
            if (name := getattr(column, side)) not in values:
                continue
            coding, where = column.coding(side), f"{file}, column `{name}`"
            if n := _of_codes(values[name], coding):
                with guard():
                    raise InputError(
                        f"{where}: {n:,} values are a code that the variable `{column.name}` declares missing and "
                        "`microaggregate.missing` does not. Add the code to `microaggregate.missing`."
                    )
            elif n := _of_codes(changed[name], coding):
                with guard():
                    raise InputError(
                        f"{where}: {n:,} values equal, after masking, a code that the variable `{column.name}` "
                        "declares missing. Use another code for missing values in the file, such as an empty cell."
                    )


def _of_codes(values: np.ndarray, coding: Coding) -> int:
    """Return how many numbers are read as missing."""
    normal = normaliser(coding)
    missing = {normal(code) for code in coding.missing}
    numbers = (number(clean(code)) for code in coding.missing)
    read = [value for value in numbers if value is not None and normal(repr(value)) in missing]
    return int(np.isin(values, read).sum())


def _written(values: dict[str, np.ndarray], text: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return numbers in their shortest text; a missing value in its own code."""
    out = {}
    for name, column in values.items():
        out[name] = np.array([repr(value) for value in column.tolist()], object)
        missing = np.isnan(column)
        out[name][missing] = text[name][missing]
    return out


def _deviating(options: Corresponding, values: dict[str, np.ndarray], streams: Streams) -> dict[str, np.ndarray]:
    """Return the values with the deviations of the intruder's file."""
    n, v = len(next(iter(values.values()))), len(values)
    most = min(options.deviating, v)
    number = streams("number").integers(0, most, n, endpoint=True)
    place = np.argsort(streams("which").random((n, v)), axis=1, kind="stable").argsort(axis=1, kind="stable")
    far = streams("far").uniform(-options.by, options.by, (n, v))
    near = streams("near").uniform(options.others_from, options.others_to, (n, v))
    near *= np.where(streams("sign").random((n, v)) < 0.5, -1, 1)
    share = np.where(place < number[:, None], far, near)
    return {name: column * (1 + share[:, at]) for at, (name, column) in enumerate(values.items())}


def _about(options: Microaggregate, values: dict[str, np.ndarray], masked: dict[str, np.ndarray]) -> pd.DataFrame:
    lines = []
    between = {pair: r2(*(values[name] for name in pair)) for pair in combinations(values, 2)}
    for name, column in values.items():
        numbers = column[~np.isnan(column)]
        groups = sizes(len(numbers), options.k)
        others = [share for pair, share in between.items() if name in pair]
        spread = _variance(numbers)
        lines.append(
            {
                "variable": name,
                "n_records": len(column),
                "n_missing": len(column) - len(numbers),
                "n_distinct": len(np.unique(numbers)),
                "n_masked": len(np.unique(masked[name][~np.isnan(masked[name])])),
                "n_groups": len(groups),
                "n_smallest": int(groups.min()),
                "n_largest": int(groups.max()),
                "variance_kept": _rounded(_variance(masked[name][~np.isnan(column)]) / spread if spread else None),
                "largest_r2": _rounded(max((one for one in others if one is not None), default=None)),
            }
        )
    return pd.DataFrame(lines)


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _variance(values: np.ndarray) -> float:
    return float(np.square(values - values.mean()).mean())


def r2(one: np.ndarray, other: np.ndarray) -> float | None:
    """The squared correlation of two variables where both are known; None where one of them is constant there."""
    both = ~(np.isnan(one) | np.isnan(other))
    if not both.any():
        return None
    x, y = (values[both] - values[both].mean() for values in (one, other))
    spread = float(np.square(x).sum()) * float(np.square(y).sum())
    return float((x * y).sum()) ** 2 / spread if spread else None
