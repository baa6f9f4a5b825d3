"""What the rules share: the studies of this run, and the one place at which a run starts (`onstart`).

Reads  config/config.yaml, the study files
Makes  FAMILIES (id -> a study and its variants), PLAN (what rules ask for in `input` and `params`), REQUESTS (what
       their jobs ask of a scheduler)
"""

import atexit
import gc
import os
import sys
import warnings
from functools import cache
from pathlib import Path

# Everything that the run and its jobs make is their owner's alone; Snakemake's folder was there before this line.
os.umask(0o077)

from snakemake import __version__
from snakemake.dag import DAG
from snakemake.logging import logger
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript

from reident import starter
from reident.archive import commands
from reident.errors import InputError
from reident.ledger import check, conclusion, confidentiality, runs, stale
from reident.linkage.metrics import REGISTRY
from reident.pipeline import configuration, release, scheduler, steps
from reident.pipeline.digests import sha256
from reident.pipeline.family import notebooks
from reident.pipeline.plan import LARGE_SHARD, Plan, check_files, is_large, load_valid_families
from reident.pipeline.resources import Requests

try:
    # As another workflow may have it: with names of its own for the rules, and in a folder of its own.
    MODULE = scheduler.Module(workflow, rules)
except InputError as error:
    sys.exit(f"Error: {error}")
RESULTS, REPORTS = MODULE.folder("results"), MODULE.folder("reports")


configfile: configuration.file(HOME)


def guard_folders():
    """Refuse folders that others may read, unless the run allows it; close Snakemake's own to them."""
    for warning in confidentiality.check_folders([RESULTS, REPORTS], SETTINGS.shared_results):
        logger.warning(f"Warning: {warning}")
    records = Path(".snakemake").resolve()
    confidentiality.check_records(records)
    # Snakemake opens each record to the group, inside a folder that is closed now.
    confidentiality.close(records)
    atexit.register(confidentiality.close, records)


try:
    scheduler.check_version(__version__)
    SETTINGS, warned = configuration.read(config, HOME, MODULE, workflow.config_settings.overwrite_config)
    if workflow.is_main_process and not MODULE.repeated:
        for warning in warned:
            logger.warning(f"Warning: {warning}")
        guard_folders()
except InputError as error:
    sys.exit(f"Error: {error}")


def shard_table(study):
    """The shard table of a study, once the checkpoint has made it."""
    return Path(checkpoints.stratify.get(study=study).output.shards)


# What is wrong with a study is told once the targets are known: `validate` tells all of it.
FAMILIES, WRONG = load_valid_families(SETTINGS.study_files)
PLAN = Plan(FAMILIES, NOTEBOOK, shard_table, RESULTS)
REQUESTS = Requests(PLAN.study)
EDITION = notebooks(NOTEBOOK)["edition_notebook"]


@cache
def stale_results(study):
    """The results of a study that no longer hold, as they are before the run."""
    if (settings := workflow.execution_settings) and settings.no_hooks and not workflow.dryrun:
        sys.exit(
            "Error: `--no-hooks` must not be given: `onstart` takes the locks of the run. Run without it."
        )
    return stale.find_stale(RESULTS / study, PLAN.known(study))


def refuse_missing_files(targets):
    """Refuse to plan steps of a study that is not valid, or names files which are not there."""
    try:
        check_files(FAMILIES, targets, WRONG, MODULE.is_made)
    except InputError as error:
        sys.exit(f"Error: {error}")


def refuse_stale_results():
    """Refuse to gather results that are no longer what their steps make of the sources."""
    for members in FAMILIES.values():
        if not (answer := check.check(members, RESULTS, NOTEBOOK)).closes:
            sys.exit(f"Error: {answer.line}")
    # The scheduler asks for the resources of jobs here, and not for the sizes of files on which they depend.
    warnings.filterwarnings("ignore", "coroutine '.*_size_files.*' was never awaited", RuntimeWarning)


starter.tell_jobs()
scheduler.keep_waiting_jobs(JobScheduler)
scheduler.end_at_once(JobScheduler)
scheduler.start_scripts(PythonScript)
if not MODULE.repeated:
    scheduler.check_before_graph(DAG, MODULE, refuse_missing_files)
if workflow.is_main_process and not MODULE.repeated:
    scheduler.force_stale(DAG, MODULE, lambda study: stale_results(study).files)
    scheduler.check_before_report(workflow, refuse_stale_results)


PAGES = []  # the pages that this run makes, or finds as they should be
VERDICTS = set()  # the studies whose verdict this run makes, or finds as it should be


def take_results():
    """Take the results of the studies that have jobs to run; set aside results that their steps did not write."""
    release.recorded()  # what asking git tells, every job finds in its environment
    jobs = MODULE.own(workflow.dag.needrun_jobs())
    for study in sorted(scheduler.studies(jobs)):
        found = stale_results(study)
        outputs = set() if workflow.touch else scheduler.outputs(jobs, study, found.files)
        for warning in runs.start(RESULTS / study, found, outputs):
            logger.warning(f"Warning: {warning}")
    PAGES.extend(path for job in MODULE.own(workflow.dag.jobs) for path in scheduler.pages(job))
    VERDICTS.update(scheduler.studies(MODULE.makers(workflow.dag.jobs, "judge")))
    if workflow.local_exec and not workflow.touch:
        scheduler.serve_forks(PythonScript, PLAN.modules(MODULE.scripts(jobs)))


def start_run():
    """Begin a run, or end it with one sentence."""
    gc.freeze()
    gc.enable()  # see home.smk
    if workflow.is_main_process:
        try:
            take_results()
        except InputError as error:
            sys.exit(f"Error: {error}")


def end_run():
    """Tell the verdicts, and end with the status of a command that has one."""
    for study in sorted(VERDICTS):
        for line in conclusion.lines(RESULTS / study):
            print(line)
    for line in conclusion.reports(PAGES, REPORTS):
        print(line)
    commands.end(RESULTS)


onstart:
    start_run()


onsuccess:
    end_run()


if MODULE.imported and not MODULE.repeated:
    scheduler.add_hooks(DAG, start_run, end_run)


wildcard_constraints:
    study=f"(?:{'|'.join(FAMILIES) or '-'})(?:/variants/[a-z0-9][a-z0-9._-]*)?",
    metric="|".join(REGISTRY),
    shard=r"\d+",


# The study file is an `ancient` input of every step: its time stamp does not count, but what the step takes from it.
# Were `study.json` the input, a change of any option would rerun every step; as an `ancient` input it would hide other
# reasons to run, since Snakemake does not look at a job below one that runs.


def many_threads():
    """The threads of a long job: all cores here; a cluster has no such number, there as many as configured."""
    return workflow.resource_settings.cores or SETTINGS.threads_on_a_cluster
