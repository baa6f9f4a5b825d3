"""Adapter of the rule `validate`."""

import sys
from pathlib import Path

from reident.validation.run import validate

answer = validate([Path(file) for file in snakemake.params.studies])
Path(snakemake.log[0]).write_text("\n".join(answer.logged) + "\n", encoding="utf-8")
print(*answer.lines, sep="\n", flush=True)  # noqa: T201 - the answer to a question
sys.exit(bool(answer.errors))
