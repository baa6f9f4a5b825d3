"""Adapter of the rule `reproduce`."""

from reident.archive import commands
from reident.report import reproduction

commands.answer(snakemake, "reproduce", render=reproduction.render)
