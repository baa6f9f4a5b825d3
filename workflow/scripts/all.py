"""Adapter of the rule `all`."""

import sys
from pathlib import Path

from reident.ledger import chain, conclusion

log, studies = Path(snakemake.log[0]), [Path(file) for file in snakemake.input.studies]
found = conclusion.conclude(studies, log.parent, snakemake.input, Path(snakemake.params.notebook))
text = chain.by_importer("\n".join([*found.lines, ""]), "all", snakemake.rule)
log.write_text(text, encoding="utf-8")
# The terminal takes errors from the log.
sys.stdout.writelines(line for line in text.splitlines(keepends=True) if not line.startswith("Error: "))
sys.exit(not found.closes)
