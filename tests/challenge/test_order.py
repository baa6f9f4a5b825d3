"""What the order of the files tells: positions, cells and correlations by definition; which files are warned of."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import order as oracle
from reident.linkage.settings import Variable
from reident.plausibility import order
from reident.plausibility.records import Records, read
from reident.plausibility.settings import DescriptionCheckSettings
from scipy import stats

TYPES = {"age": "numeric", "income": "numeric", "kids": "numeric", "edu": "categorical", "sex": "categorical"}


def records(puf: pd.DataFrame, eif: pd.DataFrame, links: list[tuple[str, str]]) -> tuple[Records, dict, dict]:
    """The input of the check, from files with `key`, `region` and variables, in their order of rows."""
    regions = sorted({*puf["region"].dropna(), *eif["region"].dropna()})
    prepared, strata, places = {}, {}, {}
    for side, file in (("puf", puf), ("eif", eif)):
        rows = file.reset_index(drop=True).rename_axis("source_row").reset_index().sort_values("key")
        columns = {
            name: pa.array(rows[name].astype(float) if kind == "numeric" else rows[name], from_pandas=True)
            for name, kind in TYPES.items()
        }
        source_row = pa.array(rows["source_row"].to_numpy(np.int32))
        prepared[side] = pa.table({"key": pa.array(rows["key"]), **columns, "source_row": source_row})
        codes = [regions.index(one) if isinstance(one, str) else None for one in rows["region"]]
        strata[side] = pa.table({"stratum": pa.array(codes, pa.int32())})
        places[side] = {key: at for at, key in enumerate(rows["key"])}
    rows = sorted((places["puf"][p], places["eif"][e]) for p, e in links)
    iuf = pa.table({side: pa.array([row[at] for row in rows], pa.int32()) for at, side in enumerate(("puf", "eif"))})
    keys = dict.fromkeys(prepared, ("key",))
    variables = tuple(Variable(name, kind) for name, kind in TYPES.items())
    return read(DescriptionCheckSettings(variables, keys), prepared, iuf, strata), prepared, keys


def population(draw: np.random.Generator, n: int) -> pd.DataFrame:
    """People in the order of a survey: areas one after another, whose incomes differ."""
    area = np.sort(draw.integers(0, 40, n))
    age = draw.integers(18, 80, n)
    income = np.exp(draw.normal(7 + 0.01 * age, 0.5) + 0.3 * draw.normal(size=40)[area]).round()
    kids, region = np.minimum(draw.poisson(1.2, n), 5), draw.choice(list("ABC"), n, p=[0.5, 0.3, 0.2])
    edu, sex = draw.choice(["low", "mid", "high"], n, p=[0.3, 0.5, 0.2]), draw.choice(["m", "f"], n)
    columns = {"region": region, "age": age, "income": income, "kids": kids, "edu": edu, "sex": sex}
    return pd.DataFrame({"person": np.arange(n), **columns})


def protected(file: pd.DataFrame, how: str, draw: np.random.Generator) -> pd.DataFrame:
    """The values of a released file."""
    changed = file.copy()
    if how == "noise":
        changed["income"] = (file["income"] * np.exp(draw.normal(0, 0.1, len(file)))).round()
    elif how == "rounding":
        changed["income"], changed["age"] = (file["income"] / 500).round() * 500, file["age"] // 5 * 5
    elif how == "top":
        changed["income"] = np.minimum(file["income"], file["income"].quantile(0.95))
    hit = draw.random(len(file)) < 0.1
    changed.loc[hit, "edu"] = draw.choice(["low", "mid", "high"], int(hit.sum()))
    return changed


def files(draw: np.random.Generator, order_of: str, how: str, n: int = 700):
    """A pair of files in an order, and the links."""
    people = population(draw, n)
    puf, eif = people[draw.random(n) < 0.6], people[draw.random(n) < 0.7]
    true = puf["income"]
    puf, eif = protected(puf, how, draw), eif.copy()
    eif["income"] = (eif["income"] * np.exp(draw.normal(0, 0.03, len(eif)))).round()
    keys = {len(file): draw.permutation(20 * len(file))[: len(file)] for file in (puf, eif)}
    by = {
        "by stratum": ["region"], "by a variable": ["income"], "by two": ["edu", "age"], "by true income": ["income"],
    }.get(order_of)  # fmt: skip
    if order_of not in {"of the survey", "reversed"}:
        puf, eif = (file.iloc[draw.permutation(len(file))] for file in (puf, eif))
    if order_of == "by true income":
        puf = puf.loc[true.loc[puf.index].sort_values(kind="stable").index]
        eif = eif.sort_values("income", kind="stable")
    elif by:
        puf, eif = (file.sort_values(by, kind="stable") for file in (puf, eif))
    elif order_of == "reversed":
        puf = puf.iloc[::-1]
    made = []
    for file, prefix in ((puf, "p"), (eif, "")):
        numbers = keys[len(file)]
        if order_of == "by key":
            numbers = np.sort(numbers)
        if order_of == "of keys":
            numbers = file["person"].to_numpy() * (10 if prefix else 1)
        made.append(file.assign(key=[f"{prefix}{number}" for number in numbers]))
    linked = made[0].merge(made[1], on="person")
    return made[0], made[1], list(zip(linked["key_x"], linked["key_y"], strict=True))


HARMLESS = ("random", "by key", "by stratum", "by a variable", "by two")
TELLING = ("of the survey", "reversed", "of keys")
PROTECTION = ("none", "noise", "rounding", "top")


@pytest.mark.parametrize("order_of", HARMLESS)
@examples(100)
@given(seed=st.integers(0, 2**32 - 1), how=st.sampled_from(PROTECTION))
def test_a_file_that_is_sorted_by_something_harmless_is_not_warned_of(order_of, seed, how):
    assert not list(order.check(*records(*files(np.random.default_rng(seed), order_of, how))))


@pytest.mark.parametrize("order_of", TELLING)
@examples(100)
@given(seed=st.integers(0, 2**32 - 1), how=st.sampled_from(PROTECTION))
def test_a_file_in_the_order_of_a_register_is_warned_of(order_of, seed, how):
    found = [
        line for line in order.check(*records(*files(np.random.default_rng(seed), order_of, how))) if line.severity
    ]
    (line,) = found
    assert line.check == "order"
    assert line.proposal == ("keys_keys" if order_of == "of keys" else "rows_rows")
    assert line.statistic < 0.1


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), how=st.sampled_from(PROTECTION))
def test_an_order_by_values_that_are_not_published_is_warned_of(seed, how):
    """Exact values explain the order; of top codes, one value in twenty is ordered by more than is published."""
    found = list(order.check(*records(*files(np.random.default_rng(seed), "by true income", how))))
    if how == "none":
        assert not found
    elif how != "top":
        assert any(line.severity for line in found)


@st.composite
def small_files(draw):
    """Files of few records with strata, missing values and ties, in any order, with keys of any kind."""
    kind = draw(st.sampled_from(["serial", "steps", "words", "mixed"]))
    made = []
    for least in (12, 12):
        n = draw(st.integers(least, 40))
        numbers = draw(st.permutations(range(1, n + 1)))
        keys = {
            "serial": [f"p{number}" for number in numbers],
            "steps": [f"{6 * number + 1:04d}" for number in numbers],
            "words": [f"{number}x{number}" for number in numbers],
            "mixed": [f"{'ab'[number % 2]}{number}" for number in numbers],
        }[kind]
        number = st.one_of(st.none(), st.integers(0, 6))
        text = st.one_of(st.none(), st.sampled_from(["a", "b"]))
        columns = {
            name: draw(st.lists(number if kind_ == "numeric" else text, min_size=n, max_size=n))
            for name, kind_ in TYPES.items()
        }
        region = draw(st.lists(st.sampled_from(["A", "B", None]), min_size=n, max_size=n))
        file = pd.DataFrame(
            {"key": keys, "region": region, **{k: pd.Series(v, dtype=object) for k, v in columns.items()}}
        )
        by = draw(st.sampled_from([None, "age", "sex", "edu"]))
        made.append(
            file
            if by is None
            else file.sort_values(by, kind="stable", na_position=draw(st.sampled_from(["first", "last"])))
        )
    n = min(map(len, made))
    links = list(zip(made[0]["key"][:n], made[1]["key"][: n if draw(st.booleans()) else None], strict=False))
    return made[0], made[1], links


@examples(200)
@given(drawn=small_files())
def test_positions_cells_and_correlations_are_those_of_the_oracle(drawn):
    rows, prepared, _ = records(*drawn)
    sides = {}
    for side in ("puf", "eif"):
        strata = [None if one < 0 else int(one) for one in rows.strata[side].tolist()]
        text = prepared[side]["key"].to_pylist()
        assert text == sorted(text)
        orders = {"rows": prepared[side]["source_row"].to_pylist(), "keys": list(range(len(text)))}
        serial = oracle.serial(text)
        found = order.serial_numbers(prepared[side], ("key",))
        assert (found is None) == (serial is None)
        if serial is not None:
            assert found.tolist() == pytest.approx(serial)
            orders["numbers"] = serial
        sides[side] = strata, orders
    columns = [
        [-float("inf") if one is None else one for one in prepared["puf"][name].to_pylist()]
        if kind == "numeric"
        else rows.variables[name].codes["puf"].tolist()
        for name, kind in TYPES.items()
    ]
    links = list(zip(rows.links.puf.tolist(), rows.links.eif.tolist(), strict=True))
    design = order.adjustment(rows, rows.links.puf)
    for own in sides["puf"][1].values():
        ranks = np.array(oracle.rank(own))
        cells = oracle.cells(sides["puf"][0], columns, own)
        mine = order.sorted_cells(rows.strata["puf"], [np.array(column) for column in columns], ranks)
        assert [one < 0 for one in mine] == [one is None for one in cells]
        names = {}
        assert all(names.setdefault(one, name) == name for one, name in zip(mine.tolist(), cells, strict=True))
        assert len(set(names.values())) == len(names)
        for other in sides["eif"][1].values():
            others = oracle.rank(other)
            told = order.correlation(
                mine[rows.links.puf], ranks[rows.links.puf], np.array(others)[rows.links.eif], design
            )
            expected = oracle.correlation(
                [cells[p] for p, _ in links], [own[p] for p, _ in links], [others[e] for _, e in links], design
            )
            assert told == pytest.approx(expected, abs=1e-8)
            scales = order.scales(rows, order.Order("", ranks), order.Order("", np.array(others)), reverse=False)
            for within, (puf, eif) in zip((True, False), scales, strict=True):
                wanted = [
                    oracle.positions(values, sides[side][0], within=within)
                    for side, values in (("puf", own), ("eif", other))
                ]
                for mine_, theirs in zip((puf, eif), wanted, strict=True):
                    assert mine_.tolist() == pytest.approx(
                        [np.nan if one is None else one for one in theirs], nan_ok=True
                    )
                assert order.share_nearer(rows, puf, eif) == pytest.approx(
                    oracle.nearer(*wanted, sides["eif"][0], links)
                )


@examples(50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(30, 200))
def test_without_cells_and_values_the_correlation_is_that_of_spearman(seed, n):
    draw = np.random.default_rng(seed)
    own = draw.permutation(n).astype(float)
    other = np.round(own + draw.normal(0, n / 3, n), -1)
    found, links, error = order.correlation(np.zeros(n, int), own, order.ranks(other))
    assert found == pytest.approx(stats.spearmanr(own, other).statistic)
    assert links == n
    assert error == pytest.approx(1 / np.sqrt(n - 2))
