"""Adapter of the rule `verify`."""

from reident.archive import commands

commands.answer(snakemake, "verify")
