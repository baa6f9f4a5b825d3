"""Adapter of the rule `seal`."""

from reident.archive import commands

commands.answer(snakemake, "seal")
