"""Adapter of the rule `reproduce`."""

from reident.archive import commands

commands.answer(snakemake, "reproduce")
