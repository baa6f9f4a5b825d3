"""What the rules share: the studies of this run, their files, and the digests that rerun what they touch.

Reads  config/config.yaml, the study files
Makes  FAMILIES (id -> a study and its variants), STUDIES (id -> study file), MODELS (id -> study), the functions that rules call in `params` and `input`
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

from reident.linkage.metrics import REGISTRY
from reident.pipeline import comparison, configuration, digests, family, parts, retries
from reident.study import model as studies
from reident.errors import InputError
from reident.ledger import check, confidentiality, runs, stale
from reident.pipeline.reviewed import tables as tables_of_the_report


def guard():
    """Refuse folders that others may read, unless the run allows it; close Snakemake's own to them."""
    allowed = str(config.get("shared_results")).lower() == "true"  # from the command line it is text
    try:
        for warning in confidentiality.check_folders([Path("results"), Path("reports")], allowed):
            print(f"Warning: {warning}", file=sys.stderr, flush=True)
    except InputError as error:
        sys.exit(f"Error: {error}")
    # Of its records each is open to the group until then, inside a folder that is closed now.
    confidentiality.close(records := Path(".snakemake").resolve())
    atexit.register(confidentiality.close, records)


if workflow.is_main_process:
    guard()


def load_families():
    """The studies of this run with their variants, by study id."""
    found = {}
    try:
        configuration.check(config)
        listed = configuration.study_files(config, HOME)
    except InputError as error:
        sys.exit(f"Error: {error}")
    for path in listed:
        try:
            own = family.Family(path)
            family.check_files(own.members, path)
        except InputError as error:
            sys.exit(f"Error: {error}")
        if own.study.id in found:
            other = found[own.study.id].path
            sys.exit(f"Error: {path} and {other} have the same id; change the `id` of one of them.")
        found[own.study.id] = own
    return found


FAMILIES = load_families()

runs.start_jobs()
retries.keep_waiting_jobs(JobScheduler)
# A job is the process that was started, with no shell between: it ends when Snakemake does.
shell.prefix("set -euo pipefail; exec ")


def refuse_stale_results():
    """Before ``--report`` gathers results: whether they still are what their steps made of these sources."""
    for own in FAMILIES.values():
        if not (found := check.check(own, Path("results"), NOTEBOOK)).closes:
            sys.exit(f"Error: {found.line}")
    # The scheduler asks for the resources of jobs here, and not for the sizes of files on which they depend.
    warnings.filterwarnings("ignore", "coroutine '.*_size_files.*' was never awaited", RuntimeWarning)


if any(argument.partition("=")[0] == "--report" for argument in sys.argv):
    refuse_stale_results()


class ByStudy(dict):
    """What belongs to a study, by the study's id, or to a variant, by `{id}/variants/{variant}`."""

    def __init__(self, find):
        self.find = find

    def __missing__(self, study):
        name, _, place = study.partition("/")
        try:
            self[study] = self.find(FAMILIES[name], place)
        except InputError as error:
            sys.exit(f"Error: {error}")
        return self[study]


STUDIES = ByStudy(lambda own, place: own.path)
MODELS = ByStudy(lambda own, place: own.at(place))


wildcard_constraints:
    study=f"(?:{'|'.join(FAMILIES)})(?:/variants/[a-z0-9][a-z0-9._-]*)?",
    metric="|".join(REGISTRY),
    shard=r"\d+",


def study_file(wildcards):
    """The study file. Not its time stamp counts but what a step takes from it, see `study_digest`.

    Were `study.json` the input, then a change of any option would rerun every step; and as an
    `ancient` input it would hide other reasons to run (a job below one that runs is not looked at).
    """
    begin(wildcards.study.split("/")[0])
    return ancient(str(STUDIES[wildcards.study]))


@cache
def begin(study):
    """Once in a run: keep others out, and let steps run again whose results no longer hold.

    Snakemake's own lock outlives a run that was killed (so profiles/ turn it off), and its records may be lost.
    """
    if workflow.is_main_process and not workflow.dryrun:
        root = Path("results", study)
        try:
            runs.begin(root)
            stale.mark_stale(root, known_studies(study), is_result)
        except InputError as error:
            sys.exit(f"Error: {error}")


def known_studies(study):
    """The study and those of its variants that have results, with the files that their steps read, by place."""
    folders = Path("results", study).glob("variants/*")
    places = ["", *sorted(f"variants/{folder.name}" for folder in folders)]
    known = {place: str(Path(study, place)) for place in places if FAMILIES[study].has(place)}
    return {place: (MODELS[name], declared(name) | {"notebook": NOTEBOOK}) for place, name in known.items()}


def is_result(path):
    """Whether a rule makes a file, beside its entry in the ledger."""
    made = [output for rule in workflow.rules for name, output in rule.output.items() if name != "ledger"]
    return any(output.match(str(path)) for output in made)


def study_digest(step):
    """The digest of what a step takes from the study itself."""
    return lambda wildcards: parts.digest(
        parts.part(MODELS[wildcards.study], step, wildcards.get("metric"))
    )


def library_digest(step):
    """The digest of the library modules that a step runs."""
    return lambda wildcards: digests.library_digest(step, wildcards.get("metric"))


def declared(study):
    """The source files that a study names, by side; simulated ones are results like others."""
    return family.sources(MODELS[study], STUDIES[study])


def home(wildcards, step, metric=None):
    """Where the results of a step lie: with the study, or with that of which a variant shares them."""
    name, _, place = wildcards.study.partition("/")
    found = FAMILIES[name].home(place, step, metric or wildcards.get("metric"))
    return str(Path("results", name, found))


def made(step, path, metric=None):
    """A result of a step, wherever it lies."""
    return lambda wildcards: f"{home(wildcards, step, metric)}/{path}".format(**wildcards)


def accounts(wildcards):
    """The row accounts of a study."""
    own = {"prepare": "prepared/account.csv", "stratify": "strata/account.csv"}
    return [made(step, path)(wildcards) for step, path in own.items()]


def making(model, side):
    """The step that makes a source file which the study does not declare."""
    steps = {
        "synthesize": model.matched_sources,
        "populate": model.risk_sources,
        "simulate_amounts": ["original"],
    }
    other = "microaggregate" if model.made[side] == "microaggregation" else "simulate"
    return next((step for step, sides in steps.items() if side in sides), other)


def source(side):
    """The path of a source file: declared, or made by the study."""

    def path(wildcards):
        if folder := MODELS[wildcards.study].made.get(side):
            return f"{home(wildcards, making(MODELS[wildcards.study], side))}/{folder}/{side}.csv"
        return str(declared(wildcards.study)[side])

    return path


def source_digests(wildcards):
    """The digests of declared sources, which change even where a time stamp was kept.

    A function of `input` would not do: what params derive from it, Snakemake does not compare.
    """
    return [digests.sha256(path) for path in declared(wildcards.study).values()]


def linked_sources(wildcards):
    """The sources that the rates rest on: of the three files, and what they were made from."""
    model = MODELS[wildcards.study]
    sides = [*model.linked_sources, *(["original"] if model.microaggregate is not None else [])]
    return {f"source_{side}": source(side)(wildcards) for side in sides}


def matched_sources(prefix=""):
    """The confidential file and the synthetic files of a study, by side."""
    return lambda wildcards: {
        prefix + side: source(side)(wildcards) for side in MODELS[wildcards.study].matched_sources
    }


def risk_sources(prefix=""):
    """The file whose risk is measured, and its population, by side."""
    return lambda wildcards: {
        prefix + side: source(side)(wildcards) for side in MODELS[wildcards.study].risk_sources
    }


def reviewed(wildcards):
    """What the report shows, and the sources that it rests on: by what the study asks for; it sees no other table."""
    model, folder = MODELS[wildcards.study], f"results/{wildcards.study}"
    shown = tables_of_the_report(studies.plain(model))
    return {f"source_{side}": source(side)(wildcards) for side in model.sources} | {
        name: [f"{folder}/{path}" for path in paths] for name, paths in shown.items()
    }


def is_large(path):
    """Whether a file is above 0.1 MB, or not made yet. `input.size_mb` is not known where `--report` asks."""
    return not Path(path).is_file() or Path(path).stat().st_size > 100_000


def compared_tables(wildcards):
    """A table of the study and of each of its variants, in their order."""
    path = comparison.TABLES[wildcards.table].path
    return [
        str(Path("results", wildcards.study, own.place, path)) for own in FAMILIES[wildcards.study].members
    ]


def metrics_of(wildcards):
    """The metrics that a study computes."""
    return list(MODELS[wildcards.study].chosen)


def shard_table(wildcards):
    """The lines of the study's shard table, once its strata are known."""
    study = home(wildcards, "stratify").removeprefix("results/")
    with checkpoints.stratify.get(study=study).output.shards.open() as table:
        names, *lines = (line.rstrip("\n").split(",") for line in table)
    return [dict(zip(names, line)) for line in lines]


def shards_of(wildcards):
    """The shards of a study, enumerated from its shard table."""
    return sorted({line["shard"] for line in shard_table(wildcards)})


def many_threads():
    """The threads of a long job: all cores here; a cluster has no such number, there as many as configured."""
    return workflow.resource_settings.cores or int(config["threads_on_a_cluster"])


def shard_pairs(wildcards):
    """How many pairs a shard compares."""
    return sum(int(line["pairs"]) for line in shard_table(wildcards) if line["shard"] == wildcards.shard)


def compared(side):
    """The table that a metric compares."""

    def path(wildcards):
        reads = REGISTRY[wildcards.metric].reads
        return f"{home(wildcards, 'bin' if reads == 'binned' else 'prepare')}/{reads}/{side}.parquet"

    return path


def own_functions(wildcards):
    """The files of a study's own scoring functions."""
    options = MODELS[wildcards.study].chosen[wildcards.metric]
    rules = getattr(options, "scores", {}).values() if wildcards.metric == "adhoc" else []
    modules = sorted({rule.function.split(":")[0] for rule in rules if rule.function is not None})
    return [str(STUDIES[wildcards.study].parent / f"{module}.py") for module in modules]


def all_shards(kind):
    """A file of every shard of a metric, enumerated from the shard table."""
    return lambda wildcards: [
        f"{home(wildcards, 'score')}/scores/{wildcards.metric}/{shard}.{kind}"
        for shard in shards_of(wildcards)
    ]


def confirmed_of(kind):
    """A file of every metric of the study."""
    return lambda wildcards: [
        f"{home(wildcards, 'confirm', metric)}/confirmed/{metric}.{kind}" for metric in metrics_of(wildcards)
    ]
