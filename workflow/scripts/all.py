"""Adapter of the rule `all`."""

import sys
from pathlib import Path

from reident.ledger import conclusion

log, studies = Path(snakemake.log[0]), [Path(file) for file in snakemake.input.studies]
found = conclusion.conclude(studies, log.parent, snakemake.input, Path(snakemake.params.notebook))
log.write_text("\n".join(found.lines) + "\n", encoding="utf-8")
print(*found.lines, sep="\n", flush=True)  # noqa: T201 - what the run found
sys.exit(not found.closes)
