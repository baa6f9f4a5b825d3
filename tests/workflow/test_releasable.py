"""A run makes both editions; the releasable one has what is public alone (METHODS §11)."""

import copy
import re
import shutil

import pytest
from oracles import edition_intervals
from reident.study import rounding
from workflow.commands import PRELOADED, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

FILES = {
    "attack.csv", "clusters.csv", "file.csv", "matching.csv", "cut-points.csv", "limits.csv", "release.json",
    "edition.html", "edition.pdf",
}  # fmt: skip
POLICY = "own.yaml"


def study(**release):
    """The small study with a policy of its own, two metrics, and an edition."""
    changed = copy.deepcopy(small.STUDY)
    changed["metrics"] = {name: changed["metrics"][name] for name in ("unicity", "taxicab")}
    return changed | {"release": {"policy": POLICY, **release}}


def run(folder, *arguments):
    return snakemake(
        *arguments, studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED,
        environment={"PYTHONHASHSEED": "0"},
    )  # fmt: skip


def check(folder):
    return reident("check", "../in/small.yaml", folder=folder / "run")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study taken to both editions in one run."""
    folder = tmp_path_factory.mktemp("releasable")
    small.write(folder / "in", study())
    shutil.copyfile(rounding.FOLDER / "census-drb.yaml", folder / "in" / POLICY)
    ended = run(folder)
    assert ended.code == 0, ended.shown
    return folder


@pytest.fixture
def again(made, tmp_path):
    shutil.copytree(made, tmp_path / "again", symlinks=True)
    return tmp_path / "again"


def public(folder):
    return folder / "run" / "reports" / "small" / "releasable"


def test_one_run_makes_both_editions(made):
    assert {path.name for path in public(made).iterdir()} == FILES
    review = (public(made).parent / "disclosure-review.html").read_text(encoding="utf-8")
    assert "The releasable edition" in review
    for name in FILES - {"edition.html", "edition.pdf"}:
        assert (public(made) / name).read_bytes() == (
            made / "run" / "results" / "small" / "release" / name
        ).read_bytes()
    assert "small: the chain closes" in check(made).shown
    assert run(made, "--dry-run").planned == {}
    keys = {",".join(row[:2]) for row in small.rows()["puf"][1:]}
    for path in public(made).iterdir():
        text = path.read_bytes().decode("utf-8", errors="replace")
        assert str(made) not in text, path.name
        assert "/results/" not in text, path.name
        assert not re.search(r"(?<![0-9a-zA-Z+/=])[0-9a-f]{64}(?![0-9a-zA-Z+/=])", text), path.name
        assert path.suffix != ".csv" or not any(line.startswith(tuple(keys)) for line in text.splitlines())


def test_an_edition_after_another_one(again):
    """The earlier edition is a source: a change of it makes the edition again."""
    shutil.copytree(public(again), again / "in" / "first" / "releasable")
    small.write(again / "in", study(after=["first/releasable"]), {})
    ended = run(again)
    assert ended.code == 0, ended.shown
    before = (again / "in" / "first" / "releasable" / "attack.csv").read_bytes()
    assert (public(again) / "attack.csv").read_bytes() == before, "the same data again shows nothing new"
    table = again / "in" / "first" / "releasable" / "attack.csv"
    table.write_bytes(before.replace(b"released,,unicity,ALL,0,300", b"released,,unicity,ALL,0,x", 1))
    assert set(run(again, "--dry-run").planned) == {"release", "edition", "report"}
    table.write_bytes(b"")
    failed = run(again)
    assert failed.code != 0
    assert any("attack.csv" in error for error in failed.errors), failed.shown
    assert not public(again).exists() or {path.name for path in public(again).iterdir()} in (set(), FILES)


def test_the_seed_of_a_random_policy_is_nowhere(again):
    seed = "a-very-secret-seed-of-tests"
    small.write(again / "in", study() | {"release": {"policy": "base-5-random", "seed": seed}}, {})
    ended = run(again)
    assert ended.code == 0, ended.shown
    assert not any(seed.encode() in path.read_bytes() for path in public(again).iterdir())
    assert seed not in ended.shown


def test_no_edition_has_an_interval_of_another_kind_than_its_study(made, tmp_path):
    """Editions of every method, with variants and without; that of a clustered study says why it has none."""
    rates = {
        "wilson": {"interval": "wilson", "level": 0.9},
        "clustered": {"interval": "clustered", "cluster": "house"},
        "haushalte": {"interval": "clustered", "cluster": "house"},
    }
    for name, own in rates.items():
        changed = study() | {"id": name, "rates": own}
        if name == "clustered":
            changed["variants"] = [{"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]}]
        if name == "haushalte":
            changed["language"] = "de"
        small.write(tmp_path / "in", changed)
    shutil.copyfile(rounding.FOLDER / "census-drb.yaml", tmp_path / "in" / POLICY)
    ended = snakemake(studies=[f"../in/{name}.yaml" for name in rates], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    editions = {name: tmp_path / "run" / "reports" / name / "releasable" for name in rates}
    for name, folder in {**editions, "small": public(made)}.items():
        own = rates.get(name, {})
        assert edition_intervals.strange(folder, own) == [], name
        assert bool(edition_intervals.intervals(folder)) == (own.get("interval") != "clustered"), name
        page = " ".join((folder / "edition.html").read_text(encoding="utf-8").split())
        why = ("This edition has no confidence intervals.", "Diese Fassung enthält keine Konfidenzintervalle.")
        assert [sentence in page for sentence in why] == [name == "clustered", name == "haushalte"], name
        assert bool(re.search(r"9[05]\s% interval|Intervall, 9", page)) == bool(edition_intervals.intervals(folder))


def test_a_study_with_variants_and_one_with_the_file_before_protection(tmp_path):
    variants = study() | {"variants": [{"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]}]}
    tables = small.rows()
    original = copy.deepcopy(variants) | {"id": "original"}
    del original["variants"]
    original["files"]["original"] = {"path": "original.csv"}
    small.write(tmp_path / "in", variants, tables)
    small.write(tmp_path / "in", original, tables | {"original": tables["puf"]})
    shutil.copyfile(rounding.FOLDER / "census-drb.yaml", tmp_path / "in" / POLICY)
    ended = snakemake(studies=["../in/small.yaml", "../in/original.yaml"], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    texts = {
        name: (tmp_path / "run" / "reports" / name / "releasable" / "attack.csv").read_text(encoding="utf-8")
        for name in ("small", "original")
    }
    assert re.search(r"^released,[^,]+,taxicab,ALL,[0-9]+,", texts["small"], re.MULTILINE)
    assert re.search(r"^before,,taxicab,ALL,", texts["original"], re.MULTILINE)
