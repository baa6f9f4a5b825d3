"""Whether files and links are described as they are (METHODS §1.1).

Reads  the PUF and the EIF, results/{study}/prepared/, strata/
Makes  plausibility.csv: what each check measured of a linking variable, of the links or of a file
"""


rule check_description:
    """Compare the two records of true links with strangers, variable by variable and as a whole."""
    input:
        source_puf=PLAN.source("puf"),
        source_eif=PLAN.source("eif"),
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        account=PLAN.result("prepare", "prepared/account.csv"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        strata_account=PLAN.result("stratify", "strata/account.csv"),
    output:
        checks="results/{study}/plausibility.csv",
        ledger="results/{study}/ledger/check_description.json",
    log:
        "results/{study}/logs/check_description.log",
    benchmark:
        "results/{study}/benchmarks/check_description.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("check_description"),
        sources=PLAN.source_digests,
    script:
        "../scripts/check_description.py"
