"""Strata and bins (METHODS §2, §3).

Reads  results/{study}/prepared/
Makes  strata/manifest.csv: the strata with their counts; strata/account.csv: records in no stratum, links lost to
       stratification;
       strata/{puf,eif}.parquet: the stratum of each record, as its line of the manifest;
       binned/{puf,eif}.parquet: numeric variables as quantile categories; binned/cutpoints.csv
"""


rule stratify:
    """List the strata with their records, links and pairs."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
    output:
        manifest=report(
            "results/{study}/strata/manifest.csv",
            caption="../lib/reident/linkage/manifest.rst",
            category="{study}",
            labels={"result": "Strata", "format": "CSV"},
        ),
        account="results/{study}/strata/account.csv",
        puf="results/{study}/strata/puf.parquet",
        eif="results/{study}/strata/eif.parquet",
        ledger="results/{study}/ledger/stratify.json",
    log:
        "results/{study}/logs/stratify.log",
    benchmark:
        "results/{study}/benchmarks/stratify.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("stratify"),
    script:
        "../scripts/stratify.py"


rule bin:
    """Cut numeric linking variables at quantiles."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
    output:
        puf="results/{study}/binned/puf.parquet",
        eif="results/{study}/binned/eif.parquet",
        cutpoints=report(
            "results/{study}/binned/cutpoints.csv",
            caption="../lib/reident/linkage/cutpoints.rst",
            category="{study}",
            labels={"result": "Bins", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/bin.json",
    log:
        "results/{study}/logs/bin.log",
    benchmark:
        "results/{study}/benchmarks/bin.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("bin"),
    script:
        "../scripts/bin.py"
