"""Adapter of the rule `compare`."""

from reident.archive import commands

commands.answer(snakemake, "compare")
