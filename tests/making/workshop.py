"""A study of steps that copy, for tests of the ledger."""

import json
from functools import partial
from types import SimpleNamespace

import yaml
from making.studies import plain
from reident import ledger
from reident.ledger import chain
from reident.pipeline import digests
from reident.pipeline.family import Family
from reident.pipeline.handed import Handed

SIDES = ("puf", "eif", "iuf")


class Workshop:
    """A folder with a study, its sources and steps that copy: prepare → bin → score → rate."""

    def __init__(self, folder):
        self.folder, self.root = folder, folder / "results" / "plain"
        (self.root / "logs").mkdir(parents=True)
        self.file = folder / "study.yaml"
        self.declare()
        # Both sources have one name, in folders of their own.
        self.sources = {side: folder / side / "data.csv" for side in SIDES}
        for side, path in self.sources.items():
            path.parent.mkdir()
            path.write_text(f"{side}\n", encoding="utf-8")

    def declare(self, **sections):
        self.file.write_text(yaml.safe_dump(plain(**sections)), encoding="utf-8")

    @property
    def settings_digest(self):
        """The digest of the settings of a rule in the study as it is now, by rule and metric."""
        return partial(Family(self.file).known_digest, "")

    def job(self, rule, inputs, outputs, metric=None):
        """A job as the scheduler describes it to an adapter."""
        name = rule if metric is None else f"{rule}.{metric}"
        made = {output: str(self.root / path) for output, path in outputs.items()}
        return SimpleNamespace(
            rule=rule,
            wildcards={} if metric is None else {"metric": metric},
            input={"study": str(self.file), **{key: str(path) for key, path in inputs.items()}},
            output={**made, "ledger": str(self.root / "ledger" / f"{name}.json")},
            params={
                "settings": Handed("the settings"),
                "study": self.settings_digest(rule, metric),
                "library": digests.library_digest(rule, metric),
            },
            log=[str(self.root / "logs" / f"{name}.log")],
            threads=1,
        )

    def copy(self, rule, source, target, metric=None, **inputs):
        with ledger.step(self.job(rule, {**inputs, "from": source}, {"to": target}, metric)) as step:
            step.write("to", step.path("from").read_text(encoding="utf-8") + f"{rule}\n")

    def run(self):
        self.copy("prepare", self.sources["puf"], "prepared/puf.txt", **self.sources)
        self.copy("bin", self.root / "prepared/puf.txt", "binned/puf.txt")
        self.copy("score", self.root / "binned/puf.txt", "scores/taxicab.txt", "taxicab")
        self.copy("rate", self.root / "scores/taxicab.txt", "rates.txt")
        return self

    def check(self, *ends):
        ends = [self.root / end for end in ends or ["rates.txt"]]
        return [entry["step"] for entry in self.walk(chain.Chain(self.root), ends)]

    def walk(self, whole, ends):
        """The entries behind some results."""
        return whole.walk(Family(self.file).known_digest, {"": ends}, lambda _: self.sources)

    def entry(self, name):
        return json.loads((self.root / "ledger" / f"{name}.json").read_text(encoding="utf-8"))
