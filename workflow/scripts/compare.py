"""Adapter of the rule `compare`."""

from reident.archive import commands
from reident.report import releases

commands.answer(snakemake, "compare", render=releases.page)
