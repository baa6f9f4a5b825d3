"""Re-identification studies: from a public use file, an intruder's file and the true links to the review."""

import logging

from snakemake.utils import min_version

min_version("9.27")

# A log that cannot be written, on a full disk, is no reason for a traceback.
logging.raiseExceptions = False


include: "workflow/rules/terminal.smk"


# Beside this file, so that `--directory` may name any folder for the results.
configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/study.smk"
include: "workflow/rules/intake.smk"
include: "workflow/rules/microaggregation.smk"
include: "workflow/rules/strata.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/rates.smk"
include: "workflow/rules/matching.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/filerisk.smk"
include: "workflow/rules/verdict.smk"
include: "workflow/rules/release.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/check.smk"
include: "workflow/rules/archive.smk"


rule all:
    """The disclosure review of every study of the run, which compares its variants, and its releasable edition."""
    default_target: True
    input:
        expand("reports/{study}/disclosure-review.{kind}", study=FAMILIES, kind=["html", "pdf"]),
        expand(
            "results/{study}/{made}", study=FAMILIES, made=["disclosure-review.ipynb", "ledger/report.json"]
        ),
        expand("reports/{study}/releasable/edition.{kind}", study=PLAN.releasable, kind=["html", "pdf"]),
        PLAN.exported,


localrules:
    all,
    check,
    compare,
    reproduce,
    seal,
    sign,
    validate,
    verify,
