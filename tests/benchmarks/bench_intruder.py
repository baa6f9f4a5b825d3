"""What Fellegi–Sunter finds in simulated files under seven protections: ``python bench_intruder.py``.

Right names with one name a record, and the largest number of the surest names of which 95 % are right (METHODS §4.6).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import reident

NUMBERS = ["age", "inc", "wealth", "hours"]
SHARES = {
    "sex": [0.5, 0.5],
    "marr": [0.5, 0.3, 0.12, 0.08],
    "educ": [0.1, 0.2, 0.35, 0.25, 0.1],
    "hh": [0.3, 0.33, 0.15, 0.14, 0.06, 0.02],
    "occ": [0.2, 0.16, 0.14, 0.12, 0.1, 0.09, 0.08, 0.06, 0.05],
    "tenure": [0.55, 0.35, 0.1],
}
WAYS = ("noise", "rounding", "topcodes", "swapping", "pram", "microaggregation", "ageing")
OPTIONS = {"bins": {"levels": "bins", "competition": False}, "default": {}, "informed": {"m": "informed"}}


def population(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """People with ages, amounts that depend on them, and categories."""
    people = pd.DataFrame({name: rng.choice(len(p), n, p=p) for name, p in SHARES.items()})
    people["age"] = rng.integers(18, 91, n).astype(float)
    z = 9.8 + 0.25 * people["educ"] + 0.012 * np.minimum(people["age"], 60)
    people["inc"] = np.where(rng.random(n) < 0.06, 0, np.exp(z + 0.55 * rng.normal(size=n)).round())
    z = 8 + 0.03 * people["age"] + 0.06 * np.log1p(people["inc"])
    people["wealth"] = np.where(rng.random(n) < 0.25, 0, np.exp(z + 1.4 * rng.normal(size=n)).round())
    hours = np.clip(rng.normal(36, 9, n).round(), 0, 70)
    people["hours"] = np.where((people["age"] > 66) | (rng.random(n) < 0.1), 0, hours)
    return people.assign(region=rng.integers(0, 3, n))


def protected(people: pd.DataFrame, way: str, rng: np.random.Generator) -> pd.DataFrame:  # noqa: C901 - a branch a way
    """A file after one kind of protection."""
    file, n = people.copy(), len(people)

    def times(names: tuple[str, ...], spread: float, growth: float = 1.0) -> None:
        for name in names:
            file[name] = (file[name] * growth * np.exp(rng.normal(0, spread, n))).round()

    def redrawn(names: list[str], share: float) -> None:
        for name in names:
            file[name] = file[name].mask(rng.random(n) < share, pd.Series(rng.permutation(file[name])))

    if way == "noise":
        times(("inc", "wealth"), 0.5)
        file["age"], file["hours"] = (
            (file[name] + rng.normal(0, spread, n)).round() for name, spread in (("age", 5), ("hours", 8))
        )
    elif way == "rounding":
        for name, unit in (("age", 10), ("inc", 20_000), ("wealth", 50_000), ("hours", 10)):
            file[name] = (file[name] / unit).round() * unit
    elif way == "topcodes":
        for name in NUMBERS:
            file[name] = file[name].clip(upper=file[name].quantile(0.5))
        times(("inc", "wealth"), 0.4)
        file["age"] = file["age"] // 5 * 5
    elif way == "swapping":
        redrawn([*NUMBERS, *SHARES], 0.35)
        times(("inc", "wealth"), 0.3)
    elif way == "pram":
        redrawn([*SHARES], 0.5)
        times(("inc", "wealth"), 0.5)
        file["age"] = (file["age"] + rng.normal(0, 3, n)).round()
    elif way == "microaggregation":
        for name in NUMBERS:
            file[name] = file[name].groupby(file[name].rank(method="first") // 100).transform("mean").round()
    else:
        file["age"] += 1
        times(("inc",), 0.4, 1.04)
        times(("wealth",), 0.8, 1.05)
        redrawn([*SHARES][1:], 0.3)
    return file


def files(way: str, seed: int, held: int = 600) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Both files and the links; the external file has errors of its own."""
    rng = np.random.default_rng(seed)
    people = population(3000, rng)
    puf = protected(people.iloc[:1000].reset_index(drop=True), way, rng)
    eif = people.iloc[[*range(held), *range(1000, 2200 - held)]].reset_index(drop=True)
    for name in SHARES:
        eif[name] = eif[name].mask(rng.random(len(eif)) < 0.03, pd.Series(rng.permutation(eif[name])))
    for name in ("inc", "wealth"):
        eif[name] = (eif[name] * np.exp(rng.normal(0, 0.04, len(eif)))).round()
    for file, key in ((puf, "p"), (eif, "e")):
        for name in (*NUMBERS, *SHARES):
            file[name] = file[name].mask(rng.random(len(file)) < 0.02)
        file.insert(0, key, range(len(file)))
    return puf, eif, pd.DataFrame({"p": range(held), "e": range(held)})


def found(pairs: pd.DataFrame) -> tuple[float, int]:
    """The right names, and the largest number of the surest of which 95 % are right."""
    best = pairs[pairs["score"] == pairs.groupby("p")["score"].transform("max")]
    names = best.groupby("p").agg(score=("score", "max"), right=("confirmed", "mean"))
    steps = names.groupby("score")["right"].agg(["sum", "size"]).sort_index(ascending=False).cumsum()
    enough = steps.loc[steps["sum"] >= 0.95 * steps["size"], "size"]
    return round(float(steps["sum"].iloc[-1]), 1), int(enough.iloc[-1]) if len(enough) else 0


def main() -> None:
    """Print a line for each protection."""
    variables = dict.fromkeys(NUMBERS, "numeric") | dict.fromkeys(SHARES, "categorical")
    for seed, way in enumerate(WAYS, start=100):
        tables, told = files(way, seed), []
        for name, options in OPTIONS.items():
            metrics = {"fellegi_sunter": options | {"threshold": {"weight": -1000}}}
            made = reident.attack(*tables, variables=variables, strata=["region"], metrics=metrics)
            told.append(f"{name} {found(made.confirmed['fellegi_sunter'])}")
        print(way, *told, flush=True)


if __name__ == "__main__":
    main()
