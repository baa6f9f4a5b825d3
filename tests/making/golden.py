"""Make tests/golden anew (`make golden`): the sealed bag of a small study, which every later release reproduces.

The bag has its inputs, but neither code nor report, of which it keeps the hashes: with them it would be five times as
large. The commit that it names has the code.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from reident.archive import bag as bags
from reident.archive import layout
from reident.archive.collect import as_json, collect
from reident.pipeline.family import Family
from workflow.commands import CHECKOUT, snakemake

from workflow import small

GOLDEN = CHECKOUT / "tests" / "golden"
NOTEBOOK = CHECKOUT / "workflow" / "notebooks" / "disclosure-review.ipynb"
STUDY = {
    **small.STUDY,
    "id": "golden",
    "title": "A small study of everything",
    "agency": "Office for National Statistics of Examplia",
    "date": "2026-11-22",
    "seal": {"inputs": "include"},
}
LEFT_OUT = (layout.CODE, layout.REPORT)


def make(into: Path) -> Path:
    """The golden bag, written into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        small.write(Path(folder, "in"), STUDY, small.rows(120, 200))
        ended = snakemake(studies=[Path("../in/golden.yaml")], folder=Path(folder, "run"))
        assert ended.code == 0, ended.shown
        os.chdir(Path(folder, "run"))
        payload = collect(Family(Path("../in/golden.yaml")), Path("results"), NOTEBOOK)
        kept = [_without_report(item) for item in payload if not item.path.startswith(LEFT_OUT)]
        info = {layout.INFO_VERSION: layout.VERSION, "External-Description": STUDY["title"]}
        return bags.write(into, "golden", kept, info, lambda *_: {}).path


def _without_report(item: bags.Item) -> bags.Item:
    """The list of results, of which the report is not in the bag."""
    if item.path != layout.OUTPUTS:
        return item
    document = json.loads(item.content)
    for line in document["outputs"]:
        if (layout.PAYLOAD + (line["bag"] or "")).startswith(layout.REPORT):
            line["bag"] = None
    return item._replace(content=as_json(document))


if __name__ == "__main__":
    former = list(GOLDEN.glob("*.zip"))
    made = make(GOLDEN)
    for path in former:
        if path != made:
            path.unlink()
    sys.stdout.write(f"{made} ({made.stat().st_size:,} bytes)\n")
