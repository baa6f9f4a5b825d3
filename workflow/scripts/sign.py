"""Adapter of the rule `sign`."""

from reident.archive import commands

commands.answer(snakemake, "sign")
