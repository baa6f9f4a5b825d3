"""Adapter of the rule `check`."""

import sys
from pathlib import Path

from reident.ledger.check import check
from reident.pipeline.family import Family

notebook, results = Path(snakemake.input.notebook), Path(snakemake.params.results)
answers = [check(Family(Path(file)), results, notebook) for file in snakemake.params.studies]
lines = [answer.line if answer.closes else f"Error: {answer.line}" for answer in answers]
Path(snakemake.log[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
print(*lines, sep="\n", flush=True)  # noqa: T201 - the answer to a question
sys.exit(not all(answer.closes for answer in answers))
