"""The common part of the rules: the studies of this run, and what rules ask of them.

The settings of a rule, in `PLAN.params`, are made by the function that the `steps.csv` of its analysis names.

Reads  config/config.yaml, the study files
Makes  PLAN (what rules ask for in `input` and `params`), SHARDS (the items of a scattered rule)
"""

import os
import sys
from pathlib import Path

# Everything that the run and its jobs make is their owner's alone; Snakemake's folder was there before this line.
os.umask(0o077)

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from reident.errors import InputError
from reident.ledger import confidentiality, end_on_sigterm
from reident.linkage.metrics import REGISTRY
from reident.pipeline import configuration, release, steps
from reident.pipeline.digests import sha256
from reident.pipeline.plan import Plan, are_many, check_files, is_large, load_families, memory, minutes

NOTEBOOK = release.NOTEBOOK
RESULTS = Path("results")


configfile: configuration.file(release.ROOT)


try:
    SETTINGS = configuration.read(config, release.ROOT)
    FAMILIES = load_families(SETTINGS.study_files)
    # Where another workflow imports this one, its rules may make the sources, and Snakemake tells which are missing.
    if Path(workflow.basedir) in (release.ROOT, release.ROOT / "workflow"):
        check_files(FAMILIES)
except InputError as error:
    sys.exit(f"Error: {error}")

confidentiality.close(Path(".snakemake"))
# Python would show the line at which a step is interrupted while it starts: the one with its settings. An importing
# workflow has a prefix of its own (docs/how-to/module.md).
if Path(workflow.basedir) in (release.ROOT, release.ROOT / "workflow"):
    shell.prefix(confidentiality.SILENT_STEPS)
release.recorded()  # what asking git tells, every job finds in its environment
# The problems of linear algebra are small: threads would wait for one another, and add up in an order of their own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


scattergather:
    shards=SETTINGS.shards,


SHARDS = gather.shards("{scatteritem}")
PLAN = Plan(FAMILIES, NOTEBOOK, SHARDS)


wildcard_constraints:
    study=f"(?:{'|'.join(FAMILIES) or '-'})(?:/variants/[a-z0-9][a-z0-9._-]*)?",
    metric="|".join(REGISTRY),


onstart:
    end_on_sigterm()


def many_threads():
    """The threads of a long job: all cores here; a cluster has no such number, there as many as configured."""
    try:
        return workflow.cores
    except WorkflowError:
        return SETTINGS.threads_on_a_cluster


def check_folders(*results):
    """Refuse folders of results that others may read; an importing workflow may have given them a prefix."""
    try:
        folders = [Path(result).parents[1] for result in results]
        for warning in confidentiality.check_folders(folders, SETTINGS.shared_results):
            logger.warning(f"Warning: {warning}")
    except InputError as error:
        sys.exit(f"Error: {error}")
