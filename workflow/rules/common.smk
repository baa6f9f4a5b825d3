"""What the rules share: the studies of this run, and the one place at which a run starts.

Reads  config/config.yaml, the study files
Makes  FAMILIES (id -> a study and its variants), PLAN (what rules ask for in `input`, `params` and `resources`)
"""

import atexit
import os
import sys
import warnings
from functools import cache
from pathlib import Path

# Everything that the run and its jobs make is their owner's alone; Snakemake's folder was there before this line.
os.umask(0o077)

HOME = Path(workflow.basedir)
NOTEBOOK = HOME / "workflow" / "notebooks" / "disclosure-review.ipynb"
LIBRARY = HOME / "workflow" / "lib"
sys.path.insert(0, str(LIBRARY))
# Every job finds the library, remote ones too, without an installed package.
os.environ.update(PYTHONPATH=os.pathsep.join([str(LIBRARY), *filter(None, [os.environ.get("PYTHONPATH")])]))

from snakemake.scheduling.job_scheduler import JobScheduler

from reident.ledger.bytecode import check_by_content

if workflow.is_main_process:
    try:
        check_by_content(LIBRARY)  # before other modules are imported
    except OSError as error:
        sys.exit(f"Error: {error.filename} was compiled by time stamp and cannot be removed; remove it.")

from reident.errors import InputError
from reident.ledger import check, confidentiality, runs, stale
from reident.linkage.metrics import REGISTRY
from reident.pipeline import configuration, retries, steps
from reident.pipeline.digests import sha256
from reident.pipeline.plan import LARGE_SHARD, Plan, is_large, load_families


def guard():
    """Refuse folders that others may read, unless the run allows it; close Snakemake's own to them."""
    allowed = str(config.get("shared_results")).lower() == "true"  # from the command line it is text
    for warning in confidentiality.check_folders([Path("results"), Path("reports")], allowed):
        print(f"Warning: {warning}", file=sys.stderr, flush=True)
    # Of its records each is open to the group until then, inside a folder that is closed now.
    confidentiality.close(records := Path(".snakemake").resolve())
    atexit.register(confidentiality.close, records)


try:
    if workflow.is_main_process:
        guard()
    configuration.check(config)
    FAMILIES = load_families(configuration.study_files(config, HOME))
except InputError as error:
    sys.exit(f"Error: {error}")

runs.start_jobs()
retries.keep_waiting_jobs(JobScheduler)
# A job is the process that was started, with no shell between: it ends when Snakemake does.
shell.prefix("set -euo pipefail; exec ")


def shard_table(study):
    """The shard table of a study, once the checkpoint has made it."""
    return Path(checkpoints.stratify.get(study=study).output.shards)


PLAN = Plan(FAMILIES, NOTEBOOK, shard_table)


def refuse_stale_results():
    """Before ``--report`` gathers results: whether they still are what their steps made of these sources."""
    for own in FAMILIES.values():
        if not (found := check.check(own, Path("results"), NOTEBOOK)).closes:
            sys.exit(f"Error: {found.line}")
    # The scheduler asks for the resources of jobs here, and not for the sizes of files on which they depend.
    warnings.filterwarnings("ignore", "coroutine '.*_size_files.*' was never awaited", RuntimeWarning)


if any(argument.partition("=")[0] == "--report" for argument in sys.argv):
    refuse_stale_results()


wildcard_constraints:
    study=f"(?:{'|'.join(FAMILIES)})(?:/variants/[a-z0-9][a-z0-9._-]*)?",
    metric="|".join(REGISTRY),
    shard=r"\d+",


def study_file(wildcards):
    """The study file. Not its time stamp counts but what a step takes from it.

    Were `study.json` the input, then a change of any option would rerun every step; and as an
    `ancient` input it would hide other reasons to run (a job below one that runs is not looked at).
    """
    begin(wildcards.study.split("/")[0])
    return ancient(PLAN.study_file(wildcards))


@cache
def begin(study):
    """Once in a run: keep others out, and let steps run again whose results no longer hold."""
    if workflow.is_main_process and not workflow.dryrun:
        root = Path("results", study)
        try:
            runs.begin(root)
            stale.mark_stale(root, known_studies(study), is_result)
        except InputError as error:
            sys.exit(f"Error: {error}")


def known_studies(study):
    """The study and those of its variants that have results, with the files that their steps read, by place."""
    own = FAMILIES[study]
    places = ["", *sorted(f"variants/{folder.name}" for folder in Path("results", study).glob("variants/*"))]
    return {
        place: (
            lambda rule, metric, place=place: own.digest(place, rule, metric),
            PLAN.sources(f"{study}/{place}" if place else study) | {"notebook": NOTEBOOK},
        )
        for place in places
        if own.has(place)
    }


def is_result(path):
    """Whether a rule makes a file, beside its entry in the ledger."""
    made = [output for rule in workflow.rules for name, output in rule.output.items() if name != "ledger"]
    return any(output.match(str(path)) for output in made)


def many_threads():
    """The threads of a long job: all cores here; a cluster has no such number, there as many as configured."""
    return workflow.resource_settings.cores or int(config["threads_on_a_cluster"])


def study_digest(step):
    """The digest of what a step takes from the study itself."""
    return PLAN.part_digest(step)


library_digest = PLAN.library_digest
made = PLAN.result
accounts = PLAN.accounts
source = PLAN.source
source_digests = PLAN.source_digests
linked_sources = PLAN.linked_sources
matched_sources = PLAN.matched_sources
risk_sources = PLAN.risk_sources
reviewed = PLAN.reported
compared = PLAN.compared
compared_tables = PLAN.compared_tables
own_functions = PLAN.functions
shard_pairs = PLAN.shard_pairs
all_shards = PLAN.all_shards
confirmed_of = PLAN.confirmed
