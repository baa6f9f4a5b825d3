"""Adapter of the rule `suggest`."""

import sys
from pathlib import Path

from reident.ledger.conclusion import suggestions

params = snakemake.params
told = suggestions([Path(file) for file in params.studies], Path(params.results))
lines = [line if ok else f"Error: {line}" for line, ok in told]
Path(snakemake.log[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
print(*lines, sep="\n", flush=True)  # noqa: T201 - the answer to a question
sys.exit(not all(ok for _, ok in told))
