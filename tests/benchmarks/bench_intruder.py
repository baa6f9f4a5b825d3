"""What intruders find in studies and in files under seven protections: ``python bench_intruder.py [STUDY.yaml ...]``.

Right names with one name a record, and the largest number of the surest names of which 95 % are right (METHODS §4.6),
for every metric, and for gradient boosting that learns from a tenth of the links (environment `benchmarks`): on the
records of the other nine tenths, beside Fellegi–Sunter on these. `--held 50` changes the people in both drawn files,
and `--dependent` adds variables that say again what others say; `--certainty` tells how sure the intruder is then.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from reident.api.linked import prepared
from reident.api.study import NO_FILE, StudyFiles
from reident.intake import step as intake_step
from reident.linkage import attack, calibration
from reident.linkage import step as linkage_step
from reident.linkage.metrics.contract import ScoringContext
from reident.study import reading
from reident.study.model import Study

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
OTHERS = {"unicity": {}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}, "winkler": {}}
WEIGHED = {
    "before": {"levels": "bins", "competition": "false", "frequency": "false"},
    "plain": {"frequency": "false"},
    "default": {},
    "informed": {"m": "informed"},
}
PEERS = Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"


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


def dependent(file: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add copies of an amount and of an answer that err a little."""
    amounts = {f"inc{at}": (file["inc"] * np.exp(rng.normal(0, 0.1, len(file)))).round() for at in range(3)}
    answers = {f"occ{at}": file["occ"].mask(rng.random(len(file)) < 0.05, 0.0) for at in range(4)}
    return file.assign(**amounts, **answers)


class Source(NamedTuple):
    """A study without its metrics."""

    data: dict[str, Any]
    path: Path = NO_FILE
    frames: dict[str, pd.DataFrame] | None = None

    def study(self, metrics: dict[str, Any]) -> StudyFiles:
        """The study with these metrics."""
        return StudyFiles(Study.model_validate(self.data | {"metrics": metrics}), self.path, self.frames or {})

    def attack(self, metrics: dict[str, Any]) -> tuple[attack.Attack, attack.Claims]:
        """What these metrics find, and the surest claims."""
        study = self.study(metrics)
        *_, files = prepared(study.model, study.texts(intake_step.preparing(study.model).extracts))
        settings = linkage_step.attacking(study.model)
        made = attack.attack(settings, files, ScoringContext(threads=2))
        return made, attack.claim(settings, files, made)


def simulated(way: str, seed: int, held: int, *, repeated: bool) -> Source:
    """A study of files under one kind of protection."""
    puf, eif, links = files(way, seed, held)
    variables = dict.fromkeys(NUMBERS, "numeric") | dict.fromkeys(SHARES, "categorical")
    if repeated:
        puf, eif = (dependent(file, np.random.default_rng([seed, at])) for at, file in enumerate((puf, eif)))
        variables |= {name: "numeric" if name.startswith("inc") else "categorical" for name in puf.columns[-7:]}
    data = {
        "id": way,
        "files": {
            "puf": {"path": "puf", "format": "parquet", "id": ["p"]},
            "eif": {"path": "eif", "format": "parquet", "id": ["e"]},
            "iuf": {"path": "iuf", "format": "parquet", "puf_id": ["p"], "eif_id": ["e"]},
        },
        "linking_variables": [{"name": name, "type": kind, "missing": [""]} for name, kind in variables.items()],
        "strata": ["region"],
    }
    return Source(data, frames={"puf": puf, "eif": eif, "iuf": links})


def of_file(path: Path) -> Source:
    """A study by its path, with nothing but what an attack needs."""
    needed = {"id", "files", "simulate", "strata", "linking_variables", "binning", "rank_filter"}
    return Source({key: value for key, value in reading.read(path)[0].items() if key in needed}, path)


def found(pairs: pd.DataFrame) -> str:
    """The right names, and the largest number of the surest of which 95 % are right."""
    best = pairs[pairs["score"] == pairs.groupby("puf")["score"].transform("max")]
    names = best.groupby("puf").agg(score=("score", "max"), right=("confirmed", "mean"))
    steps = names.groupby("score")["right"].agg(["sum", "size"]).sort_index(ascending=False).cumsum()
    enough = steps.loc[steps["sum"] >= 0.95 * steps["size"], "size"]
    return f"{steps['sum'].iloc[-1]:.1f}, {int(enough.iloc[-1]) if len(enough) else 0}"


def claimed(source: Source, metrics: dict[str, Any]) -> list[str]:
    """What metrics find, by the surest claims."""
    summary = source.attack(metrics)[1].agreement.surest.set_index("metric")
    return [f"{name} {summary.n_right[name]:.1f}, {summary.n_at_95_percent[name]}" for name in metrics]


def weighed(source: Source, options: dict[str, Any]) -> pd.DataFrame:
    """All pairs by Fellegi–Sunter."""
    metrics = {"fellegi_sunter": options | {"threshold": {"weight": "-1000"}}}
    return source.attack(metrics)[0].metrics["fellegi_sunter"].positions.to_pandas()


def certainty(source: Source, options: dict[str, Any]) -> str:
    """The links expected among the pairs suspected at ½, those that are right, and the rounds of EM."""
    made, _ = source.attack({"fellegi_sunter": options})
    classes = calibration.calibrate(made.metrics["fellegi_sunter"].positions, made.weights.model)
    if classes.empty:
        return "nothing suspected"
    expected, pairs = classes["probability"] @ classes["n_pairs"], classes["n_pairs"].sum()
    model = made.weights.model.iloc[0]
    held = model["prior"] * model["n_pairs"]
    return (
        f"{pairs} pairs, {expected:.0f} expected, {classes['n_confirmed'].sum()} right; {held:.0f} links expected, "
        f"{model['rounds']} rounds, converged: {model['converged']}"
    )


def beside_boosting(source: Source, pairs: pd.DataFrame) -> list[str]:
    """What boosting and Fellegi–Sunter find of the records of which boosting knows no link."""
    study = source.study({"taxicab": {}})
    typed, _, made = prepared(study.model, study.texts(intake_step.preparing(study.model).extracts))
    names = [variable.name for variable in study.model.linking_variables]
    with tempfile.TemporaryDirectory() as folder:
        for side in ("puf", "eif"):
            stratum = made.strata[side]["stratum"].to_numpy()
            records = getattr(typed, side).select(names).to_pandas().assign(stratum=stratum)
            records.to_parquet(Path(folder) / f"{side}.parquet")
        made.iuf.to_pandas().to_parquet(Path(folder) / "iuf.parquet")
        subprocess.run([PEERS, Path(__file__).with_name("intruder_peers.py"), folder], check=True)
        scores = pd.read_parquet(Path(folder) / "scores.parquet")
    return [f"boosting {found(scores)}", f"of the same records {found(pairs[pairs['puf'].isin(scores['puf'])])}"]


def main() -> None:
    """Print a line for each study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", type=Path)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--held", type=int, default=600)
    parser.add_argument("--dependent", action="store_true")
    parser.add_argument("--certainty", action="store_true", help="how sure the intruder is, in place of what he finds")
    options = parser.parse_args()
    studies = {path.stem: of_file(path) for path in options.studies} or {
        way: simulated(way, 100 + WAYS.index(way), options.held, repeated=options.dependent) for way in options.ways
    }
    for title, source in studies.items():
        if options.certainty:
            told = [f"{name}: {certainty(source, own)}" for name, own in WEIGHED.items()]
        else:
            told = claimed(source, OTHERS)
            told += [f"{name}: {claimed(source, {'fellegi_sunter': own})[0]}" for name, own in WEIGHED.items()]
            told += beside_boosting(source, weighed(source, {})) if PEERS.exists() else []
        print(title, *told, sep="; ", flush=True)


if __name__ == "__main__":
    main()
