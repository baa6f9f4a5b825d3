"""Adapter of the rule `suggest`."""

import sys
from pathlib import Path

from reident.ledger.stored import read
from reident.pipeline.family import Family
from reident.suggestion.outcome import answer

params = snakemake.params
answers = [answer(file, Family(Path(file)).study, Path(params.results), read) for file in params.studies]
lines = [line if ok else f"Error: {line}" for line, ok in answers]
Path(snakemake.log[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
print(*lines, sep="\n", flush=True)  # noqa: T201 - the answer to a question
sys.exit(not all(ok for _, ok in answers))
